package rank

import (
	"cmp"
	"context"
	"math"
	"slices"

	"heddle/engine/plan"
)

// The sizes of the ranges of a ranked OR: minRange documents, whose scores take 16 KiB,
// and up to maxRange documents for few postings, because each range has a fixed cost.
const (
	minRangeShift = 12
	minRange      = 1 << minRangeShift
	maxRange      = 1 << 16
	rangeLoad     = 128 // postings of a list that pay for a range
)

// rangeSize returns the number of documents in a range, for a number of lists with the given total of
// postings among docs documents.
func rangeSize(postings, lists, docs uint64) uint64 {
	size := uint64(minRange)
	for size < maxRange && postings*size < rangeLoad*lists*docs {
		size *= 2
	}
	return size
}

// never is the next document of a list that has ended: it is behind all documents.
const never = math.MaxUint64

// or ranks the documents of p that any list contains.
func (w *worker) or(ctx context.Context, src *plan.Source, k int, p *part) error {
	postings := uint64(0)
	for _, l := range w.lists {
		postings += uint64(src.Lists[l.handle].Len)
		if l.table != nil && w.filter == nil {
			w.best.raise(plan.Contribution(l.weight, l.table.floor(k)))
		}
	}
	if w.filter != nil && p.threshold.Load() == 0 {
		w.raiseFiltered(k)
	}
	slices.SortFunc(w.lists, func(a, b *reader) int { return cmp.Compare(a.listBound(), b.listBound()) })
	size := rangeSize(postings, uint64(len(w.lists)), uint64(src.Docs))
	w.candidates = slices.Grow(w.candidates[:0], maxRange+1)
	for base := p.from; ; {
		if base = w.skip(base, p.to, size); base >= p.to {
			return nil
		}
		next := uint64(never)
		for _, l := range w.lists {
			next = min(next, l.ahead(base))
		}
		if next >= p.to {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		p.shareThreshold(&w.best)
		base = max(base, next&^(size-1))
		if w.filter != nil {
			if found := w.filter.Next(base); found > base|(size-1) { // no document of the range passes
				base = found &^ (size - 1)
				continue
			}
		}
		last := min(base|(size-1), p.to-1)
		if err := w.orRange(uint32(base), uint32(last), uint16(size-1)); err != nil {
			return err
		}
		base = last + 1
	}
}

// skip returns the first document of the next range, from the range at base on, in which the upper bounds of
// the lists add up to more than the threshold. Unlike postings, the bounds of all ranges are near each other
// in memory.
func (w *worker) skip(base, to, size uint64) uint64 {
	for threshold := w.best.threshold.score(); threshold > 0 && base < to; {
		last, upperBound := uint32(min(base|(size-1), to-1)), uint64(0)
		for _, l := range w.lists {
			upperBound += uint64(l.rangeBound(uint32(base), last))
		}
		if upperBound > uint64(threshold) {
			break
		}
		base = uint64(last) + 1
	}
	return base
}

// orRange ranks the documents from base to last by MaxScore (Turtle and Flood 1995). It adds up the essential
// lists first, and looks up in the non-essential lists only the candidates: documents whose score can still
// exceed the threshold.
func (w *worker) orRange(base, last uint32, mask uint16) error {
	w.active = w.active[:0]
	upperBound := uint64(0)
	for _, l := range w.lists {
		if l.enter(base, last) {
			upperBound += uint64(l.upperBound)
			w.active = append(w.active, l)
		}
	}
	threshold := w.best.threshold.score()
	if upperBound <= uint64(threshold) {
		for _, l := range w.active {
			l.leave()
		}
		return nil
	}
	for i := range w.active { // nearly in order, because w.lists are
		for j := i; j > 0 && w.active[j].upperBound < w.active[j-1].upperBound; j-- {
			w.active[j], w.active[j-1] = w.active[j-1], w.active[j]
		}
	}
	nonEssentialBound, nonEssential := uint32(0), 0 // sum of the upper bounds, and number of lists
	for nonEssential < len(w.active) && nonEssentialBound+w.active[nonEssential].upperBound <= threshold {
		nonEssentialBound += w.active[nonEssential].upperBound
		nonEssential++
	}
	essential := w.active[nonEssential:]
	// With few postings all documents are candidates: resetting their scores takes less time
	// than clearing all scores.
	postings, packed := 0, 0 // in all lists, and in lists without components
	for _, l := range essential {
		postings += l.rangePostings
		if l.tfs == nil {
			packed += l.rangePostings
		}
	}
	sparse := postings < int(mask)/64
	dirty := false // documents that are no candidates may have scores
	add := func(l *reader, base, last, threshold uint32) error {
		if sparse {
			threshold = 0
		}
		dirty = !sparse
		return w.add(l, base, last, mask, threshold)
	}
	w.runs = append(w.runs[:0], run{base, last})
	if int(mask)+1 == minRange && packed > runsLoad {
		w.findRuns(essential, base, last, threshold-nonEssentialBound)
	}
	for _, r := range w.runs {
		if len(essential) == 1 {
			if err := w.pick(essential[0], r, mask, threshold-nonEssentialBound); err != nil {
				return err
			}
			continue
		}
		for _, l := range essential {
			if err := add(l, r.first, r.last, threshold-nonEssentialBound); err != nil {
				return err
			}
		}
	}
	for _, l := range essential {
		l.leave()
	}
	from := base &^ uint32(mask)
	if w.filter != nil {
		w.filterCandidates(from)
	}
	if len(essential) == 1 && essential[0].tfs == nil {
		w.rate(essential[0], from, threshold-nonEssentialBound)
	}
	for i := nonEssential - 1; i >= 0; i-- {
		l := w.active[i]
		switch {
		case len(w.candidates) == 0:
		case l.lookUpPays(len(w.candidates)):
			if err := w.complete(l, base, mask, threshold, nonEssentialBound); err != nil {
				return err
			}
		case l.tfs == nil:
			if err := w.scan(l, base, last, mask, threshold, nonEssentialBound); err != nil {
				return err
			}
		default:
			if err := add(l, base, last, math.MaxUint32); err != nil {
				return err
			}
		}
		l.leave()
		nonEssentialBound -= l.upperBound
	}
	for _, d := range w.candidates {
		score := w.scores[d]
		w.scores[d] = 0
		if sparse && w.filter != nil && !w.filter.Has(from+uint32(d)) { // a candidate of a non-essential list
			continue
		}
		if score > threshold {
			w.best.add(makeKey(score, from+uint32(d)))
		}
	}
	w.candidates = w.candidates[:0]
	if dirty {
		clear(w.scores[:int(mask)+1])
	}
	return nil
}

// add adds the contributions of l to the scores of the documents from base to last. A document whose
// score passes threshold becomes a candidate.
func (w *worker) add(l *reader, base, last uint32, mask uint16, threshold uint32) error {
	if err := l.seek(base); err != nil {
		return err
	}
	weight := uint64(l.weight)
	for again := true; again; {
		var docs, tfs []uint32
		var err error
		if docs, tfs, again, err = l.take(last); err != nil {
			return err
		}
		tfs = tfs[:len(docs)]
		if threshold == math.MaxUint32 {
			for i, x := range docs {
				w.scores[uint16(x)&mask] += contribution(weight, tfs[i])
			}
		} else {
			n, candidates := len(w.candidates), w.candidates[:cap(w.candidates)]
			for i, x := range docs { // a branch would be mispredicted
				d := uint16(x) & mask
				before := w.scores[d]
				after := before + contribution(weight, tfs[i])
				w.scores[d] = after
				candidates[n] = d
				n += greater(after, threshold) - greater(before, threshold)
			}
			w.candidates = candidates[:n]
		}
		if again {
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// run is the documents from first to last.
type run struct{ first, last uint32 }

// runsLoad is the number of postings without components in a range that pay for findRuns.
const runsLoad = 256

// findRuns sets w.runs to the documents from base to last whose upper bound exceeds threshold: it adds
// up the fine maxima of the essential lists for every 64 documents. base is a multiple of minRange, and there
// are at most minRange documents.
func (w *worker) findRuns(essential []*reader, base, last, threshold uint32) {
	var bounds [minRange >> minFineShift]uint64
	for _, l := range essential {
		if l.table == nil || l.table.fineMaxima == nil {
			return
		}
		maxima, shift := l.table.fineMaxima[base>>l.table.fineShift:], l.table.fineShift-minFineShift
		unit := fineUnit(l.weight)
		for i := range bounds {
			if at := i >> shift; at < len(maxima) {
				bounds[i] += unit * uint64(maxima[at])
			}
		}
	}
	w.runs = w.runs[:0]
	for i := 0; i < len(bounds); i++ {
		if bounds[i] <= uint64(threshold) {
			continue
		}
		first := i
		for i++; i < len(bounds) && bounds[i] > uint64(threshold); i++ {
		}
		if from := base + uint32(first)<<minFineShift; from <= last {
			w.runs = append(w.runs, run{from, min(base+uint32(i)<<minFineShift-1, last)})
		}
	}
}

// fineUnit returns the contribution to a score that stands for one unit of a fine bound.
func fineUnit(weight uint32) uint64 { return uint64(weight/greatestFine) + 1 }

// scan is complete in the order of the list, for a list without stored components. It computes the components
// of documents whose score can exceed threshold.
func (w *worker) scan(l *reader, base, last uint32, mask uint16, threshold, restBound uint32) error {
	if err := l.seek(base); err != nil {
		return err
	}
	for more := true; more; {
		docs, freqs, again, err := l.takeFreqs(last)
		if err != nil {
			return err
		}
		for i, x := range docs {
			if score := &w.scores[uint16(x)&mask]; *score > 0 && *score+restBound > threshold {
				*score += plan.Contribution(l.weight, l.components.at(x, freqs[i]))
			}
		}
		if more = again; more {
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// complete looks up in l the candidates whose score can exceed threshold. restBound is the sum of the upper bounds
// of l and of the non-essential lists after it.
func (w *worker) complete(l *reader, base uint32, mask uint16, threshold, restBound uint32) error {
	from := base &^ uint32(mask)
	if l.tfs != nil {
		for _, d := range w.candidates {
			if score := w.scores[d]; score+restBound > threshold {
				w.scores[d] = score + plan.Contribution(l.weight, l.table.find(from+uint32(d)))
			}
		}
		return nil
	}
	slices.Sort(w.candidates) // the order of the list
	for _, d := range w.candidates {
		if score := w.scores[d]; score+restBound > threshold {
			tf, err := l.find(from + uint32(d))
			if err != nil {
				return err
			}
			w.scores[d] = score + plan.Contribution(l.weight, tf)
		}
	}
	return nil
}
