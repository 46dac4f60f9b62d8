package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"heddle/engine/failure"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/handle"
	"heddle/engine/internal/segments"
	"heddle/engine/plan"
)

// CollectionSnapshot is one state of a collection: answers, names and texts of documents belong to it whatever
// changes follow. It is safe for concurrent use, except that Close must not run beside other calls.
type CollectionSnapshot struct {
	pinned
	all    *coordinator.Coordinator
	parts  []*Snapshot
	closed atomic.Bool
}

type pinned = handle.Of[segments.State]

// Snapshot pins the newest state. The caller closes it soon, since the files of its segments stay open until then.
func (c *Collection) Snapshot() (*CollectionSnapshot, error) {
	state, err := c.Internal().Pin()
	if err != nil {
		return nil, failure.Wrap("snapshot", err)
	}
	s := &CollectionSnapshot{pinned: handle.New(state), all: c.all.On(state, state)}
	for _, p := range state.Segments {
		s.parts = append(s.parts, &Snapshot{g: p.Generation})
	}
	return s, nil
}

// Close ends the use of the snapshot. Further calls have no effect.
func (s *CollectionSnapshot) Close() error {
	if !s.closed.Swap(true) {
		s.Internal().Close()
	}
	return nil
}

func (s *CollectionSnapshot) check(op string) error {
	if s.closed.Load() {
		return failure.Wrap(op, fmt.Errorf("the snapshot is %w", plan.ErrClosed))
	}
	return nil
}

// Info describes the state.
func (s *CollectionSnapshot) Info() CollectionInfo {
	m := s.Internal().Layout
	info := CollectionInfo{State: m.Epoch, Bound: m.Docs, Segments: len(m.Shards)}
	for _, p := range s.Internal().Segments {
		info.Documents += p.Describe().Docs
	}
	return info
}

// Search is Collection.Search on the snapshot.
func (s *CollectionSnapshot) Search(ctx context.Context, q Query) (Hits, error) {
	return searchOne(ctx, s.SearchAll, q)
}

// SearchAll is Collection.SearchAll on the snapshot.
func (s *CollectionSnapshot) SearchAll(ctx context.Context, qs []Query, deliver func(first int, hits []Hits) error) error {
	if err := s.check("search"); err != nil {
		return err
	}
	return searchParts(ctx, s.all, s.Internal().Layout.Name, qs, deliver)
}

// Segments are the contents of all segments, in the order of their documents. Close of the snapshot ends their use.
func (s *CollectionSnapshot) Segments() []*Snapshot { return s.parts }

// Statistics is Collection.Statistics of the snapshot.
func (s *CollectionSnapshot) Statistics(ctx context.Context, terms ...string) (Statistics, error) {
	if err := s.check("statistics"); err != nil {
		return Statistics{}, err
	}
	all, err := s.all.Statistics(ctx, s.Internal().Layout.Name, terms...)
	return all, failure.Wrap("statistics", err)
}
