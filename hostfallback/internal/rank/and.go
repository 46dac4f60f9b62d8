package rank

import (
	"context"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// andLen is the number of documents of a ranked AND that go through the lists together.
const andLen = 256

// candidates are ascending documents with the sums of the contributions of the lists
// searched so far.
type candidates struct{ docs, sums []uint32 }

// and ranks the documents of p that all lists contain. The documents of the shortest list
// are looked up in the next lists, as for a boolean AND, and only the frequencies of
// matches are read (Ding et al. 2009, section 8.2). A document is dropped once its sum and
// the greatest contributions of the remaining lists cannot reach the best.
func (w *worker) and(ctx context.Context, aux *lookup.Auxiliary, p *part) error {
	if err := w.openProbers(aux); err != nil {
		return err
	}
	lead := w.lists[0]
	for lead.at < len(lead.docs) && uint64(lead.docs[lead.at]) < p.to {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.exchange(&w.best)
		end := min(lead.at+andLen, len(lead.docs))
		if last := uint32(p.to - 1); lead.docs[end-1] > last {
			end = lead.at + lookup.LowerBound(lead.docs[lead.at:end], last)
			end += lookup.Equal(lead.docs[end], last)
		}
		if err := w.andStep(lead, end); err != nil {
			return err
		}
		lead.at = end
		if err := lead.decode(); err != nil {
			return err
		}
	}
	return nil
}

// andStep ranks the documents of lead up to index end that all lists contain.
func (w *worker) andStep(lead *reader, end int) error {
	rest := uint32(0) // the greatest contribution of all lists after the first
	for _, l := range w.lists {
		l.bound = l.mostIn(lead.docs[lead.at], lead.docs[end-1])
		rest += l.bound
	}
	least := w.best.least.score()
	if rest <= least {
		return nil
	}
	rest -= lead.bound
	if err := w.match(lead, end, least, rest); err != nil {
		return err
	}
	for _, l := range w.lists[1:] {
		rest -= l.bound
		if err := w.matches.keep(l, least, rest); err != nil {
			return err
		}
	}
	for i, x := range w.matches.docs {
		w.best.add(makeKey(w.matches.sums[i], x))
	}
	return nil
}

// openProbers opens a prober for the filter, and for each list after the first whose docIDs or
// bits are in memory. keep filters by the remaining lists.
func (w *worker) openProbers(aux *lookup.Auxiliary) error {
	w.probers = w.probers[:0]
	if w.filter != nil {
		w.prober().OpenBits(w.filter.Words)
	}
	for _, l := range w.lists[1:] {
		prepared := aux.Prepared(l.handle)
		if prepared == nil || prepared.Bits == nil && prepared.Docs == nil {
			continue
		}
		if err := w.prober().Open(aux, plan.Auto, l.handle, prepared, w.lists[0].length); err != nil {
			return err
		}
	}
	w.scattered = false
	if prepared := aux.Prepared(w.lists[0].handle); prepared != nil {
		w.scattered = prepared.Scattered
	}
	return nil
}

// prober returns one more prober.
func (w *worker) prober() *lookup.Prober {
	n := len(w.probers)
	if w.probers = slices.Grow(w.probers, 1)[:n+1]; w.probers[n] == nil {
		w.probers[n] = new(lookup.Prober)
	}
	return w.probers[n]
}

// match sets w.matches to the documents of lead up to index end that the lists with
// probers contain, with the contributions of lead. It drops documents that cannot exceed
// least with rest, the greatest contribution of the lists after lead.
func (w *worker) match(lead *reader, end int, least, rest uint32) error {
	w.lead.grow()
	w.matches.grow()
	docs := lead.docs[lead.at:end]
	var sums []uint32
	if lead.tfs != nil {
		docs, sums = w.lead.exceed(docs, lead.tfs[lead.at:end], lead.weight, least, rest), w.lead.sums
	}
	all, found := docs, w.matches.docs[:len(docs)]
	for _, p := range w.probers {
		n, err := p.Filter(found, docs, w.scattered)
		if err != nil {
			return lookup.Named(p.Handle, err)
		}
		docs = found[:n]
	}
	if len(w.probers) == 0 {
		copy(found, docs)
	}
	found = found[:w.promising(found[:len(docs)], least)]
	return w.matches.rate(lead, all, found, sums, least, rest)
}

// promising moves the docs to the front whose score can exceed least, and returns their number. It adds up
// the fine bounds of all lists, which are near each other in memory, unlike components and lengths.
func (w *worker) promising(docs []uint32, least uint32) (n int) {
	if least == 0 {
		return len(docs)
	}
	sums := w.bounds[:len(docs)]
	clear(sums)
	total := uint64(0) // of the lists without fine bounds
	for _, l := range w.lists {
		if l.table == nil || l.table.fine == nil {
			total += uint64(l.bound)
			continue
		}
		fine, shift, unit := l.table.fine, l.table.fineStep&31, fineUnit(l.weight)
		for i, x := range docs {
			if at := int(x >> shift); at < len(fine) {
				sums[i] += unit * uint64(fine[at])
			}
		}
	}
	for i, x := range docs {
		docs[n] = x
		n += int(uint64(int64(least)-int64(total+sums[i])) >> 63)
	}
	return n
}

// rate sets c to the documents in found, a subsequence of all, with their contributions
// in lead. sums are the contributions of all documents, or nil if lead is to compute
// them; all are then the next documents of lead. It drops the documents that cannot exceed
// least with rest. found may be memory of c.
func (c *candidates) rate(lead *reader, all, found, sums []uint32, least, rest uint32) error {
	n, at := 0, 0
	for _, x := range found {
		for all[at] != x {
			at++
		}
		sum := uint32(0)
		if sums != nil {
			sum = sums[at]
		} else {
			f, err := lead.freq(lead.at + at)
			if err != nil {
				return err
			}
			if weight := uint64(lead.weight); contribution(weight, lead.components.most(f))+rest > least {
				sum = contribution(weight, lead.components.at(x, f))
			}
		}
		c.docs[n], c.sums[n] = x, sum
		n += more(sum+rest, least)
	}
	c.docs, c.sums = c.docs[:n], c.sums[:n]
	return nil
}

// grow makes room for andLen candidates.
func (c *candidates) grow() {
	c.docs, c.sums = slices.Grow(c.docs[:0], andLen)[:andLen], slices.Grow(c.sums[:0], andLen)[:andLen]
}

// exceed sets c to the postings whose contribution with rest exceeds least, and returns
// their documents.
func (c *candidates) exceed(docs, tfs []uint32, weight, least, rest uint32) []uint32 {
	n, wide := 0, uint64(weight)
	tfs = tfs[:len(docs)]
	for i, x := range docs {
		sum := contribution(wide, tfs[i])
		c.docs[n], c.sums[n] = x, sum
		n += more(sum+rest, least)
	}
	return c.docs[:n]
}

// keep adds the contributions of l to the sums. It drops the documents that l lacks, and
// the documents that cannot exceed least with rest, the greatest contribution of the lists
// after l.
func (c *candidates) keep(l *reader, least, rest uint32) error {
	if l.tfs == nil {
		return c.keepPacked(l, least, rest)
	}
	n, weight := 0, uint64(l.weight)
	for i, x := range c.docs {
		tf := l.table.find(x)
		sum := c.sums[i] + contribution(weight, tf)
		c.docs[n], c.sums[n] = x, sum
		n += more(tf, 0) & more(sum+rest, least)
	}
	c.docs, c.sums = c.docs[:n], c.sums[:n]
	return nil
}

// keepPacked is keep without a table of components. It computes only those that can matter.
func (c *candidates) keepPacked(l *reader, least, rest uint32) error {
	n, weight := 0, uint64(l.weight)
	for i, x := range c.docs {
		found, err := l.reach(x)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		f, err := l.freq(l.at)
		if err != nil {
			return err
		}
		if sum := c.sums[i] + rest; sum+contribution(weight, l.components.most(f)) > least {
			c.docs[n], c.sums[n] = x, c.sums[i]+contribution(weight, l.components.at(x, f))
			n += more(c.sums[n]+rest, least)
		}
	}
	c.docs, c.sums = c.docs[:n], c.sums[:n]
	return nil
}

// contribution is plan.Contribution of a weight in 64 bits.
func contribution(weight uint64, tf uint32) uint32 {
	return uint32((weight*uint64(tf) + 1<<32 - 1) >> 32)
}

// more is 1 if a > b, else 0.
func more(a, b uint32) int { return int(uint64(int64(b)-int64(a)) >> 63) }
