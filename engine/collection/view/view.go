// Package view answers queries on collections: package states keeps their segments open as parts in this
// process, and a coordinator joins their answers.
package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"heddle/engine"
	"heddle/engine/cluster"
	"heddle/engine/collection"
	"heddle/engine/file/container"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/internal/states"
	"heddle/engine/syntax"
)

// Set is the open collections of a process, by name. It implements cluster.Maps and coordinator.Parts. It
// is safe for concurrent use. A query uses one state of a collection from its begin to its end.
type Set struct {
	states *states.Set[*files, *part.Live]
}

// New returns a set without collections.
func New() *Set { return &Set{states.New(live)} }

// Coordinator returns a coordinator that answers queries on the collections.
func (s *Set) Coordinator(opt cluster.Options) *cluster.Coordinator {
	return cluster.Within(s, s, opt)
}

// Load opens the newest state of a collection under a name, if it is not open yet. Segments that the
// set has open stay open. An error leaves the old state.
func (s *Set) Load(ctx context.Context, e *engine.Engine, name, dir string) (*collection.Manifest, error) {
	m, err := s.states.Load(ctx, func(ctx context.Context, dir string, m *collection.Manifest, number int) (*files, error) {
		return openFiles(ctx, e, dir, m, number)
	}, name, dir)
	if m == nil && err != nil {
		return nil, fail(name, err)
	}
	return m, err
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

// Part implements coordinator.Parts.
func (s *Set) Part(name string, epoch uint64, number int) (*part.Part, func(), error) {
	f, live, release, err := s.use(name, epoch, number)
	if err != nil {
		return nil, nil, err
	}
	g, err := f.index.Internal().Acquire()
	if err != nil {
		release()
		return nil, nil, err
	}
	p := &part.Part{Generation: g, Live: live}
	if f.table != nil {
		p.Attributes = f.table.Internal()
	}
	return p, func() { g.Release(); release() }, nil
}

// use returns the files of a segment until release.
func (s *Set) use(name string, epoch uint64, number int) (f *files, live *part.Live, release func(), err error) {
	f, live, release, ok := s.states.Use(name, epoch, number)
	if !ok {
		err = fmt.Errorf("segment %d of %s, state %d: %w", number, name, epoch, part.ErrEpoch)
	}
	return f, live, release, err
}

// Map implements cluster.Maps.
func (s *Set) Map(_ context.Context, name string) (*layout.Map, error) {
	if m := s.states.Layout(name); m != nil {
		return m, nil
	}
	return nil, &engine.Error{Code: engine.NotFound, Op: "find index", Err: fmt.Errorf("no collection is named %s", syntax.Quote(name))}
}

// Refresh implements cluster.Maps.
func (s *Set) Refresh(ctx context.Context, name string) (*layout.Map, error) { return s.Map(ctx, name) }

// Names implements cluster.Maps.
func (s *Set) Names(context.Context) ([]string, error) { return s.states.Names(), nil }

// Close closes all collections. Queries that run get errors.
func (s *Set) Close() error { return s.states.Close() }
