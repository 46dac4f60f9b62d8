// Package states keeps the states of collections open: queries use one state from their beginning to their end, while
// changes of the collection bring further ones. Its callers say how the files of a segment are opened, and what is
// kept of its documents.
package states

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/collection"
	"heddle/engine/file/container"
	"heddle/engine/internal/layout"
)

// Set is the open collections of a process, by name. F is the open files of a segment, and L describes its
// documents that are not deleted. It is safe for concurrent use.
//
// Set keeps the newest state of a collection and the one before it, and each older one until its last query has
// ended.
type Set[F io.Closer, L any] struct {
	live func(F, *collection.Segment, *roaring.Bitmap) (L, error)
	mu   sync.Mutex
	all  map[string]*states[F, L]
}

// Open opens the files of a segment.
type Open[F io.Closer] func(ctx context.Context, dir string, m *collection.Manifest, number int) (F, error)

// states is the open states of a collection.
type states[F io.Closer, L any] struct {
	loading sync.Mutex // one load at a time
	dir     string
	open    []*state[F, L] // the newest last; guarded by Set.mu
}

// state is a snapshot of a collection.
type state[F io.Closer, L any] struct {
	manifest *collection.Manifest
	layout   *layout.Map // its epoch is greater than the epoch of the state before
	segments []*segment[F, L]
	users    int  // queries; guarded by Set.mu
	gone     bool // no query may begin; guarded by Set.mu
}

// New returns a set without collections. live describes the documents of a segment with deleted documents.
func New[F io.Closer, L any](live func(files F, s *collection.Segment, deleted *roaring.Bitmap) (L, error)) *Set[F, L] {
	return &Set[F, L]{live: live, all: map[string]*states[F, L]{}}
}

// Load opens the newest state of a collection under a name, if it is not open yet. Segments that the
// set has open stay open. An error leaves the old state.
func (s *Set[F, L]) Load(ctx context.Context, files Open[F], name, dir string) (*collection.Manifest, error) {
	s.mu.Lock()
	c := s.all[name]
	if c == nil {
		c = &states[F, L]{dir: dir}
		s.all[name] = c
	}
	s.mu.Unlock()
	c.loading.Lock()
	defer c.loading.Unlock()
	for {
		m, err := collection.Read(c.dir)
		if err != nil {
			return nil, err
		}
		now := s.newest(c)
		if now != nil && reflect.DeepEqual(now.manifest, m) {
			return now.manifest, nil
		}
		next, err := s.open(ctx, files, c.dir, name, m, now)
		if err == nil {
			return m, s.replace(c, next)
		}
		if again, wrong := collection.Read(c.dir); !errors.Is(err, fs.ErrNotExist) || wrong != nil || reflect.DeepEqual(again, m) {
			return nil, err
		} // a change has removed a file meanwhile
	}
}

// newest returns the newest state; nil before the first load.
func (s *Set[F, L]) newest(c *states[F, L]) *state[F, L] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(c.open) == 0 {
		return nil
	}
	return c.open[len(c.open)-1]
}

// replace adds the newest state, and ends the use of all states but two.
func (s *Set[F, L]) replace(c *states[F, L], next *state[F, L]) error {
	s.mu.Lock()
	c.open = append(c.open, next)
	var unused []*state[F, L]
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
func (s *Set[F, L]) open(ctx context.Context, files Open[F], dir, name string, m *collection.Manifest, before *state[F, L]) (next *state[F, L], err error) {
	next = &state[F, L]{manifest: m, layout: m.Map()}
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
			x, err = openSegment[F, L](ctx, files, dir, m, i)
		}
		if err != nil {
			return next, err
		}
		next.segments = append(next.segments, x)
		if err := x.describe(s.live, dir, &m.Segments[i]); err != nil {
			return next, err
		}
	}
	return next, nil
}

// share returns a segment of s with the same index for another state; nil if there is none.
func (s *state[F, L]) share(want *collection.Segment) *segment[F, L] {
	if s == nil {
		return nil
	}
	for i, x := range s.segments {
		if s.manifest.Segments[i].SHA256 == want.SHA256 && s.manifest.Segments[i].File == want.File {
			x.file.users.Add(1)
			return &segment[F, L]{file: x.file, deleted: x.deleted, live: x.live}
		}
	}
	return nil
}

// close ends the use of the segments.
func (s *state[F, L]) close() error {
	var errs []error
	for _, x := range s.segments {
		errs = append(errs, x.file.release())
	}
	return errors.Join(errs...)
}

// openSegment opens the files of a segment.
func openSegment[F io.Closer, L any](ctx context.Context, files Open[F], dir string, m *collection.Manifest, number int) (*segment[F, L], error) {
	for _, f := range m.Segments[number].Shard.Files() {
		path := filepath.Join(dir, f.File)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if uint64(info.Size()) != f.Bytes {
			return nil, fmt.Errorf("%s: %w: %d bytes, the manifest says %d", path, container.ErrCorrupt, info.Size(), f.Bytes)
		}
	}
	open, err := files(ctx, dir, m, number)
	if err != nil {
		return nil, err
	}
	f := &file[F]{files: open}
	f.users.Add(1)
	return &segment[F, L]{file: f}, nil
}

// find returns the state with an epoch.
func (s *Set[F, L]) find(name string, epoch uint64) *state[F, L] {
	if c := s.all[name]; c != nil {
		for _, x := range c.open {
			if x.layout.Epoch == epoch {
				return x
			}
		}
	}
	return nil
}

// Use returns the files of a segment in the state with an epoch, and its documents that are not deleted (the zero value
// for all), until release. ok is false if that state or segment is not open.
func (s *Set[F, L]) Use(name string, epoch uint64, number int) (files F, live L, release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.find(name, epoch)
	if x == nil || number >= len(x.segments) {
		return files, live, nil, false
	}
	x.users++
	part := x.segments[number]
	return part.file.files, part.live, func() {
		s.mu.Lock()
		x.users--
		last := x.gone && x.users == 0
		s.mu.Unlock()
		if last {
			_ = x.close() // no user could act on the error
		}
	}, true
}

// Layout describes the newest state of a collection; nil if there is none.
func (s *Set[F, L]) Layout(name string) *layout.Map {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.all[name]; c != nil && len(c.open) > 0 {
		return c.open[len(c.open)-1].layout
	}
	return nil
}

// Names returns the names of all collections.
func (s *Set[F, L]) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.all))
}

// Close closes all collections. Queries that run get errors.
func (s *Set[F, L]) Close() error {
	s.mu.Lock()
	var unused []*state[F, L]
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
