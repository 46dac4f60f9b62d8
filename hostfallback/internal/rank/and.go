package rank

import (
	"context"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// andLen is the number of candidates of a ranked AND that go through the lists together
// and stay in the first-level cache.
const andLen = 1024

// candidates are ascending documents with the sums of the contributions of the lists
// searched so far.
type candidates struct{ docs, sums []uint32 }

// and ranks the documents of p that all lists contain: the documents of the shortest
// list are looked up in the next lists, and only the frequencies of hits are read (Ding
// et al. 2009, section 8.2). A candidate is dropped once its sum and the greatest
// contributions of the remaining lists cannot reach the best.
func (w *worker) and(ctx context.Context, p *part) error {
	rest := uint32(0) // the greatest contribution of all lists after the first
	for _, l := range w.lists[1:] {
		rest += l.most()
	}
	w.candidates.docs = slices.Grow(w.candidates.docs[:0], andLen)[:andLen]
	w.candidates.sums = slices.Grow(w.candidates.sums[:0], andLen)[:andLen]
	lead := w.lists[0]
	for lead.at < len(lead.docs) && uint64(lead.docs[lead.at]) < p.to {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.exchange(&w.best)
		c, err := w.candidates.lead(lead, uint32(p.to-1), w.best.least.score(), rest)
		left := rest
		for _, l := range w.lists[1:] {
			if err != nil {
				return err
			}
			if len(c.docs) == 0 {
				break
			}
			left -= l.most()
			c, err = c.keep(l, w.best.least.score(), left)
		}
		if err != nil {
			return err
		}
		for i, x := range c.docs {
			w.best.add(makeKey(c.sums[i], x))
		}
	}
	return nil
}

// lead makes candidates of the next postings of l up to document last, except for
// postings that cannot exceed least with rest, the greatest contribution of the
// remaining lists.
func (c candidates) lead(l *reader, last, least, rest uint32) (candidates, error) {
	n := 0
	end := min(l.at+len(c.docs), len(l.docs))
	if l.docs[end-1] > last {
		end = l.at + lookup.LowerBound(l.docs[l.at:end], last)
		end += lookup.Equal(l.docs[end], last)
	}
	weight := uint64(l.weight)
	tfs := l.tfs[l.at:end]
	for i, x := range l.docs[l.at:end] {
		c.docs[n], c.sums[n] = x, contribution(weight, tfs[i])
		n += more(c.sums[n]+rest, least)
	}
	l.at = end
	if l.at < len(l.docs) {
		return candidates{c.docs[:n], c.sums[:n]}, nil
	}
	return candidates{c.docs[:n], c.sums[:n]}, l.decode()
}

// keep drops the candidates that l lacks, and the candidates that cannot exceed least
// with rest, the greatest contribution of the lists after l.
func (c candidates) keep(l *reader, least, rest uint32) (candidates, error) {
	n := 0
	if l.plain {
		weight, t := uint64(l.weight), l.table
		for i, x := range c.docs {
			tf := t.find(x)
			sum := c.sums[i] + contribution(weight, tf)
			c.docs[n], c.sums[n] = x, sum
			n += more(tf, 0) & more(sum+rest, least)
		}
		return candidates{c.docs[:n], c.sums[:n]}, nil
	}
	for i, x := range c.docs {
		if err := l.seek(x); err != nil {
			return c, err
		}
		if l.at == len(l.docs) {
			break
		}
		if l.docs[l.at] != x {
			continue
		}
		sum := c.sums[i] + plan.Contribution(l.weight, l.tfs[l.at])
		c.docs[n], c.sums[n] = x, sum
		n += more(sum+rest, least)
	}
	return candidates{c.docs[:n], c.sums[:n]}, nil
}

// contribution is plan.Contribution of a weight in 64 bits.
func contribution(weight uint64, tf uint32) uint32 {
	return uint32((weight*uint64(tf) + 1<<32 - 1) >> 32)
}

// more is 1 if a > b, else 0.
func more(a, b uint32) int { return int(uint64(int64(b)-int64(a)) >> 63) }
