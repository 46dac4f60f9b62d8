package hostfallback

import (
	"cmp"
	"context"
	"slices"
	"time"

	"heddle/engine/plan"
)

// Rank implements plan.Store.
func (s *store) Rank(ctx context.Context, r *plan.Ranks, out *plan.TopK) error {
	start := time.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: "rank"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Validate(s.src); err != nil {
		return err
	}
	out.Reset()
	for i := range r.Queries() {
		if err := s.rank(ctx, r, r.Query(i), out); err != nil {
			return err
		}
		out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
	}
	out.Stats = plan.Stats{
		Queries: uint64(r.Queries()), Postings: r.Postings(s.src), Matches: uint64(len(out.Docs)),
		Wall: max(time.Since(start), 1),
	}
	return nil
}

// rank appends the best documents of one query.
func (s *store) rank(ctx context.Context, r *plan.Ranks, terms []plan.Term, out *plan.TopK) error {
	type sum struct{ score, lists uint32 }
	sums := map[uint32]sum{}
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		docs, err := s.src.List(t.List).AppendTo(nil)
		if err != nil {
			return err
		}
		p, err := s.src.Freq(t.List)
		if err != nil {
			return err
		}
		freqs, err := p.AppendTo(nil)
		if err != nil {
			return err
		}
		for i, d := range docs {
			length := uint32(0)
			if r.Norm.Impacts == 0 {
				length = s.src.Lengths[d]
			}
			x := sums[d]
			sums[d] = sum{x.score + plan.Contribution(t.Weight, r.Norm.Share(freqs[i]+1, length)), x.lists + 1}
		}
	}
	docs := make([]uint32, 0, len(sums))
	for d, x := range sums {
		if r.Mode == plan.Or || x.lists == uint32(len(terms)) {
			docs = append(docs, d)
		}
	}
	slices.SortFunc(docs, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(sums[y].score, sums[x].score), cmp.Compare(x, y))
	})
	for _, d := range docs[:min(len(docs), r.K)] {
		out.Docs, out.Scores = append(out.Docs, d), append(out.Scores, sums[d].score)
	}
	return nil
}
