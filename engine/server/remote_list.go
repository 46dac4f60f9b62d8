package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/engine"
	"heddle/engine/api"
)

// listIndexes describes all indexes.
func (s *Server) listIndexes(ctx context.Context) (all []*api.Index, err error) {
	if r := s.opt.Remote; r != nil {
		names, _, err := r.List(ctx)
		return describeAll(ctx, names, err, r.Index)
	}
	for _, x := range s.indexes.list() {
		one, err := describeIndex(x)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if r := s.opt.Collections; r != nil {
		names, _, err := r.List(ctx)
		more, err := describeAll(ctx, names, err, r.Index)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
		slices.SortFunc(all, func(a, b *api.Index) int { return strings.Compare(a.GetName(), b.GetName()) })
	}
	return all, nil
}

// listTables describes all tables.
func (s *Server) listTables(ctx context.Context) (all []*api.Table, err error) {
	if r := s.opt.Remote; r != nil {
		_, names, err := r.List(ctx)
		return describeAll(ctx, names, err, r.Table)
	}
	for _, x := range s.tables.list() {
		one, err := describeTable(x)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// describeAll describes the indexes or tables of a remote. It leaves out names that are gone.
func describeAll[T any](ctx context.Context, names []string, err error, describe func(context.Context, string) (T, error)) (all []T, _ error) {
	for _, name := range names {
		one, err := describe(ctx, name)
		if engine.CodeOf(err) == engine.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, err
}

// hasIndex returns nil if an index answers queries.
func (s *Server) hasIndex(ctx context.Context, name string) error {
	if r := s.remoteOf(name); r != nil {
		x, err := r.Index(ctx, name)
		return whole("index", name, x.GetReady(), err)
	}
	_, err := s.indexes.get(name)
	return err
}

// hasTable returns nil if a table answers queries.
func (s *Server) hasTable(ctx context.Context, name string) error {
	if r := s.opt.Remote; r != nil {
		x, err := r.Table(ctx, name)
		return whole("table", name, x.GetReady(), err)
	}
	_, err := s.tables.get(name)
	return err
}

func whole(kind, name string, ready bool, err error) error {
	if err == nil && !ready {
		err = &engine.Error{Code: engine.Closed, Op: "find " + kind, Err: fmt.Errorf("%s %s has shards that do not answer", kind, name)}
	}
	return err
}
