package plantest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"heddle/engine/plan"
)

// rankLoad is a source of lists of mixed density and codecs, and a batch of
// queries of the number of terms that people type.
func (su *suite) rankLoad(t *testing.T, lists, queries int) (*ranked, *plan.RankBatch) {
	r := rng(t)
	s := newRanked(r, uint32(su.pick(60_000, 9_000)), 0, lengths[0].one)
	for i := range lists {
		make := uniform
		if i%3 == 0 {
			make = clustered
		}
		docs := make(s.Docs, 1+r.IntN(int(s.Docs)>>(1+r.IntN(8))), r)
		s.rank(t, su.Codecs[i%len(su.Codecs)], docs, s.draw(r, len(docs), frequencies[1+i%2].one))
	}
	q := &plan.RankBatch{K: 10, Norm: s.norm(0.9, 0.4)}
	q.Reset()
	for range queries {
		terms := make([]plan.Handle, 1+r.IntN(2)+r.IntN(4))
		for i := range terms {
			terms[i] = r.Uint32N(uint32(lists))
		}
		q.Add(&s.Source, weighted(r, terms...)...)
	}
	return s, q
}

// rankBigBatch has more queries than a device takes at once.
func (su *suite) rankBigBatch(t *testing.T) {
	s, q := su.rankLoad(t, su.pick(60, 15), su.pick(400, 60))
	su.verifyRanks(t, su.load(t, &s.source), s, q, 10, su.pick(2000, 200))
}

// rankReuse runs different batches into the same result, from large to small and
// back, between batches of conjunctions.
func (su *suite) rankReuse(t *testing.T) {
	s, large := su.rankLoad(t, su.pick(40, 12), su.pick(100, 30))
	st := su.load(t, &s.source)
	small, none := plan.RankBatch{Norm: large.Norm}, plan.RankBatch{Norm: large.Norm}
	small.Add(&s.Source, plan.Term{List: 1, Weight: 5}, plan.Term{List: 2, Weight: 7})
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	var out plan.TopK
	var results plan.Results
	for i, q := range []*plan.RankBatch{large, &small, &none, large, &small, large} {
		q.Mode, q.K = []plan.Mode{plan.Or, plan.And}[i%2], []int{10, 1000, 3}[i%3]
		for _, q.Accumulators = range su.accumulators {
			if err := st.Rank(t.Context(), q, &out); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			if err := s.compareRanks(q, s.rankAll(q), &out); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		if err := st.Match(t.Context(), &b, &results); err != nil {
			t.Fatal(err)
		}
		if err := s.compare(&b, s.answer(&b), &results); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// rankConcurrent has several callers with batches of their own on one store, the
// first use of ranking included.
func (su *suite) rankConcurrent(t *testing.T) {
	s, q := su.rankLoad(t, su.pick(30, 12), su.pick(60, 20))
	batches := make([]plan.RankBatch, 4)
	answers := make([][][]hit, len(batches))
	for i := range batches {
		batches[i] = *q
		batches[i].Mode, batches[i].K = []plan.Mode{plan.Or, plan.And}[i%2], []int{10, 300}[i/2]
		batches[i].Norm = s.norm(0.5+float64(i), 0.4) // what a backend keeps of one is of no use to the next
		answers[i] = s.rankAll(&batches[i])
	}
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	st := su.load(t, &s.source)
	var wg sync.WaitGroup
	for caller := range su.pick(6, 3) {
		wg.Go(func() {
			var out plan.TopK
			var results plan.Results
			for round := range batches {
				i := (caller + round) % len(batches)
				mine := batches[i]
				mine.Accumulators = su.accumulators[caller%len(su.accumulators)]
				err := st.Rank(t.Context(), &mine, &out)
				if err == nil {
					err = s.compareRanks(&mine, answers[i], &out)
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

// rankCancel stops batches before they start and while they run.
func (su *suite) rankCancel(t *testing.T) {
	s, q := su.rankLoad(t, su.pick(40, 12), su.pick(200, 40))
	st := su.load(t, &s.source)
	var out plan.TopK
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, q.Mode = range []plan.Mode{plan.And, plan.Or} {
		all := s.rankAll(q)
		for _, q.Accumulators = range su.accumulators {
			if err := st.Rank(ctx, q, &out); !errors.Is(err, context.Canceled) {
				t.Fatalf("%v under a cancelled context: %v", q.Mode, err)
			}
			su.interrupt(t, func(ctx context.Context, _ int) error { return st.Rank(ctx, q, &out) },
				func() error { return s.compareRanks(q, all, &out) })
		}
	}
	su.verifyRanks(t, st, s, q, 10)
}

// rankRefused checks that what is not valid is an error, and so is a closed store.
func (su *suite) rankRefused(t *testing.T) {
	s, q := su.rankLoad(t, 5, 3)
	backend := su.open(t)
	defer backend.Close()
	st, err := backend.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	var out plan.TopK
	for name, spoil := range map[string]func(*plan.RankBatch){
		"no k":                  func(r *plan.RankBatch) { r.K = 0 },
		"negative k":            func(r *plan.RankBatch) { r.K = -1 },
		"k too great":           func(r *plan.RankBatch) { r.K = plan.MaxK + 1 },
		"mode":                  func(r *plan.RankBatch) { r.Mode = 2 },
		"accumulators":          func(r *plan.RankBatch) { r.Accumulators = 2 },
		"impacts there are not": func(r *plan.RankBatch) { r.Norm.Impacts = 8 },
		"list":                  func(r *plan.RankBatch) { r.Terms[0].List = 5 },
		"no weight":             func(r *plan.RankBatch) { r.Terms[0].Weight = 0 },
		"weights":               func(r *plan.RankBatch) { r.Terms[0].Weight, r.Terms[1].Weight = 1<<31, 1<<31 },
		"order":                 func(r *plan.RankBatch) { r.Terms[0], r.Terms[1] = r.Terms[1], r.Terms[0] },
		"offsets":               func(r *plan.RankBatch) { r.Offsets = []uint32{0, 3, 2} },
		"last offset":           func(r *plan.RankBatch) { r.Offsets = []uint32{0, 3} },
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
		bare, err := backend.Load(t.Context(), &src)
		if err != nil {
			t.Fatalf("without %s: %v", name, err)
		}
		if err := bare.Rank(t.Context(), q, &out); !errors.Is(err, plan.ErrNotRanked) {
			t.Errorf("ranking without %s: %v", name, err)
		}
		var b plan.MatchBatch // takes none of them
		b.Add(&src, 3, 4)
		var results plan.Results
		if err := bare.Match(t.Context(), &b, &results); err != nil {
			t.Fatal(err)
		}
		if err := s.compare(&b, s.answer(&b), &results); err != nil {
			t.Error(err)
		}
		if err := bare.Close(); err != nil {
			t.Error(err)
		}
	}
	su.verifyRanks(t, st, s, q, 10)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := st.Rank(t.Context(), q, &out); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("ranking on a closed store: %v", err)
	}
}
