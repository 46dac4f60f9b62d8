package rank

import (
	"context"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// andLen is the number of documents of a ranked AND that go through the lists together.
const andLen = 256

// candidates are ascending documents with the sums of the contributions of the lists
// searched so far.
type candidates struct {
	docs, sums     []uint32
	at, freqs, tfs []uint32 // in one list: index, frequency less one, and component of each document
}

// and ranks the documents of p that all lists contain. The documents of the shortest list
// are looked up in the next lists, as for a boolean AND, whose frequencies are read for matches
// alone (Ding et al. 2009, section 8.2). A document is dropped once its sum and
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
	for _, l := range w.lists {
		l.setCaps()
	}
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
	all, found := &w.lead, &w.matches
	all.grow()
	found.grow()
	if err := all.read(lead, end, least, rest); err != nil {
		return err
	}
	docs := all.docs
	for _, p := range w.probers {
		n, err := p.Filter(found.docs, docs, w.scattered)
		if err != nil {
			return lookup.Named(p.Handle, err)
		}
		docs = found.docs[:n]
	}
	if len(w.probers) == 0 {
		copy(found.docs, docs)
	}
	found.cut(w.promising(found.docs[:len(docs)], least))
	for i, n := 0, 0; n < len(found.docs); i++ { // found is a subsequence of all
		if all.docs[i] == found.docs[n] {
			found.sums[n], found.freqs[n] = all.sums[i], all.freqs[i]
			n++
		}
	}
	if lead.tfs == nil {
		found.rate(lead, least, rest)
	}
	return nil
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

// read sets c to the postings of l up to index end that can exceed least with rest: with their
// contributions, or with their frequencies if l has no table of components.
func (c *candidates) read(l *reader, end int, least, rest uint32) error {
	docs := l.docs[l.at:end]
	if l.tfs != nil {
		c.exceed(docs, l.tfs[l.at:end], uint64(l.weight), least, rest)
		return nil
	}
	few := int64(0) // frequencies less one below it are too few, whatever the length of the document
	for few < smallFreqs && l.caps[few]+rest <= least {
		few++
	}
	n := 0
	for at := l.start + l.at; len(docs) > 0; {
		if err := l.load(at / codec.SegmentLen); err != nil {
			return err
		}
		freqs := l.buf[at%codec.SegmentLen:]
		freqs = freqs[:min(len(freqs), len(docs))]
		n += above(c.docs[n:], c.freqs[n:], docs, freqs, few-1)
		docs, at = docs[len(freqs):], at+len(freqs)
	}
	c.cut(n)
	clear(c.sums)
	return nil
}

// above copies the docs with frequencies above few and returns their number.
func above(keptDocs, keptFreqs, docs, freqs []uint32, few int64) (n int) {
	docs, keptFreqs = docs[:len(freqs)], keptFreqs[:len(keptDocs)]
	for i, f := range freqs {
		keptDocs[n], keptFreqs[n] = docs[i], f
		n += int(uint64(few-int64(f)) >> 63)
	}
	return n
}

// exceed sets c to the postings whose contribution with rest exceeds least.
func (c *candidates) exceed(docs, tfs []uint32, weight uint64, least, rest uint32) {
	n := 0
	tfs = tfs[:len(docs)]
	for i, x := range docs {
		sum := contribution(weight, tfs[i])
		c.docs[n], c.sums[n] = x, sum
		n += more(sum+rest, least)
	}
	c.cut(n)
}

// frequent drops the documents that cannot exceed least with rest, whatever their length, by their
// frequency in l. Lengths are seldom in a near cache.
func (c *candidates) frequent(l *reader, least, rest uint32) {
	n, docs, sums := 0, c.docs, c.sums[:len(c.docs)]
	freqs := c.freqs[:len(docs)]
	for i, f := range freqs {
		x, sum := docs[i], sums[i]
		docs[n], sums[n], freqs[n] = x, sum, f
		n += more(sum+l.caps[min(f, smallFreqs)]+rest, least)
	}
	c.cut(n)
}

// rate adds the contributions of l, from c.freqs, to the sums.
func (c *candidates) rate(l *reader, least, rest uint32) {
	l.components.of(c.tfs, c.docs, c.freqs)
	c.add(uint64(l.weight), least, rest)
}

// add adds the contributions of c.tfs to the sums. It drops the documents without a component, and
// the documents that cannot exceed least with rest.
func (c *candidates) add(weight uint64, least, rest uint32) {
	n, docs, sums := 0, c.docs, c.sums[:len(c.docs)]
	for i, tf := range c.tfs[:len(docs)] {
		x, sum := docs[i], sums[i]+contribution(weight, tf)
		docs[n], sums[n] = x, sum
		n += more(tf, 0) & more(sum+rest, least)
	}
	c.cut(n)
}

// cut drops the candidates from index n on.
func (c *candidates) cut(n int) {
	c.docs, c.sums, c.at, c.freqs, c.tfs = c.docs[:n], c.sums[:n], c.at[:n], c.freqs[:n], c.tfs[:n]
}

// grow makes room for andLen candidates.
func (c *candidates) grow() {
	for _, p := range []*[]uint32{&c.docs, &c.sums, &c.at, &c.freqs, &c.tfs} {
		*p = slices.Grow((*p)[:0], andLen)[:andLen]
	}
}

// keep adds the contributions of l to the sums. It drops the documents that l lacks, and
// the documents that cannot exceed least with rest, the greatest contribution of the lists
// after l.
func (c *candidates) keep(l *reader, least, rest uint32) error {
	if l.tfs != nil {
		for i, x := range c.docs {
			c.tfs[i] = l.table.find(x)
		}
		c.add(uint64(l.weight), least, rest)
		return nil
	}
	if l.bits.Ranks != nil {
		l.bits.RankAll(c.at, c.docs) // its prober has dropped the documents that it lacks
	} else if err := c.find(l); err != nil {
		return err
	}
	if err := l.freqsAt(c.freqs, c.at); err != nil {
		return err
	}
	c.frequent(l, least, rest)
	c.rate(l, least, rest)
	return nil
}

// find sets c.at to the indexes of the documents in l, and drops the documents that l lacks.
func (c *candidates) find(l *reader) error {
	n := 0
	for i, x := range c.docs {
		at, found, err := l.index(x)
		if err != nil {
			return err
		}
		if found {
			c.docs[n], c.sums[n], c.at[n] = x, c.sums[i], uint32(at)
			n++
		}
	}
	c.cut(n)
	return nil
}

// contribution is plan.Contribution of a weight in 64 bits.
func contribution(weight uint64, tf uint32) uint32 {
	return uint32((weight*uint64(tf) + 1<<32 - 1) >> 32)
}

// more is 1 if a > b, else 0.
func more(a, b uint32) int { return int(uint64(int64(b)-int64(a)) >> 63) }
