package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/engine"
	"heddle/engine/server/monitor"
	"heddle/engine/server/watch"
	"heddle/engine/syntax"
)

// resource is an index or a table of the engine.
type resource interface {
	comparable
	ReloadIn(ctx context.Context, root *os.Root, path string) error
	Close() error
}

// catalog holds the indexes or the tables of a server by name.
type catalog[T resource] struct {
	kind     string // "index" or "table"
	open     func(ctx context.Context, at place) (T, error)
	checksum func(T) (uint64, error)
	monitor  *monitor.Monitor

	mu      sync.RWMutex
	all     map[string]*served[T]
	loading sync.Mutex // held while a new name is loaded
}

// served is an index or a table with its file.
type served[T resource] struct {
	name string
	now  atomic.Pointer[content[T]]

	change sync.Mutex // one load, reload or unload at a time
	at     place      // place of the file to open; guarded by change
	gone   bool       // it is unloaded, guarded by change
}

// place is the place of a file: a path of the settings, or a path of administration below its folder, which is
// opened by os.Root alone.
type place struct {
	root *os.Root // nil: the file system
	path string
}

// String returns the path for people, and for looks at the state of the file.
func (p place) String() string {
	if p.root == nil {
		return p.path
	}
	return filepath.Join(p.root.Name(), p.path)
}

// content is the file in service. It has no resource before the file is open.
type content[T resource] struct {
	resource T
	path     string      // path in messages for people
	state    os.FileInfo // state of the file before it was opened
	checksum uint64
}

// newCatalog returns a catalog whose files are not open yet.
func newCatalog[T resource](kind string, files map[string]string, m *monitor.Monitor, open func(context.Context, place) (T, error), checksum func(T) (uint64, error)) *catalog[T] {
	c := &catalog[T]{kind: kind, open: open, checksum: checksum, monitor: m, all: map[string]*served[T]{}}
	for name, path := range files {
		c.all[name] = newServed[T](name, place{path: path})
	}
	return c
}

func newServed[T resource](name string, at place) *served[T] {
	x := &served[T]{name: name, at: at}
	x.now.Store(&content[T]{path: at.String()})
	return x
}

// ready reports whether the file is open.
func (c *content[T]) ready() bool { return c.resource != *new(T) }

// list returns all entries in the order of their names.
func (c *catalog[T]) list() (all []*served[T]) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(c.all)) {
		all = append(all, c.all[name])
	}
	return all
}

// find returns the entry of a name. The error has code NotFound.
func (c *catalog[T]) find(name string) (*served[T], error) {
	c.mu.RLock()
	x, ok := c.all[name]
	c.mu.RUnlock()
	if !ok {
		return nil, c.unknown(name)
	}
	return x, nil
}

func (c *catalog[T]) unknown(name string) error {
	return &engine.Error{Code: engine.NotFound, Op: "find " + c.kind, Err: fmt.Errorf("no %s is named %s", c.kind, syntax.Quote(name))}
}

// get returns the open resource of a name. The error has code NotFound, or Closed before the file
// is open.
func (c *catalog[T]) get(name string) (r T, err error) {
	x, err := c.find(name)
	if err != nil {
		return r, err
	}
	now := x.now.Load()
	if !now.ready() {
		return r, &engine.Error{Code: engine.Closed, Op: "find " + c.kind, Err: fmt.Errorf("%s %s is not loaded yet", c.kind, name)}
	}
	return now.resource, nil
}

// ready returns nil if all files are open.
func (c *catalog[T]) ready() error {
	for _, x := range c.list() {
		if _, err := c.get(x.name); err != nil && engine.CodeOf(err) != engine.NotFound { // unloaded in between
			return err
		}
	}
	return nil
}

// reload opens the file of an entry, the first time or again. An error leaves the old content. A
// place that is not empty replaces the file.
func (c *catalog[T]) reload(ctx context.Context, x *served[T], at place) (*content[T], error) {
	x.change.Lock()
	defer x.change.Unlock()
	if x.gone {
		return nil, c.unknown(x.name)
	}
	if at.path == "" {
		at = x.at
	}
	path := at.String()
	next := &content[T]{path: path, state: watch.Look(path)[path]}
	var err error
	if now := x.now.Load(); now.ready() {
		next.resource, err = now.resource, now.resource.ReloadIn(ctx, at.root, at.path)
	} else {
		next.resource, err = c.open(ctx, at)
	}
	if err == nil {
		next.checksum, err = c.checksum(next.resource)
	}
	c.monitor.Opened(c.kind, err)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.kind, x.name, err)
	}
	x.at = at
	x.now.Store(next)
	c.monitor.Log.Info().Str(c.kind, x.name).Str("file", path).Str("checksum", hex(next.checksum)).Msg("in service")
	return next, nil
}

// load serves a file under a name, which may be new.
func (c *catalog[T]) load(ctx context.Context, name string, at place) (*content[T], error) {
	if err := CheckName(name); err != nil {
		return nil, badRequest(err)
	}
	c.loading.Lock()
	defer c.loading.Unlock()
	if x, err := c.find(name); err == nil {
		return c.reload(ctx, x, at)
	}
	x := newServed[T](name, at)
	now, err := c.reload(ctx, x, at)
	if err == nil {
		c.mu.Lock()
		c.all[name] = x
		c.mu.Unlock()
	}
	return now, err
}

// unload takes a name out of service, and closes its file after the running queries.
func (c *catalog[T]) unload(name string) error {
	c.mu.Lock()
	x, ok := c.all[name]
	delete(c.all, name)
	c.mu.Unlock()
	if !ok {
		return c.unknown(name)
	}
	x.change.Lock()
	defer x.change.Unlock()
	x.gone = true
	if now := x.now.Load(); now.ready() {
		if err := now.resource.Close(); err != nil {
			return err
		}
	}
	c.monitor.Log.Info().Str(c.kind, name).Msg("out of service")
	return nil
}

// addStates adds the files in service, with their states before they were opened. Of several names
// for a file the first one counts.
func (c *catalog[T]) addStates(to map[string]os.FileInfo) {
	for _, x := range c.list() {
		now := x.now.Load()
		if _, ok := to[now.path]; !ok {
			to[now.path] = now.state
		}
	}
}

// reloadFiles opens again the files with some names; all files if there are no names.
func (c *catalog[T]) reloadFiles(ctx context.Context, paths []string) (err error) {
	for _, x := range c.list() {
		if len(paths) > 0 && !slices.Contains(paths, x.now.Load().path) {
			continue
		}
		_, wrong := c.reload(ctx, x, place{})
		err = errors.Join(err, wrong)
	}
	return err
}
