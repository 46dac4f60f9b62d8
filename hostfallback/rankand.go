package hostfallback

import (
	"context"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// andLen is the number of candidates of a ranked AND that go through the lists
// together, so that they stay in the first-level cache.
const andLen = 1024

// candidates are documents, ascending, with the sum of what the lists that they
// were looked up in contribute.
type candidates struct{ docs, sums []uint32 }

// and ranks the documents of p that all lists have: those of the shortest list are
// looked up in the others, and only the frequencies of what is found are read
// (Ding et al. 2009, section 8.2). It drops candidates that cannot be among the
// best whatever the lists to come contribute.
func (w *ranker) and(ctx context.Context, p *rankPart) error {
	rest := uint32(0) // what the lists after the first contribute at most
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
		p.tell(&w.best)
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

// lead makes candidates of the next postings of l, up to document last, but for
// those that cannot pass least with what the other lists contribute, rest.
func (c candidates) lead(l *rankList, last, least, rest uint32) (candidates, error) {
	n := 0
	end := min(l.at+len(c.docs), len(l.docs))
	if l.docs[end-1] > last {
		end = l.at + lookup.LowerBound(l.docs[l.at:end], last)
		end += lookup.Equal(l.docs[end], last)
	}
	weight := uint64(l.weight)
	shares := l.shares[l.at:end]
	for i, x := range l.docs[l.at:end] {
		c.docs[n], c.sums[n] = x, contribution(weight, shares[i])
		n += more(c.sums[n]+rest, least)
	}
	l.at = end
	if l.at < len(l.docs) {
		return candidates{c.docs[:n], c.sums[:n]}, nil
	}
	return candidates{c.docs[:n], c.sums[:n]}, l.decode()
}

// keep drops the candidates that l does not have, and those that cannot pass least
// with what the lists after it contribute, rest.
func (c candidates) keep(l *rankList, least, rest uint32) (candidates, error) {
	n := 0
	if l.plain {
		weight, t := uint64(l.weight), l.table
		for i, x := range c.docs {
			share := t.find(x)
			sum := c.sums[i] + contribution(weight, share)
			c.docs[n], c.sums[n] = x, sum
			n += more(share, 0) & more(sum+rest, least)
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
		sum := c.sums[i] + plan.Contribution(l.weight, l.shares[l.at])
		c.docs[n], c.sums[n] = x, sum
		n += more(sum+rest, least)
	}
	return candidates{c.docs[:n], c.sums[:n]}, nil
}

// contribution is plan.Contribution of a weight that was widened before.
func contribution(weight uint64, share uint32) uint32 {
	return uint32((weight*uint64(share) + 1<<32 - 1) >> 32)
}

// more is 1 if a > b, else 0.
func more(a, b uint32) int { return int(uint64(int64(b)-int64(a)) >> 63) }
