package ranktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// workload returns a source of lists of mixed density and codecs, and a batch of
// queries of one to five terms.
func (su *suite) workload(t *testing.T, lists, queries int) (*plantest.Source, *plan.RankBatch) {
	r := plantest.RNG(t)
	s := plantest.NewRanked(r, uint32(su.Pick(60_000, 9_000)), 0, plantest.LengthKinds[0].One)
	for i := range lists {
		gen := plantest.Uniform
		if i%3 == 0 {
			gen = plantest.Clustered
		}
		docs := gen(s.Docs, 1+r.IntN(int(s.Docs)>>(1+r.IntN(8))), r)
		s.AddRanked(t, su.Codecs[i%len(su.Codecs)], docs, s.Draw(r, len(docs), plantest.FrequencyKinds[1+i%2].One))
	}
	q := &plan.RankBatch{K: 10, Norm: s.Norm(0.9, 0.4)}
	q.Reset()
	for range queries {
		terms := make([]plan.Handle, 1+r.IntN(2)+r.IntN(4))
		for i := range terms {
			terms[i] = r.Uint32N(uint32(lists))
		}
		q.Add(&s.Source, plantest.Weighted(r, terms...)...)
	}
	return s, q
}

// bigBatch has more queries than a device runs at the same time.
func (su *suite) bigBatch(t *testing.T) {
	s, q := su.workload(t, su.Pick(60, 15), su.Pick(400, 60))
	su.verify(t, su.Load(t, s), s, q, 10, su.Pick(2000, 200))
}

