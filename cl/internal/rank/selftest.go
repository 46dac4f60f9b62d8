package rank

import (
	"context"
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// selfTestOnce tests the kernels of ranked queries on first use.
func selfTestOnce(ctx context.Context, rt *device.Runtime, a plan.Accumulators) error {
	all := []plan.Accumulators{a}
	if a == plan.AutoAccumulators { // which may fall back
		all = append(all, plan.RangeAccumulators)
	}
	return device.TestOnce(ctx, rt, all, func(untested []plan.Accumulators) error { return selfTest(ctx, rt, untested) })
}

// selfTest ranks in some ways over the sample lists, with frequencies of which some are exceptions.
// Scores of a first pass become thresholds. It asks for few documents, for many, and for
// more than there are.
func selfTest(ctx context.Context, rt *device.Runtime, ways []plan.Accumulators) error {
	failed := rt.FailedTest
	src, postings, err := lists.Sample()
	if err != nil {
		return failed("preparing: %w", err)
	}
	// A list so short that longer ones are not decoded for it.
	var few []uint32
	for i := 0; i < len(postings[5]); i += 400 {
		few = append(few, postings[5][i]+uint32(i/400%2))
	}
	if _, err := src.Append(codec.Raw, few, codec.DefaultOptions()); err != nil {
		return failed("preparing: %w", err)
	}
	postings = append(postings, few)
	freqs := make([][]uint32, len(postings))
	for h, l := range postings {
		for i := range l {
			f := 1 + uint32(i)*2654435761>>30
			if i%29 == 3 {
				f += uint32(i) << 8
			}
			freqs[h] = append(freqs[h], f)
		}
		if err := src.AppendFreqs(plan.Handle(h), freqs[h], codec.DefaultOptions()); err != nil {
			return failed("preparing: %w", err)
		}
	}
	for d := range src.Docs {
		src.Lengths = append(src.Lengths, d*2654435761>>22)
	}
	s, err := load(rt, src)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.set.ChooseAuto(ctx); err != nil {
		return err
	}
	r := &plan.RankBatch{Norm: plan.NewNorm(0.9, 0.4, 500)}
	r.Reset()
	term := func(h int) plan.Term {
		return plan.Term{List: plan.Handle(h), Weight: 1 << 29 / uint32(h+1)}
	}
	r.Add(src, term(0))
	r.Add(src)
	for h := range postings {
		r.Add(src, term(h), term((h+1)%len(postings)), term((h+5)%len(postings)))
	}
	alone := &plan.RankBatch{Norm: r.Norm}
	alone.Add(src, term(len(postings)-1), term(5))
	var got plan.TopK
	plain := reference.Lists{Docs: postings, Freqs: freqs, Lengths: src.Lengths}
	for _, r := range []*plan.RankBatch{r, alone} {
		r.Mode = plan.Or
		want := plain.Rank(r)
		for _, r.Mode = range []plan.Mode{plan.Or, plan.And} {
			if r.Mode == plan.And {
				for i := range want {
					want[i] = reference.InAllLists(want[i], len(r.Query(i)))
				}
			}
			for _, r.Accumulators = range ways {
				for _, r.K = range []int{10, 100, plan.MaxK} {
					if err := s.run(ctx, r, &got); err != nil {
						return err
					}
					for i := range r.Queries() {
						if !slices.Equal(KeysOf(&got, i), KeysOfHits(want[i], r.K)) {
							return failed("ranking by %v, query %d: the best %d documents differ from pure Go's", r.Mode, i, r.K)
						}
					}
				}
			}
		}
	}
	return nil
}

// KeysOf returns the documents and scores of query i as keys.
func KeysOf(out *plan.TopK, i int) (keys []uint64) {
	docs, scores := out.Query(i)
	for j, d := range docs {
		keys = append(keys, uint64(scores[j])<<32|uint64(^d))
	}
	return keys
}

// KeysOfHits returns the documents and scores of the best k hits as keys.
func KeysOfHits(hits []reference.Hit, k int) (keys []uint64) {
	for _, h := range hits[:min(len(hits), k)] {
		keys = append(keys, uint64(h.Score)<<32|uint64(^h.Doc))
	}
	return keys
}

// load makes a set of resident lists with a ranker alone.
func load(rt *device.Runtime, src *plan.Source) (*Ranker, error) {
	set, err := lists.New(rt, src, rt.Memory)
	if err != nil {
		return nil, err
	}
	if err = set.Load(context.Background(), 0); err != nil {
		set.Release()
		return nil, err
	}
	return New(set), nil
}

// close closes a ranker of load and its set.
func (r *Ranker) close() error {
	return r.set.Close(func() { r.Release(); r.set.Release() })
}
