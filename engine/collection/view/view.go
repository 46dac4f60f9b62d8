// Package view answers queries on collections: package states keeps their segments open as the shards of this
// process, and a coordinator of package cluster joins their answers.
package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"heddle/engine"
	"heddle/engine/cluster"
	"heddle/engine/cluster/shard"
	"heddle/engine/collection"
	"heddle/engine/file/container"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/states"
	"heddle/engine/syntax"
)

// Set is the open collections of a process, by name. It implements cluster.Maps and shard.Shards. It
// is safe for concurrent use. A query uses one state of a collection from its begin to its end.
type Set struct {
	states *states.Set[*files, *shard.Live]
}

// New returns a set without collections.
func New() *Set { return &Set{states.New(live)} }

// Coordinator returns a coordinator that answers queries on the collections.
func (s *Set) Coordinator(opt cluster.Options) *cluster.Coordinator {
	return cluster.Within(s, shard.Service(s), opt)
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

// OpenIndex implements shard.Shards.
func (s *Set) OpenIndex(name string, epoch uint64, number int) (*shard.Index, func(), error) {
	f, live, release, ok := s.states.Use(name, epoch, number)
	if !ok {
		return nil, nil, fmt.Errorf("segment %d of %s, state %d: %w", number, name, epoch, shard.ErrEpoch)
	}
	return &shard.Index{Index: f.index, Live: live, Attributes: f.table}, release, nil
}

// OpenTable implements shard.Shards. Collections have no tables.
func (s *Set) OpenTable(name string, epoch uint64, number int) (*engine.Table, func(), error) {
	return nil, nil, fmt.Errorf("table %s: %w", name, shard.ErrEpoch)
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
