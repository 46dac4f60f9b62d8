package cl

import (
	"context"
	"errors"

	"heddle/engine/plan"
)

// Store is a set of lists in device memory. It is safe for concurrent use: concurrent
// batches overlap.
type Store struct {
	set         *listSet
	conjunction *matcher
	expression  *evaluator
	ranking     *ranker
}

var _ plan.Store = (*Store)(nil)

// load implements Backend.Load.
func load(ctx context.Context, rt *opened, src *plan.Source) (plan.Store, error) {
	if err := src.Validate(); err != nil {
		return nil, err
	}
	if err := supported(src); err != nil {
		return nil, err
	}
	if err := testLists(ctx, rt, src); err != nil {
		return nil, err
	}
	s, err := loadUntestedLists(ctx, rt, src)
	if err != nil {
		return nil, err
	}
	if err := s.conjunction.buildKernels(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// loadUntestedLists is load without self-tests.
func loadUntestedLists(ctx context.Context, rt *opened, src *plan.Source) (*Store, error) {
	s, err := newStore(rt, src, rt.memory)
	if err != nil {
		return nil, err
	}
	if err = s.set.load(s.conjunction.slotsBytes() + leastExprBytes()); err == nil {
		err = s.open(ctx)
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// newStore makes a store without device memory.
func newStore(rt *opened, src *plan.Source, memory *budget) (*Store, error) {
	set, err := newListSet(rt, src, memory)
	if err != nil {
		return nil, err
	}
	return &Store{set, newMatcher(set, rt.tuning.RoundTiles, rt.tuning.Slots), newEvaluator(set), newRanker(set)}, nil
}

// open makes the scratch memory of the store and the tables of plan.Auto. After a failure
// release must follow.
func (s *Store) open(ctx context.Context) error {
	if err := s.conjunction.open(); err != nil {
		return err
	}
	if err := s.expression.open(); err != nil {
		return err
	}
	return s.set.chooseAuto(ctx)
}

// Match implements plan.Store.
func (s *Store) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := plan.Unfiltered(b.Filters); err != nil {
		return err
	}
	switch b.Kind() {
	case plan.Conjunctions:
		return s.conjunction.match(ctx, b, out)
	case plan.Expressions:
		return s.expression.match(ctx, b, out)
	}
	return plan.MatchMixed(ctx, b, out, s.conjunction.match, s.expression.match)
}

// Rank implements plan.Store.
func (s *Store) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	return s.ranking.rank(ctx, r, out)
}

// Explain names the method for list h.
func (s *Store) Explain(a plan.Algorithm, h plan.Handle) string { return s.conjunction.explain(a, h) }

// ExplainBatch names the algorithm of b, with the reason where plan.Auto chose it.
func (s *Store) ExplainBatch(b *plan.MatchBatch) string { return s.conjunction.explainBatch(b) }

// Memory returns the bytes of lists, tables and scratch memory on the device.
func (s *Store) Memory() uint64 { return s.set.total() }

// Close waits for batches under way and frees the device memory. Callers that wait for a
// slot get plan.ErrClosed.
func (s *Store) Close() error {
	if err := s.set.shut(); err != nil {
		return err
	}
	s.release()
	return nil
}

func (s *Store) release() {
	s.conjunction.release()
	s.expression.release()
	s.ranking.release()
	s.set.release()
}
