package cl

import (
	"context"
	"errors"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/match"
	"heddle/cl/internal/match/expression"
	"heddle/cl/internal/phrase"
	"heddle/cl/internal/rank"
	"heddle/engine/plan"
)

// Store is a set of lists in device memory. It is safe for concurrent use: concurrent
// batches overlap.
type Store struct {
	set         *lists.Set
	conjunction *match.Matcher
	expression  *expression.Evaluator
	ranking     *rank.Ranker
	phrases     *phrase.Maker
}

var _ plan.PhraseStore = (*Store)(nil)

// load implements Backend.Load.
func load(ctx context.Context, rt *device.Runtime, src *plan.Source) (plan.Store, error) {
	if err := check(ctx, rt, src); err != nil {
		return nil, err
	}
	s, err := loadUntestedLists(ctx, rt, src)
	if err != nil {
		return nil, err
	}
	if err := s.conjunction.BuildKernels(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// check refuses a source that the kernels cannot run on, and tests them on first use.
func check(ctx context.Context, rt *device.Runtime, src *plan.Source) error {
	if err := src.Validate(); err != nil {
		return err
	}
	if err := lists.Supported(src); err != nil {
		return err
	}
	return match.SelfTestLists(ctx, rt, src)
}

// loadUntestedLists is load without self-tests.
func loadUntestedLists(ctx context.Context, rt *device.Runtime, src *plan.Source) (*Store, error) {
	s, err := newStore(rt, src, rt.Memory)
	if err != nil {
		return nil, err
	}
	if err = s.set.Load(ctx, s.conjunction.ScratchBytes()+expression.LeastBytes()); err == nil {
		err = s.open(ctx)
	}
	if err != nil {
		device.Free(ctx, rt, s.release)
		return nil, err
	}
	return s, nil
}

// newStore makes a store without device memory.
func newStore(rt *device.Runtime, src *plan.Source, memory *device.Budget) (*Store, error) {
	set, err := lists.New(rt, src, memory)
	if err != nil {
		return nil, err
	}
	ranking := rank.New(set)
	return &Store{set, match.New(set, rt.Tuning.RoundTiles, rt.Tuning.Slots), expression.New(set), ranking, phrase.New(set, ranking)}, nil
}

// open makes the scratch memory of the store and the tables of plan.Auto. After a failure
// release must follow.
func (s *Store) open(ctx context.Context) error {
	if err := s.conjunction.Open(ctx); err != nil {
		return err
	}
	if err := s.expression.Open(); err != nil {
		return err
	}
	return s.set.ChooseAuto(ctx)
}

// Match implements plan.Store.
func (s *Store) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	switch b.Kind() {
	case plan.Conjunctions:
		return s.conjunction.Match(ctx, b, out)
	case plan.Expressions:
		return s.expression.Match(ctx, b, out)
	}
	return plan.MatchMixed(ctx, b, out, s.conjunction.Match, s.expression.Match)
}

// Rank implements plan.Store.
func (s *Store) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	return s.ranking.Rank(ctx, r, out)
}

// Phrases implements plan.PhraseStore.
func (s *Store) Phrases(ctx context.Context, phrases []*plan.Phrase, st *plan.Stats) ([]*plan.Made, error) {
	return s.phrases.Make(ctx, phrases, st)
}

// PhraseDocuments implements plan.PhraseStore.
func (s *Store) PhraseDocuments() uint64 { return phrase.Least(s.set.Device.Tuning) }

// Filter implements plan.Store.
func (s *Store) Filter(ctx context.Context, bits []uint64) (plan.Filter, error) {
	if err := s.set.Begin(ctx); err != nil {
		return nil, err
	}
	f, err := filter.New(ctx, s.set.Device, s.set.Src.Docs, bits)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Sets implements plan.Store. The documents stay on the device.
func (s *Store) Sets(ctx context.Context, b *plan.MatchBatch, out *plan.Sets) error {
	if err := s.set.Begin(ctx); err != nil {
		return err
	}
	if b.Kind() == plan.Expressions {
		return s.expression.Sets(ctx, b, out)
	}
	all := new(plan.MatchBatch)
	all.Reset()
	for i := range b.Queries() {
		all.AddOps(b.AppendOps(nil, i))
		all.Restrict(b.Filter(i))
	}
	return s.expression.Sets(ctx, all, out)
}

// Explain names the method for list h.
func (s *Store) Explain(a plan.Algorithm, h plan.Handle) string { return s.conjunction.Explain(a, h) }

// ExplainBatch names the algorithm of b, with the reason where plan.Auto chose it.
func (s *Store) ExplainBatch(b *plan.MatchBatch) string { return s.conjunction.ExplainBatch(b) }

// Memory returns the bytes of lists, tables and scratch memory on the device.
func (s *Store) Memory() uint64 { return s.set.Total() }

// Close waits for batches under way and frees the device memory. Callers that wait for a
// slot get plan.ErrClosed.
func (s *Store) Close() error { return s.set.Close(s.release) }

func (s *Store) release() {
	s.conjunction.Release()
	s.expression.Release()
	s.phrases.Release()
	s.ranking.Release()
	s.set.Release()
}
