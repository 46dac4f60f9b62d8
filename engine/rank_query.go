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

// ranked is the part of a worker that ranks.
type ranked struct {
	mode    Mode
	ranks   plan.RankBatch // the queries, each with its known terms
	missing []bool         // whether a term of the query is in no document
	scales  []bm25.Scale   // of the queries' scores

	weights []float64 // of worker.terms
	asked   []asked
	real    []float64
	fixed   []uint32
	list    []plan.Term

	pass, rest plan.RankBatch // of AndOr: every query by And, some again by Or
	top, again plan.TopK
	rankings   Rankings
}

// asked is a term of a query.
type asked struct {
	term   string
	handle plan.Handle // unknown, if no document of the index has the term
	weight float64
}

const unknown = math.MaxUint32

func (w *worker) resetRanked(s *scorer) {
	w.mode = s.opt.Mode
	for _, r := range []*plan.RankBatch{&w.ranks, &w.pass, &w.rest} {
		r.Reset()
		r.K, r.Norm, r.Accumulators = s.opt.K, s.norm, s.opt.Accumulators
	}
	w.missing, w.scales = w.missing[:0], w.scales[:0]
}

// addRanked resolves the terms of q, weighs them and appends the query to the
// worker's batch. It returns the number of postings.
func (x *Index) addRanked(w *worker, s *scorer, q Query) (uint64, error) {
	if err := x.weigh(w, q); err != nil {
		return 0, err
	}
	x.join(w)
	w.real, w.list = w.real[:0], w.list[:0]
	missing, postings := false, uint64(0)
	for i := range w.asked {
		t := &w.asked[i]
		length := uint32(0)
		if t.handle != unknown {
			length = x.src.Lists[t.handle].Len
		}
		weight, ok, err := s.weight(t, length)
		if err != nil {
			return 0, err
		}
		missing = missing || length == 0
		postings += uint64(length)
		if ok {
			// One that other shards have counts in the scale too.
			w.real, w.list = append(w.real, weight), append(w.list, plan.Term{List: t.handle})
		}
	}
	var scale bm25.Scale
	w.fixed, scale = bm25.Fix(w.fixed[:0], w.real)
	n := 0
	for i, t := range w.list {
		if t.List != unknown && x.src.Lists[t.List].Len > 0 {
			w.list[n] = plan.Term{List: t.List, Weight: w.fixed[i]}
			n++
		}
	}
	if missing && s.opt.Mode == And {
		n, postings = 0, 0
	}
	w.ranks.Add(x.src, w.list[:n]...)
	w.missing = append(w.missing, missing)
	// With impacts the share is impact / 2^Impacts.
	w.scales = append(w.scales, scale-bm25.Scale(s.norm.Impacts))
	return postings, nil
}

// weigh sets the terms and weights of q.
func (x *Index) weigh(w *worker, q Query) error {
	w.terms, w.weights = w.terms[:0], w.weights[:0]
	switch {
	case q.Expr != nil:
		return errors.New("a boolean expression cannot be ranked")
	case q.Text != "":
		if q.Weights != nil {
			return errors.New("weights of terms for a query that is a text")
		}
		return eachWeighted(q.Text, func(text string, weight float64) {
			x.appendTerms(w, text)
			for len(w.weights) < len(w.terms) {
				w.weights = append(w.weights, weight)
			}
		})
	case q.Weights != nil && len(q.Weights) != len(q.Terms):
		return fmt.Errorf("%d weights for %d terms", len(q.Weights), len(q.Terms))
	}
	w.terms = append(w.terms, q.Terms...)
	for i, t := range q.Terms {
		weight := 1.0
		if q.Weights != nil {
			weight = q.Weights[i]
		}
		if !(weight > 0) || math.IsInf(weight, 1) {
			return fmt.Errorf("weight %v of term %q is not positive and finite", weight, t)
		}
		w.weights = append(w.weights, weight)
	}
	return nil
}

// join looks the terms up and adds up the weights of those that are the same.
func (x *Index) join(w *worker) {
	w.asked = w.asked[:0]
	for i, t := range w.terms {
		h, ok := x.dict.Lookup(t)
		if !ok {
			h = unknown
		}
		w.asked = append(w.asked, asked{t, h, w.weights[i]})
	}
	slices.SortStableFunc(w.asked, func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.handle, b.handle), strings.Compare(a.term, b.term))
	})
	n := 0
	for _, t := range w.asked {
		if n > 0 && w.asked[n-1].term == t.term {
			w.asked[n-1].weight += t.weight
			continue
		}
		w.asked[n] = t
		n++
	}
	w.asked = w.asked[:n]
}

// rank answers the worker's ranked queries on s.
func (w *worker) rank(ctx context.Context, s plan.Store) error {
	r := &w.ranks
	if w.mode == And {
		r.Mode = plan.And
	} else {
		r.Mode = plan.Or
	}
	if w.mode == AndOr {
		return w.rankAndOr(ctx, s)
	}
	if err := s.Rank(ctx, r, &w.top); err != nil {
		return err
	}
	w.rankings.Reset()
	for i := range r.Queries() {
		w.take(i, &w.top, i)
	}
	w.rankings.Stats = w.top.Stats
	return nil
}

// rankAndOr answers all queries by And, and those that got fewer than K documents
// by Or; a single term is the same under both.
func (w *worker) rankAndOr(ctx context.Context, s plan.Store) error {
	all, and, or := &w.ranks, &w.pass, &w.rest
	and.Reset()
	or.Reset()
	and.Mode, or.Mode = plan.And, plan.Or
	for i := range all.Queries() {
		if w.missing[i] {
			and.AddOrdered(nil)
		} else {
			and.AddOrdered(all.Query(i))
		}
	}
	if err := s.Rank(ctx, and, &w.top); err != nil {
		return err
	}
	short := func(i int) bool {
		docs, _ := w.top.Query(i)
		return len(docs) < all.K && (w.missing[i] || len(all.Query(i)) > 1)
	}
	for i := range all.Queries() {
		if short(i) {
			or.AddOrdered(all.Query(i))
		}
	}
	w.again.Reset()
	if or.Queries() > 0 {
		if err := s.Rank(ctx, or, &w.again); err != nil {
			return err
		}
	}
	w.rankings.Reset()
	again := 0
	for i := range all.Queries() {
		if short(i) {
			w.take(i, &w.again, again)
			again++
		} else {
			w.take(i, &w.top, i)
		}
	}
	w.rankings.Stats = w.top.Stats
	w.rankings.Stats.Add(w.again.Stats)
	w.rankings.Stats.Queries = uint64(all.Queries())
	w.rankings.Stats.Matches = uint64(len(w.rankings.Docs))
	return nil
}

// take appends what query i got: ranking at of top.
func (w *worker) take(i int, top *plan.TopK, at int) {
	docs, sums := top.Query(at)
	r := &w.rankings
	r.Docs = append(r.Docs, docs...)
	for _, sum := range sums {
		r.Scores = append(r.Scores, w.scales[i].Score(sum))
	}
	r.Offsets = append(r.Offsets, uint64(len(r.Docs)))
}
