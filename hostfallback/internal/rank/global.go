package rank

import (
	"context"
	"slices"

	"heddle/engine/plan"
)

// maxGlobal is the greatest number of accumulators of one part, which take 1 GiB. A source with more documents
// is ranked in several parts.
const maxGlobal = 1 << 28

// orGlobal ranks the documents of p that any list contains, one list after another, with
// an accumulator for each document (Ding et al. 2009, section 8.3).
func (w *worker) orGlobal(ctx context.Context, p *part) error {
	n := int(p.to - p.from)
	w.global = slices.Grow(w.global[:0], n)[:n]
	clear(w.global)
	for _, l := range w.lists {
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				return err
			}
			docs, tfs, again, err := l.take(uint32(p.to - 1))
			if err != nil {
				return err
			}
			for i, x := range docs {
				w.global[uint64(x)-p.from] += plan.Contribution(l.weight, tfs[i])
			}
			if more = again; more {
				if err := l.decode(); err != nil {
					return err
				}
			}
		}
	}
	for i, score := range w.global {
		if score > 0 && (w.filter == nil || w.filter.Has(uint32(p.from)+uint32(i))) {
			w.best.add(makeKey(score, uint32(p.from)+uint32(i)))
		}
	}
	return nil
}
