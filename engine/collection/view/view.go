// Package view answers queries on collections: it opens their segments as the shards of this process, and
// a coordinator of package cluster joins their answers.
package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"heddle/engine"
	"heddle/engine/cluster"
	"heddle/engine/cluster/shard"
	"heddle/engine/collection"
	"heddle/engine/file/container"
	"heddle/engine/internal/layout"
	"heddle/engine/syntax"
)

// Set is the open collections of a process, by name. It implements cluster.Maps and shard.Shards. It
// is safe for concurrent use.
//
// A query uses one state of a collection from its begin to its end. Set keeps the newest state and the
// one before it, and each older one until its last query has ended.
type Set struct {
	mu  sync.Mutex
	all map[string]*states
}

// states is the open states of a collection.
type states struct {
	loading sync.Mutex // one load at a time
	dir     string
	open    []*state // the newest last; guarded by Set.mu
}

// state is a snapshot of a collection.
type state struct {
	manifest *collection.Manifest
	layout   *layout.Map // its epoch is greater than the epoch of the state before
	segments []*segment
	users    int  // queries; guarded by Set.mu
	gone     bool // no query may begin; guarded by Set.mu
}

// New returns a set without collections.
func New() *Set { return &Set{all: map[string]*states{}} }

// Coordinator returns a coordinator that answers queries on the collections.
func (s *Set) Coordinator(opt cluster.Options) *cluster.Coordinator {
	return cluster.Within(s, shard.Service(s), opt)
}

// Load opens the newest state of a collection under a name, if it is not open yet. Segments that the
// set has open stay open. An error leaves the old state.
func (s *Set) Load(ctx context.Context, e *engine.Engine, name, dir string) (*collection.Manifest, error) {
	s.mu.Lock()
	c := s.all[name]
	if c == nil {
		c = &states{dir: dir}
		s.all[name] = c
	}
	s.mu.Unlock()
	c.loading.Lock()
	defer c.loading.Unlock()
	for {
		m, err := collection.Read(c.dir)
		if err != nil {
			return nil, fail(name, err)
		}
		now := s.newest(c)
		if now != nil && reflect.DeepEqual(now.manifest, m) {
			return now.manifest, nil
		}
		next, err := open(ctx, e, c.dir, name, m, now)
		if err == nil {
			return m, s.replace(c, next)
		}
		if again, wrong := collection.Read(c.dir); !errors.Is(err, fs.ErrNotExist) || wrong != nil || reflect.DeepEqual(again, m) {
			return nil, fail(name, err)
		} // a change has removed a file meanwhile
	}
}

// fail wraps an error of a load.
func fail(name string, err error) error {
	code := engine.CodeOf(err)
	if errors.Is(err, fs.ErrNotExist) {
		code = engine.NotFound
	} else if errors.Is(err, container.ErrCorrupt) {
		code = engine.Corrupt
	}
	return &engine.Error{Code: code, Op: "load collection " + name, Err: err}
}

// newest returns the newest state; nil before the first load.
func (s *Set) newest(c *states) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(c.open) == 0 {
		return nil
	}
	return c.open[len(c.open)-1]
}

// replace adds the newest state, and ends the use of all states but two.
func (s *Set) replace(c *states, next *state) error {
	s.mu.Lock()
	c.open = append(c.open, next)
	var unused []*state
	for len(c.open) > 2 {
		old := c.open[0]
		c.open = slices.Delete(c.open, 0, 1)
		if old.gone = true; old.users == 0 {
			unused = append(unused, old)
		}
	}
	s.mu.Unlock()
	var err error
	for _, old := range unused {
		err = errors.Join(err, old.close())
	}
	return err
}

// open opens a state. It shares segments with the state before.
func open(ctx context.Context, e *engine.Engine, dir, name string, m *collection.Manifest, before *state) (next *state, err error) {
	next = &state{manifest: m, layout: m.Map()}
	next.layout.Name = name
	if before != nil { // a collection that was created anew starts again with epoch 1
		next.layout.Epoch = max(m.Epoch, before.layout.Epoch+1)
		if !slices.Equal(m.Settings.Attributes, before.manifest.Settings.Attributes) {
			before = nil // its tables were compared with other declarations
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, next.close())
		}
	}()
	for i := range m.Segments {
		x := before.share(&m.Segments[i])
		if x == nil {
			x, err = openSegment(ctx, e, dir, m, i)
		}
		if err != nil {
			return next, err
		}
		next.segments = append(next.segments, x)
		if err := x.describe(dir, &m.Segments[i]); err != nil {
			return next, err
		}
	}
	return next, nil
}

