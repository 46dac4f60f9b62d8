// Package catalog holds the files that a server has in service, by name.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/engine"
	"heddle/engine/server/monitor"
	"heddle/engine/server/watch"
	"heddle/engine/syntax"
)

// Resource is an index or a table of the engine.
type Resource interface {
	comparable
	ReloadIn(ctx context.Context, root *os.Root, path string) error
	Close() error
}

// Catalog holds indexes or tables by name.
type Catalog[T Resource] struct {
	Kind     string // "index" or "table"
	open     func(ctx context.Context, at Place) (T, error)
	checksum func(T) (string, error)
	monitor  *monitor.Monitor

	mu      sync.RWMutex
	all     map[string]*Entry[T]
	loading sync.Mutex // held while a new name is loaded
}

// Entry is an index or a table with its file.
type Entry[T Resource] struct {
	Name string
	now  atomic.Pointer[Content[T]]

	change sync.Mutex // one load, reload or unload at a time
	at     Place      // place of the file to open; guarded by change
	gone   bool       // it is unloaded, guarded by change
}

// Place is the place of a file: a path of the settings, or a path of administration below its folder, which is
// opened by os.Root alone.
type Place struct {
	Root *os.Root // nil: the file system
	Path string
}

// String returns the path for people, and for looks at the state of the file.
func (p Place) String() string {
	if p.Root == nil {
		return p.Path
	}
	return filepath.Join(p.Root.Name(), p.Path)
}

// Content is the file in service. It has no resource before the file is open.
type Content[T Resource] struct {
	Resource T
	Checksum string
	path     string      // path in messages for people
	state    os.FileInfo // state of the file before it was opened
}

// New returns a catalog whose files are not open yet.
func New[T Resource](kind string, files map[string]string, m *monitor.Monitor, open func(context.Context, Place) (T, error), checksum func(T) (string, error)) *Catalog[T] {
	c := &Catalog[T]{Kind: kind, open: open, checksum: checksum, monitor: m, all: map[string]*Entry[T]{}}
	for name, path := range files {
		c.all[name] = newEntry[T](name, Place{Path: path})
	}
	return c
}

func newEntry[T Resource](name string, at Place) *Entry[T] {
	x := &Entry[T]{Name: name, at: at}
	x.now.Store(&Content[T]{path: at.String()})
	return x
}

// Ready reports whether the file is open.
func (c *Content[T]) Ready() bool { return c.Resource != *new(T) }

// Path is the path of the file in messages for people.
func (c *Content[T]) Path() string { return c.path }

// Now returns the file in service.
func (x *Entry[T]) Now() *Content[T] { return x.now.Load() }

// List returns all entries in the order of their names.
func (c *Catalog[T]) List() (all []*Entry[T]) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(c.all)) {
		all = append(all, c.all[name])
	}
	return all
}

// Find returns the entry of a name. The error has code NotFound.
func (c *Catalog[T]) Find(name string) (*Entry[T], error) {
	c.mu.RLock()
	x, ok := c.all[name]
	c.mu.RUnlock()
	if !ok {
		return nil, c.unknown(name)
	}
	return x, nil
}

func (c *Catalog[T]) unknown(name string) error {
	return &engine.Error{Code: engine.NotFound, Op: "find " + c.Kind, Err: fmt.Errorf("no %s is named %s", c.Kind, syntax.Quote(name))}
}

// Get returns the open resource of a name. The error has code NotFound, or Closed before the file
// is open.
func (c *Catalog[T]) Get(name string) (r T, err error) {
	x, err := c.Find(name)
	if err != nil {
		return r, err
	}
	now := x.Now()
	if !now.Ready() {
		return r, &engine.Error{Code: engine.Closed, Op: "find " + c.Kind, Err: fmt.Errorf("%s %s is not loaded yet", c.Kind, name)}
	}
	return now.Resource, nil
}

// Ready returns nil if all files are open.
func (c *Catalog[T]) Ready() error {
	for _, x := range c.List() {
		if _, err := c.Get(x.Name); err != nil && engine.CodeOf(err) != engine.NotFound { // unloaded in between
			return err
		}
	}
	return nil
}

// Reload opens the file of an entry, the first time or again. An error leaves the old content. A
// place that is not empty replaces the file.
func (c *Catalog[T]) Reload(ctx context.Context, x *Entry[T], at Place) (*Content[T], error) {
	x.change.Lock()
	defer x.change.Unlock()
	if x.gone {
		return nil, c.unknown(x.Name)
	}
	if at.Path == "" {
		at = x.at
	}
	path := at.String()
	next := &Content[T]{path: path, state: watch.Look(path)[path]}
	var err error
	if now := x.Now(); now.Ready() {
		next.Resource, err = now.Resource, now.Resource.ReloadIn(ctx, at.Root, at.Path)
	} else {
		next.Resource, err = c.open(ctx, at)
	}
	if err == nil {
		next.Checksum, err = c.checksum(next.Resource)
	}
	c.monitor.Opened(c.Kind, err)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.Kind, x.Name, err)
	}
	x.at = at
	x.now.Store(next)
	c.monitor.Log.Info().Str(c.Kind, x.Name).Str("file", path).Str("checksum", next.Checksum).Msg("in service")
	return next, nil
}

// Load serves a file under a name, which may be new.
func (c *Catalog[T]) Load(ctx context.Context, name string, at Place) (*Content[T], error) {
	if err := CheckName(name); err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "read request", Err: err}
	}
	c.loading.Lock()
	defer c.loading.Unlock()
	if x, err := c.Find(name); err == nil {
		return c.Reload(ctx, x, at)
	}
	x := newEntry[T](name, at)
	now, err := c.Reload(ctx, x, at)
	if err == nil {
		c.mu.Lock()
		c.all[name] = x
		c.mu.Unlock()
	}
	return now, err
}

// Unload takes a name out of service, and closes its file after the running queries.
func (c *Catalog[T]) Unload(name string) error {
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
	if now := x.Now(); now.Ready() {
		if err := now.Resource.Close(); err != nil {
			return err
		}
	}
	c.monitor.Log.Info().Str(c.Kind, name).Msg("out of service")
	return nil
}

// AddStates adds the files in service, with their states before they were opened. Of several names
// for a file the first one counts.
func (c *Catalog[T]) AddStates(to map[string]os.FileInfo) {
	for _, x := range c.List() {
		now := x.Now()
		if _, ok := to[now.path]; !ok {
			to[now.path] = now.state
		}
	}
}

// ReloadFiles opens again the files with some names; all files if there are no names.
func (c *Catalog[T]) ReloadFiles(ctx context.Context, paths []string) (err error) {
	for _, x := range c.List() {
		if len(paths) > 0 && !slices.Contains(paths, x.Now().path) {
			continue
		}
		_, wrong := c.Reload(ctx, x, Place{})
		err = errors.Join(err, wrong)
	}
	return err
}

var valid = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// CheckName returns an error unless name can be the name of an index or table.
func CheckName(name string) error {
	if !valid.MatchString(name) || name == "." || name == ".." {
		return fmt.Errorf("name %s: want letters, digits, dots, dashes and underscores", syntax.Quote(name))
	}
	return nil
}
