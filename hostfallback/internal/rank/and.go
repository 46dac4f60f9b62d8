package rank

import (
	"context"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// andLen is the number of documents of the driving list that are looked up together in the next lists.
const andLen = 256

// candidateSet holds ascending documents with the sums of the contributions of the lists
// searched so far.
type candidateSet struct {
	docs, sums     []uint32
	at, freqs, tfs []uint32 // by document: its index, frequency less one and component in the list that is searched
}

// and ranks the documents of p that all lists contain. The documents of the driving list, the shortest one,
// are looked up in the next lists as for a boolean AND. Frequencies of the next lists are read for matches
// alone (Ding et al. 2009, section 8.2). A document is dropped once its sum and the upper bounds of the
// remaining lists do not exceed the threshold.
func (w *worker) and(ctx context.Context, aux *lookup.Auxiliary, p *part) error {
	if err := w.openProbers(aux); err != nil {
		return err
	}
	driving := w.lists[0]
	for driving.at < len(driving.docs) && uint64(driving.docs[driving.at]) < p.to {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.shareThreshold(&w.best)
		end := min(driving.at+andLen, len(driving.docs))
		if last := uint32(p.to - 1); driving.docs[end-1] > last {
			end = driving.at + docset.LowerBound(driving.docs[driving.at:end], last)
			end += docset.Equal(driving.docs[end], last)
		}
		if err := w.andStep(driving, end); err != nil {
			return err
		}
		driving.at = end
		if err := driving.decode(); err != nil {
			return err
		}
	}
	return nil
}

// andStep ranks the documents of the driving list up to index end that all lists contain.
func (w *worker) andStep(driving *reader, end int) error {
	restBound := uint32(0) // sum of the upper bounds of the lists that are not searched yet
	for _, l := range w.lists {
		l.upperBound = l.rangeBound(driving.docs[driving.at], driving.docs[end-1])
		restBound += l.upperBound
	}
	threshold := w.best.threshold.score()
	if restBound <= threshold {
		return nil
	}
	restBound -= driving.upperBound
	if err := w.match(driving, end, threshold, restBound); err != nil {
		return err
	}
	for _, l := range w.lists[1:] {
		restBound -= l.upperBound
		if err := w.matches.keep(l, threshold, restBound); err != nil {
			return err
		}
	}
	for i, x := range w.matches.docs {
		w.best.add(makeKey(w.matches.sums[i], x))
	}
	return nil
}

// openProbers opens a prober for the filter, and for each list after the first whose docIDs or
// bits are in memory. candidateSet.keep searches the remaining lists.
func (w *worker) openProbers(aux *lookup.Auxiliary) error {
	for _, l := range w.lists {
		l.setFreqBounds()
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

// prober appends a prober to w.probers and returns it.
func (w *worker) prober() *lookup.Prober {
	n := len(w.probers)
	if w.probers = slices.Grow(w.probers, 1)[:n+1]; w.probers[n] == nil {
		w.probers[n] = new(lookup.Prober)
	}
	return w.probers[n]
}

// match sets w.matches to the documents of the driving list up to index end that all probers let pass, with
// their contributions. It drops documents that cannot exceed threshold with restBound, the sum of the upper bounds
// of the next lists.
func (w *worker) match(driving *reader, end int, threshold, restBound uint32) error {
	all, found := &w.drivers, &w.matches
	all.grow()
	found.grow()
	if err := all.read(driving, end, threshold, restBound); err != nil {
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
	found.cut(w.promising(found.docs[:len(docs)], threshold))
	for i, n := 0, 0; n < len(found.docs); i++ { // found is a subsequence of all
		if all.docs[i] == found.docs[n] {
			found.sums[n], found.freqs[n] = all.sums[i], all.freqs[i]
			n++
		}
	}
	if driving.tfs == nil {
		found.rate(driving, threshold, restBound)
	}
	return nil
}

// promising moves the docs whose upper bound exceeds threshold to the front, and returns their number. It adds up
// the fine maxima of all lists, which are near each other in memory, unlike components and lengths.
func (w *worker) promising(docs []uint32, threshold uint32) (n int) {
	if threshold == 0 {
		return len(docs)
	}
	bounds := w.scoreBounds[:len(docs)]
	clear(bounds)
	unrefined := uint64(0) // sum of the upper bounds of the lists without fine maxima
	for _, l := range w.lists {
		if l.table == nil || l.table.fineMaxima == nil {
			unrefined += uint64(l.upperBound)
			continue
		}
		maxima, shift, unit := l.table.fineMaxima, l.table.fineShift&31, fineUnit(l.weight)
		for i, x := range docs {
			if at := int(x >> shift); at < len(maxima) {
				bounds[i] += unit * uint64(maxima[at])
			}
		}
	}
	for i, x := range docs {
		docs[n] = x
		n += int(uint64(int64(threshold)-int64(unrefined+bounds[i])) >> 63)
	}
	return n
}

// read sets c to the postings of l up to index end that can exceed threshold with restBound: with their
// contributions, or with their frequencies if l has no stored components.
func (c *candidateSet) read(l *reader, end int, threshold, restBound uint32) error {
	docs := l.docs[l.at:end]
	if l.tfs != nil {
		c.exceed(docs, l.tfs[l.at:end], uint64(l.weight), threshold, restBound)
		return nil
	}
	minFreq := int64(0) // frequency less one that a document needs to pass the threshold, however short it is
	for minFreq < smallFreqs && l.freqBounds[minFreq]+restBound <= threshold {
		minFreq++
	}
	n := 0
	for at := l.start + l.at; len(docs) > 0; {
		if err := l.load(at / codec.SegmentLen); err != nil {
			return err
		}
		freqs := l.freqBuf[at%codec.SegmentLen:]
		freqs = freqs[:min(len(freqs), len(docs))]
		n += above(c.docs[n:], c.freqs[n:], docs, freqs, minFreq-1)
		docs, at = docs[len(freqs):], at+len(freqs)
	}
	c.cut(n)
	clear(c.sums)
	return nil
}

// above copies the docs with frequencies greater than minFreq, and these frequencies, and returns their number.
func above(keptDocs, keptFreqs, docs, freqs []uint32, minFreq int64) (n int) {
	docs, keptFreqs = docs[:len(freqs)], keptFreqs[:len(keptDocs)]
	for i, f := range freqs {
		keptDocs[n], keptFreqs[n] = docs[i], f
		n += int(uint64(minFreq-int64(f)) >> 63)
	}
	return n
}

// exceed sets c to the postings whose contribution and restBound add up to more than threshold.
func (c *candidateSet) exceed(docs, tfs []uint32, weight uint64, threshold, restBound uint32) {
	n := 0
	tfs = tfs[:len(docs)]
	for i, x := range docs {
		sum := contribution(weight, tfs[i])
		c.docs[n], c.sums[n] = x, sum
		n += greater(sum+restBound, threshold)
	}
	c.cut(n)
}

// frequent drops the documents whose frequency in l is too low to exceed threshold with restBound, however short
// they are. It reads no document lengths, which are seldom in a near cache.
func (c *candidateSet) frequent(l *reader, threshold, restBound uint32) {
	n, docs, sums := 0, c.docs, c.sums[:len(c.docs)]
	freqs := c.freqs[:len(docs)]
	for i, f := range freqs {
		x, sum := docs[i], sums[i]
		docs[n], sums[n], freqs[n] = x, sum, f
		n += greater(sum+l.freqBounds[min(f, smallFreqs)]+restBound, threshold)
	}
	c.cut(n)
}

// rate computes the components of c.freqs in l and adds their contributions, like add.
func (c *candidateSet) rate(l *reader, threshold, restBound uint32) {
	l.components.fill(c.tfs, c.docs, c.freqs)
	c.add(uint64(l.weight), threshold, restBound)
}

// add adds the contributions of c.tfs to the sums. It drops the documents without a component, and
// the documents that cannot exceed threshold with restBound.
func (c *candidateSet) add(weight uint64, threshold, restBound uint32) {
	n, docs, sums := 0, c.docs, c.sums[:len(c.docs)]
	for i, tf := range c.tfs[:len(docs)] {
		x, sum := docs[i], sums[i]+contribution(weight, tf)
		docs[n], sums[n] = x, sum
		n += greater(tf, 0) & greater(sum+restBound, threshold)
	}
	c.cut(n)
}

// cut drops the candidates from index n on.
func (c *candidateSet) cut(n int) {
	c.docs, c.sums, c.at, c.freqs, c.tfs = c.docs[:n], c.sums[:n], c.at[:n], c.freqs[:n], c.tfs[:n]
}

// grow makes room for andLen candidates.
func (c *candidateSet) grow() {
	for _, p := range []*[]uint32{&c.docs, &c.sums, &c.at, &c.freqs, &c.tfs} {
		*p = slices.Grow((*p)[:0], andLen)[:andLen]
	}
}

// keep adds the contributions of l to the sums. It drops the documents that l lacks, and
// the documents that cannot exceed threshold with restBound, the sum of the upper bounds of the lists
// after l.
func (c *candidateSet) keep(l *reader, threshold, restBound uint32) error {
	if l.tfs != nil {
		for i, x := range c.docs {
			c.tfs[i] = l.table.find(x)
		}
		c.add(uint64(l.weight), threshold, restBound)
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
	c.frequent(l, threshold, restBound)
	c.rate(l, threshold, restBound)
	return nil
}

// find sets c.at to the indexes of the documents in l, and drops the documents that l lacks.
func (c *candidateSet) find(l *reader) error {
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

// greater is 1 if a > b, else 0.
func greater(a, b uint32) int { return int(uint64(int64(b)-int64(a)) >> 63) }