// share returns a segment of s with the same index for another state; nil if there is none.
func (s *state) share(want *collection.Segment) *segment {
	if s == nil {
		return nil
	}
	for i, x := range s.segments {
		if s.manifest.Segments[i].SHA256 == want.SHA256 && s.manifest.Segments[i].File == want.File {
			x.file.use()
			return &segment{file: x.file, deleted: x.deleted, live: x.live}
		}
	}
	return nil
}

// close ends the use of the segments.
func (s *state) close() error {
	var errs []error
	for _, x := range s.segments {
		errs = append(errs, x.file.release())
	}
	return errors.Join(errs...)
}

// openSegment opens the files of a segment.
func openSegment(ctx context.Context, e *engine.Engine, dir string, m *collection.Manifest, number int) (*segment, error) {
	s := &m.Segments[number]
	for _, f := range s.Shard.Files() {
		path := filepath.Join(dir, f.File)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if uint64(info.Size()) != f.Bytes {
			return nil, fmt.Errorf("%s: %w: %d bytes, the manifest says %d", path, container.ErrCorrupt, info.Size(), f.Bytes)
		}
	}
	path := filepath.Join(dir, s.File)
	x, err := e.OpenIndex(ctx, path, engine.IndexOptions{})
	if err != nil {
		return nil, err
	}
	now, err := x.Info()
	if err == nil && uint64(now.Docs) != s.Docs {
		err = fmt.Errorf("%s: %w: %d documents, the manifest says %d", path, container.ErrCorrupt, now.Docs, s.Docs)
	}
	f := &file{index: x}
	if err == nil && s.Attributes != nil {
		f.table, err = openAttributes(ctx, e, filepath.Join(dir, s.Attributes.File), m, s)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.use()
	return &segment{file: f}, nil
}

// openAttributes opens the attribute table of a segment.
func openAttributes(ctx context.Context, e *engine.Engine, path string, m *collection.Manifest, s *collection.Segment) (*engine.Table, error) {
	t, err := e.OpenTable(ctx, path, engine.TableOptions{})
	if err != nil {
		return nil, err
	}
	info, err := t.Info()
	if err == nil {
		err = s.CheckAttributes(path, info.Rows, info.Columns, m.Settings.Attributes)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// find returns the state with an epoch.
func (s *Set) find(name string, epoch uint64) *state {
	if c := s.all[name]; c != nil {
		for _, x := range c.open {
			if x.layout.Epoch == epoch {
				return x
			}
		}
	}
	return nil
}

// OpenIndex implements shard.Shards.
func (s *Set) OpenIndex(name string, epoch uint64, number int) (*shard.Index, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.find(name, epoch)
	if x == nil || number >= len(x.segments) {
		return nil, nil, fmt.Errorf("segment %d of %s, state %d: %w", number, name, epoch, shard.ErrEpoch)
	}
	x.users++
	part := x.segments[number]
	return &shard.Index{Index: part.file.index, Live: part.live, Attributes: part.file.table}, func() {
		s.mu.Lock()
		x.users--
		last := x.gone && x.users == 0
		s.mu.Unlock()
		if last {
			_ = x.close() // no user could act on the error
		}
	}, nil
}

// OpenTable implements shard.Shards. Collections have no tables.
func (s *Set) OpenTable(name string, epoch uint64, number int) (*engine.Table, func(), error) {
	return nil, nil, fmt.Errorf("table %s: %w", name, shard.ErrEpoch)
}

// Map implements cluster.Maps.
func (s *Set) Map(_ context.Context, name string) (*layout.Map, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.all[name]; c != nil && len(c.open) > 0 {
		return c.open[len(c.open)-1].layout, nil
	}
	return nil, &engine.Error{Code: engine.NotFound, Op: "find index", Err: fmt.Errorf("no collection is named %s", syntax.Quote(name))}
}

// Refresh implements cluster.Maps.
func (s *Set) Refresh(ctx context.Context, name string) (*layout.Map, error) { return s.Map(ctx, name) }

// Names implements cluster.Maps.
func (s *Set) Names(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.all)), nil
}

// Close closes all collections. Queries that run get errors.
func (s *Set) Close() error {
	s.mu.Lock()
	var unused []*state
	for _, c := range s.all {
		for _, x := range c.open {
			if x.gone = true; x.users == 0 {
				unused = append(unused, x)
			}
		}
	}
	clear(s.all)
	s.mu.Unlock()
	var errs []error
	for _, x := range unused {
		errs = append(errs, x.close())
	}
	return errors.Join(errs...)
}
