package cl

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// testRanks tests the kernels of ranked retrieval on first use.
func (b *Backend) testRanks(ctx context.Context, a plan.Accumulators) error {
	if b.opt.SkipSelfTest {
		return nil
	}
	b.tested.mu.Lock()
	defer b.tested.mu.Unlock()
	if b.tested.ranks[a] {
		return nil
	}
	if err := b.selfTestRanks(ctx, a); err != nil {
		return err
	}
	b.tested.ranks[a] = true
	return nil
}

// selfTestRanks ranks over the lists of the self-test, with frequencies of which
// some are exceptions: queries in which scores of a first pass become thresholds,
// for few documents, many, and more than there are.
func (b *Backend) selfTestRanks(ctx context.Context, a plan.Accumulators) error {
	failed := func(format string, args ...any) error {
		return &plan.DeviceError{Kind: plan.ErrSelfTest, Device: b.dev.String(), Op: "self-test", Err: fmt.Errorf(format, args...)}
	}
	src, lists, err := selfTestSource()
	if err != nil {
		return failed("preparing: %w", err)
	}
	// A list that is so short that longer ones are not decoded for it.
	var few []uint32
	for i := 0; i < len(lists[5]); i += 400 {
		few = append(few, lists[5][i]+uint32(i/400%2))
	}
	if _, err := src.Append(codec.Raw, few, codec.DefaultOptions()); err != nil {
		return failed("preparing: %w", err)
	}
	lists = append(lists, few)
	freqs := make([][]uint32, len(lists))
	for h, l := range lists {
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
	s, err := b.loadIn(ctx, src, selfTestTiles, selfTestSlots)
	if err != nil {
		return err
	}
	defer s.Close()
	r := &plan.RankBatch{Norm: plan.NewNorm(0.9, 0.4, 500), Accumulators: a}
	r.Reset()
	term := func(h int) plan.Term {
		return plan.Term{List: plan.Handle(h), Weight: 1 << 29 / uint32(h+1)}
	}
	r.Add(src, term(0))
	r.Add(src)
	for h := range lists {
		r.Add(src, term(h), term((h+1)%len(lists)), term((h+5)%len(lists)))
	}
	alone := &plan.RankBatch{Norm: r.Norm, Accumulators: a}
	alone.Add(src, term(len(lists)-1), term(5))
	var got plan.TopK
	for _, r := range []*plan.RankBatch{r, alone} {
		for _, r.Mode = range []plan.Mode{plan.Or, plan.And} {
			for _, r.K = range []int{10, 100, plan.MaxK} {
				if err := s.rankAll(ctx, r, &got); err != nil {
					return err
				}
				for i := range r.Queries() {
					if !slices.Equal(keysOf(&got, i), plainRank(src, lists, freqs, r, r.Query(i))) {
						return failed("ranking by %v, query %d: the best %d documents differ from pure Go's", r.Mode, i, r.K)
					}
				}
			}
		}
	}
	return nil
}

// keysOf are the documents and scores of query i.
func keysOf(out *plan.TopK, i int) (keys []uint64) {
	docs, scores := out.Query(i)
	for j, d := range docs {
		keys = append(keys, uint64(scores[j])<<32|uint64(^d))
	}
	return keys
}

// plainRank adds up scores in an array of all documents. Keys are scores and the
// complements of docIDs.
func plainRank(src *plan.Source, lists, freqs [][]uint32, r *plan.RankBatch, q []plan.Term) (keys []uint64) {
	scores, has := make([]uint32, src.Docs), make([]int, src.Docs)
	for _, t := range q {
		for i, d := range lists[t.List] {
			scores[d] += plan.Contribution(t.Weight, r.Norm.TF(freqs[t.List][i], src.Lengths[d]))
			has[d]++
		}
	}
	for d, n := range has {
		if n > 0 && (r.Mode == plan.Or || n == len(q)) {
			keys = append(keys, uint64(scores[d])<<32|uint64(^uint32(d)))
		}
	}
	slices.SortFunc(keys, func(x, y uint64) int { return cmp.Compare(y, x) })
	return keys[:min(len(keys), r.K)]
}