// reuse runs large and small batches in turn into the same TopK, between batches of
// conjunctions.
func (su *suite) reuse(t *testing.T) {
	s, large := su.workload(t, su.Pick(40, 12), su.Pick(100, 30))
	st := su.Load(t, s)
	small, none := plan.RankBatch{Norm: large.Norm}, plan.RankBatch{Norm: large.Norm}
	small.Add(&s.Source, plan.Term{List: 1, Weight: 5}, plan.Term{List: 2, Weight: 7})
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	var out plan.TopK
	var results plan.Results
	for i, q := range []*plan.RankBatch{large, &small, &none, large, &small, large} {
		q.Mode, q.K = []plan.Mode{plan.Or, plan.And}[i%2], []int{10, 1000, 3}[i%3]
		want := s.Plain.Rank(q)
		for _, q.Accumulators = range su.accumulators {
			if err := st.Rank(t.Context(), q, &out); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			if err := compare(s, q, want, &out); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		if err := st.Match(t.Context(), &b, &results); err != nil {
			t.Fatal(err)
		}
		if err := matched(s, &b, &results); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// concurrent has several callers on one store, each with its own batch. One of them
// is the first to rank.
func (su *suite) concurrent(t *testing.T) {
	s, q := su.workload(t, su.Pick(30, 12), su.Pick(60, 20))
	batches := make([]plan.RankBatch, 4)
	answers := make([][][]reference.Hit, len(batches))
	for i := range batches {
		batches[i] = *q
		batches[i].Mode, batches[i].K = []plan.Mode{plan.Or, plan.And}[i%2], []int{10, 300}[i/2]
		batches[i].Norm = s.Norm(0.5+float64(i), 0.4) // a backend that caches a Norm must notice the change
		answers[i] = s.Plain.Rank(&batches[i])
	}
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	st := plantest.LoadOn(t, su.Backend(t), s)
	var wg sync.WaitGroup
	for caller := range su.Pick(6, 3) {
		wg.Go(func() {
			var out plan.TopK
			var results plan.Results
			for round := range batches {
				i := (caller + round) % len(batches)
				mine := batches[i]
				mine.Accumulators = su.accumulators[caller%len(su.accumulators)]
				err := st.Rank(t.Context(), &mine, &out)
				if err == nil {
					err = compare(s, &mine, answers[i], &out)
				}
				if err == nil && caller == 0 {
					err = st.Match(t.Context(), &b, &results)
				}
				if err != nil {
					t.Errorf("caller %d: %v", caller, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// cancel stops batches before they start and while they run.
func (su *suite) cancel(t *testing.T) {
	s, q := su.workload(t, su.Pick(40, 12), su.Pick(200, 40))
	st := su.Load(t, s)
	var out plan.TopK
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, q.Mode = range []plan.Mode{plan.And, plan.Or} {
		all := s.Plain.Rank(q)
		for _, q.Accumulators = range su.accumulators {
			if err := st.Rank(ctx, q, &out); !errors.Is(err, context.Canceled) {
				t.Fatalf("%v under a cancelled context: %v", q.Mode, err)
			}
			su.Interrupt(t, func(ctx context.Context, _ int) error { return st.Rank(ctx, q, &out) },
				func() error { return compare(s, q, all, &out) })
		}
	}
	su.verify(t, st, s, q, 10)
}

// refused checks that invalid batches, sources without data for ranking and a
// closed store give errors.
func (su *suite) refused(t *testing.T) {
	s, q := su.workload(t, 5, 3)
	st, err := su.Shared.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	var out plan.TopK
	for name, spoil := range map[string]func(*plan.RankBatch){
		"no k":            func(r *plan.RankBatch) { r.K = 0 },
		"negative k":      func(r *plan.RankBatch) { r.K = -1 },
		"k too great":     func(r *plan.RankBatch) { r.K = plan.MaxK + 1 },
		"mode":            func(r *plan.RankBatch) { r.Mode = 2 },
		"accumulators":    func(r *plan.RankBatch) { r.Accumulators = 4 },
		"missing impacts": func(r *plan.RankBatch) { r.Norm.Impacts = 8 },
		"list":            func(r *plan.RankBatch) { r.Terms[0].List = 5 },
		"no weight":       func(r *plan.RankBatch) { r.Terms[0].Weight = 0 },
		"weights":         func(r *plan.RankBatch) { r.Terms[0].Weight, r.Terms[1].Weight = 1<<31, 1<<31 },
		"order":           func(r *plan.RankBatch) { r.Terms[0], r.Terms[1] = r.Terms[1], r.Terms[0] },
		"offsets":         func(r *plan.RankBatch) { r.Offsets = []uint32{0, 3, 2} },
		"last offset":     func(r *plan.RankBatch) { r.Offsets = []uint32{0, 3} },
	} {
		bad := plan.RankBatch{K: 10, Norm: q.Norm}
		bad.Add(&s.Source, plan.Term{List: 0, Weight: 1}, plan.Term{List: 1, Weight: 1})
		spoil(&bad)
		if err := st.Rank(t.Context(), &bad, &out); err == nil {
			t.Errorf("%s: the batch went through", name)
		}
	}
	for name, spoil := range map[string]func(*plan.Source){
		"frequencies": func(src *plan.Source) { src.Freqs = nil },
		"lengths":     func(src *plan.Source) { src.Lengths = src.Lengths[1:] },
	} {
		src := s.Source
		spoil(&src)
		for h := range src.Lists {
			if src.Lists = append([]plan.List(nil), src.Lists...); name == "frequencies" {
				src.Lists[h].FreqOff, src.Lists[h].FreqWords = 0, 0
			}
		}
		bare, err := su.Shared.Load(t.Context(), &src)
		if err != nil {
			t.Fatalf("without %s: %v", name, err)
		}
		if err := bare.Rank(t.Context(), q, &out); !errors.Is(err, plan.ErrNotRanked) {
			t.Errorf("ranking without %s: %v", name, err)
		}
		var b plan.MatchBatch // needs no data for ranking
		b.Add(&src, 3, 4)
		var results plan.Results
		if err := bare.Match(t.Context(), &b, &results); err != nil {
			t.Fatal(err)
		}
		if err := matched(s, &b, &results); err != nil {
			t.Error(err)
		}
		if err := bare.Close(); err != nil {
			t.Error(err)
		}
	}
	su.verify(t, st, s, q, 10)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := st.Rank(t.Context(), q, &out); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("ranking on a closed store: %v", err)
	}
}

// matched compares the result of a batch of conjunctions with the reference answer.
func matched(s *plantest.Source, b *plan.MatchBatch, out *plan.Results) error {
	for i, want := range reference.Match(s.Plain.Docs, b) {
		if !slices.Equal(out.Query(i), want) {
			return fmt.Errorf("conjunction %d: %d documents, want %d", i, out.Count(i), len(want))
		}
	}
	return nil
}

// stranger is a filter of no backend.
type stranger struct{ plan.Filter }

// filters checks that nil filters change nothing, and that the backend refuses a
// wrong number of filters, and filters of other backends.
func (su *suite) filters(t *testing.T) {
	s, q := su.workload(t, 6, 5)
	st := su.Load(t, s)
	q.Filters = make([]plan.Filter, q.Queries())
	su.verify(t, st, s, q, 10)
	var out plan.TopK
	for i := range q.Filters {
		q.Filters[i] = stranger{}
		if err := st.Rank(t.Context(), q, &out); !errors.Is(err, plan.ErrUnsupported) {
			t.Errorf("a filter of no backend for query %d: %v", i, err)
		}
		q.Filters[i] = nil
	}
	q.Filters = q.Filters[1:]
	if err := st.Rank(t.Context(), q, &out); err == nil {
		t.Error("one filter too few went through")
	}
}
