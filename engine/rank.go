package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// Mode says which documents a ranked query matches.
type Mode uint8

const (
	// Or matches the documents that have any of the terms; unknown ones drop out.
	Or Mode = iota
	// And matches those that have every term, so none where one is unknown.
	And
	// AndOr is And for the queries that And gives K documents, and Or for the others
	// (Ding et al. 2009, section 8.3).
	AndOr
)

// Modes returns all of them.
func Modes() []Mode { return []Mode{Or, And, AndOr} }

// String gives the name that command line and configuration use.
func (m Mode) String() string {
	switch m {
	case Or:
		return "or"
	case And:
		return "and"
	case AndOr:
		return "and-or"
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// ParseMode is the inverse of String, case ignored.
func ParseMode(s string) (Mode, error) {
	for _, m := range Modes() {
		if strings.EqualFold(s, m.String()) {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q (one of or, and, and-or)", s)
}

// ErrImpacts is what errors.Is finds where scoring parameters or statistics are
// given to an index that holds impacts: they were fixed when it was built.
var ErrImpacts = errors.New("the index holds impacts")

// RankOptions vary from call to call; of the zero value only K must be set.
type RankOptions struct {
	Mode Mode
	K    int // documents a query, 1 to plan.MaxK
	// Scoring is the scoring function; nil is bm25.Default. On an index of impacts
	// it must be nil: the score is the sum of weight times impact there.
	Scoring *bm25.Params
	// Statistics take the place of the index's own, so that a shard scores as the
	// whole collection does; nil changes nothing. On an index of impacts it must be
	// nil.
	Statistics *Statistics
	// Accumulators says where a ranked OR adds up scores; every choice gives the same
	// answer.
	Accumulators plan.Accumulators
	// BatchPostings closes a batch in place of Options.BatchPostings; 0 leaves it.
	BatchPostings uint64
}

// Ranking is what one query got: its best documents by descending score, equal
// scores by ascending docID.
type Ranking struct {
	Docs   []uint32
	Scores []float64
	Stats  plan.Stats
}

// Rankings are those of many queries. The caller owns them and reuses them.
type Rankings struct {
	// Offsets has one entry a query and one more: query i got
	// Offsets[i+1]-Offsets[i] documents.
	Offsets []uint64
	Docs    []uint32
	Scores  []float64
	Stats   plan.Stats
}

// Queries is the number of queries.
func (r *Rankings) Queries() int { return max(len(r.Offsets)-1, 0) }

// Query returns the documents and scores of query i, views.
func (r *Rankings) Query(i int) (docs []uint32, scores []float64) {
	a, b := r.Offsets[i], r.Offsets[i+1]
	return r.Docs[a:b:b], r.Scores[a:b:b]
}

// Reset empties the rankings and keeps their memory.
func (r *Rankings) Reset() {
	r.Offsets = append(r.Offsets[:0], 0)
	r.Docs, r.Scores = r.Docs[:0], r.Scores[:0]
	r.Stats = plan.Stats{}
}

// Rank gives the K best documents for one query. Its terms are weighted: one that
// occurs twice counts twice, and Query.Weights or a ^ in the text (heaven^2.5)
// weigh more finely. Scores come from integer arithmetic (package bm25), so they
// are the same on every backend; for queries of up to 200 terms they are off BM25 in
// real numbers by less than 2^-20 of the sum of the terms' weights. The ranking's
// memory is the caller's.
//
// Errors: plan.ErrNotRanked for an index without frequencies, a *TextError for a
// weight that cannot be read, ErrImpacts; a boolean expression is not ranked.
func (x *Index) Rank(ctx context.Context, q Query, opt RankOptions) (Ranking, error) {
	if x.closed.Load() {
		return Ranking{}, plan.ErrClosed
	}
	s, err := x.scorer(opt)
	if err != nil {
		return Ranking{}, err
	}
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	w.resetRanked(&s)
	if _, err := x.addRanked(w, &s, q); err != nil {
		return Ranking{}, err
	}
	if err := x.run(ctx, w, (*worker).rank); err != nil {
		return Ranking{}, err
	}
	return Ranking{slices.Clone(w.rankings.Docs), slices.Clone(w.rankings.Scores), w.rankings.Stats}, nil
}

// WeightedTerms reads a query text as Rank does: its terms, analysed as the
// documents were, and their weights, duplicates kept. The error is a *TextError.
func (x *Index) WeightedTerms(text string) ([]string, []float64, error) {
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	if err := x.weigh(w, Query{Text: text}); err != nil {
		return nil, nil, err
	}
	return slices.Clone(w.terms), slices.Clone(w.weights), nil
}

// RankBatches ranks queries in batches and hands each batch's results to deliver,
// under the terms of SearchBatches: ranking first+i is Query(i) of r, which is
// valid during the call only. A query that is not understood ends the call with a
// *QueryError.
func (x *Index) RankBatches(ctx context.Context, qs []Query, opt RankOptions, deliver func(first int, r *Rankings) error) error {
	if x.closed.Load() {
		return plan.ErrClosed
	}
	s, err := x.scorer(opt)
	if err != nil {
		return err
	}
	return x.batches(ctx, qs, job{
		threshold: cmp.Or(opt.BatchPostings, x.BatchPostings()),
		workers:   min(x.workerCount(), cmp.Or(x.active.Load().info.RankBatches, math.MaxInt)),
		most:      mostRanked(opt.K),
		mean:      &x.meanPostings,
		reset:     func(w *worker) { w.resetRanked(&s) },
		add:       func(w *worker, q Query) (uint64, error) { return x.addRanked(w, &s, q) },
		run: func(ctx context.Context, w *worker, first int) error {
			if err := x.run(ctx, w, (*worker).rank); err != nil {
				return err
			}
			return deliver(first, &w.rankings)
		},
	})
}

// mostRanked is how many queries a batch may have that ask for k documents each: 4 M
// documents at most.
func mostRanked(k int) int { return min(max(1<<22/k, 1), 1<<16) }

// BatchPostings is the threshold in force for ranked queries: the postings at
// which a batch is closed.
func (x *Index) BatchPostings() uint64 {
	return cmp.Or(x.opt.BatchPostings, x.active.Load().info.BatchPostings, DefaultBatchPostings)
}

// RankMany ranks queries into out, in their order. out is the caller's and is
// reused.
func (x *Index) RankMany(ctx context.Context, qs []Query, opt RankOptions, out *Rankings) error {
	return gatherRankings(len(qs), out, func(deliver func(first int, r *Rankings) error) error {
		return x.RankBatches(ctx, qs, opt, deliver)
	})
}
