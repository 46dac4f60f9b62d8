package filter

import (
	"context"

	"heddle/engine/plan"
)

// Match answers b with match, which knows no filters, over documents of a universe.
func Match(ctx context.Context, universe uint32, b *plan.MatchBatch, out *plan.Results, match plan.MatchFunc) error {
	sets, err := all(b.Filters, universe)
	if err != nil {
		return err
	}
	if sets == nil {
		return match(ctx, b, out)
	}
	whole := *b
	whole.Filters, whole.CountOnly = nil, false
	if err := match(ctx, &whole, out); err != nil {
		return err
	}
	from, n := uint64(0), uint64(0)
	for i, s := range sets {
		end := out.Offsets[i+1]
		for _, d := range out.Docs[from:end] {
			if d < universe && s.has(d) {
				out.Docs[n] = d
				n++
			}
		}
		from, out.Offsets[i+1] = end, n
	}
	if out.Docs = out.Docs[:n]; b.CountOnly {
		out.Docs = out.Docs[:0]
	}
	out.Stats.Matches = n
	out.Stats.CountFilters(b.Filters)
	return nil
}
