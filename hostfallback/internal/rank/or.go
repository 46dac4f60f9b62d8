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

// rangeSize returns the size of ranges for lists with the given total of postings among
// docs documents.
func rangeSize(postings, lists, docs uint64) uint64 {
	size := uint64(minRange)
	for size < maxRange && postings*size < rangeLoad*lists*docs {
		size *= 2
	}
	return size
}

// never is a lower bound that no document reaches.
const never = math.MaxUint64

// or ranks the documents of p that any list contains.
func (w *worker) or(ctx context.Context, src *plan.Source, k int, p *part) error {
	postings := uint64(0)
	for _, l := range w.lists {
		postings += uint64(src.Lists[l.handle].Len)
		if l.table != nil && w.filter == nil {
			w.best.expect(plan.Contribution(l.weight, l.table.floor(k)))
		}
	}
	if w.filter != nil && p.floor.Load() == 0 {
		w.expectFiltered(k)
	}
	slices.SortFunc(w.lists, func(a, b *reader) int { return cmp.Compare(a.most(), b.most()) })
	size := rangeSize(postings, uint64(len(w.lists)), uint64(src.Docs))
	w.noted = slices.Grow(w.noted[:0], maxRange+1)
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
		p.exchange(&w.best)
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

// skip returns the first document of the next range, from the one at base on, in which the bounds of the
// lists exceed the best. Unlike postings, the bounds of all ranges are near each other in memory.
func (w *worker) skip(base, to, size uint64) uint64 {
	for least := w.best.least.score(); least > 0 && base < to; {
		last, total := uint32(min(base|(size-1), to-1)), uint64(0)
		for _, l := range w.lists {
			total += uint64(l.mostIn(uint32(base), last))
		}
		if total > uint64(least) {
			break
		}
		base = uint64(last) + 1
	}
	return base
}

// orRange ranks the documents from base to last. The lists with the least bounds together
// cannot bring a document among the best (MaxScore, Turtle and Flood 1995). The remaining
// lists are added up first, and only documents that can still be among the best are
// looked up in the lists with the least bounds.
func (w *worker) orRange(base, last uint32, mask uint16) error {
	w.live = w.live[:0]
	total := uint64(0)
	for _, l := range w.lists {
		if l.enter(base, last) {
			total += uint64(l.bound)
			w.live = append(w.live, l)
		}
	}
	least := w.best.least.score()
	if total <= uint64(least) {
		for _, l := range w.live {
			l.leave()
		}
		return nil
	}
	for i := range w.live { // nearly in order, because w.lists are
		for j := i; j > 0 && w.live[j].bound < w.live[j-1].bound; j-- {
			w.live[j], w.live[j-1] = w.live[j-1], w.live[j]
		}
	}
	rest, few := uint32(0), 0 // the least bounds, and how many
	for few < len(w.live) && rest+w.live[few].bound <= least {
		rest += w.live[few].bound
		few++
	}
	lead := w.live[few:]
	// With few postings all documents are noted: resetting their scores takes less time
	// than clearing all scores.
	postings, packed := 0, 0 // in all lists, and in lists without components
	for _, l := range lead {
		postings += l.postings
		if l.tfs == nil {
			packed += l.postings
		}
	}
	sparse := postings < int(mask)/64
	unnoted := false // documents that are not noted have scores
	add := func(l *reader, base, last, least uint32) error {
		if sparse {
			least = 0
		}
		unnoted = !sparse
		return w.add(l, base, last, mask, least)
	}
	w.runs = append(w.runs[:0], run{base, last})
	if int(mask)+1 == minRange && packed > runsLoad {
		w.findRuns(lead, base, last, least-rest)
	}
	for _, r := range w.runs {
		if len(lead) == 1 {
			if err := w.pick(lead[0], r, mask, least-rest); err != nil {
				return err
			}
			continue
		}
		for _, l := range lead {
			if err := add(l, r.first, r.last, least-rest); err != nil {
				return err
			}
		}
	}
	for _, l := range lead {
		l.leave()
	}
	from := base &^ uint32(mask)
	if w.filter != nil {
		w.keepNoted(from)
	}
	if len(lead) == 1 && lead[0].tfs == nil {
		w.rate(lead[0], from, least-rest)
	}
	for i := few - 1; i >= 0; i-- {
		l := w.live[i]
		switch {
		case len(w.noted) == 0:
		case l.lookUpPays(len(w.noted)):
			if err := w.complete(l, base, mask, least, rest); err != nil {
				return err
			}
		case l.tfs == nil:
			if err := w.scan(l, base, last, mask, least, rest); err != nil {
				return err
			}
		default:
			if err := add(l, base, last, math.MaxUint32); err != nil {
				return err
			}
		}
		l.leave()
		rest -= l.bound
	}
	for _, d := range w.noted {
		score := w.scores[d]
		w.scores[d] = 0
		if sparse && w.filter != nil && !w.filter.Has(from+uint32(d)) { // noted by a list with a low bound
			continue
		}
		if score > least {
			w.best.add(makeKey(score, from+uint32(d)))
		}
	}
	w.noted = w.noted[:0]
	if unnoted {
		clear(w.scores[:int(mask)+1])
	}
	return nil
}

// add adds the postings of l in the range to the scores and notes the documents whose
// score exceeds least.
func (w *worker) add(l *reader, base, last uint32, mask uint16, least uint32) error {
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
		if least == math.MaxUint32 {
			for i, x := range docs {
				w.scores[uint16(x)&mask] += contribution(weight, tfs[i])
			}
		} else {
			n, noted := len(w.noted), w.noted[:cap(w.noted)]
			for i, x := range docs { // a branch would be mispredicted
				d := uint16(x) & mask
				before := w.scores[d]
				after := before + contribution(weight, tfs[i])
				w.scores[d] = after
				noted[n] = d
				n += more(after, least) - more(before, least)
			}
			w.noted = noted[:n]
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

// findRuns sets w.runs to the documents from base to last that can exceed least: it adds
// up the bounds of the lists in lead for every 64 documents. base is a multiple of
// minRange, and the documents are at most minRange.
func (w *worker) findRuns(lead []*reader, base, last, least uint32) {
	var sums [minRange >> fineShift]uint64
	for _, l := range lead {
		if l.table == nil || l.table.fine == nil {
			return
		}
		fine, shift := l.table.fine[base>>l.table.fineStep:], l.table.fineStep-fineShift
		unit := fineUnit(l.weight)
		for i := range sums {
			if at := i >> shift; at < len(fine) {
				sums[i] += unit * uint64(fine[at])
			}
		}
	}
	w.runs = w.runs[:0]
	for i := 0; i < len(sums); i++ {
		if sums[i] <= uint64(least) {
			continue
		}
		first := i
		for i++; i < len(sums) && sums[i] > uint64(least); i++ {
		}
		if from := base + uint32(first)<<fineShift; from <= last {
			w.runs = append(w.runs, run{from, min(base+uint32(i)<<fineShift-1, last)})
		}
	}
}

// fineUnit returns the contribution to a score that stands for one unit of a fine bound.
func fineUnit(weight uint32) uint64 { return uint64(weight/greatestFine) + 1 }

// scan is complete in the order of the list. It computes the components of documents that
// can be among the best.
func (w *worker) scan(l *reader, base, last uint32, mask uint16, least, rest uint32) error {
	if err := l.seek(base); err != nil {
		return err
	}
	for more := true; more; {
		docs, freqs, again, err := l.takeFreqs(last)
		if err != nil {
			return err
		}
		for i, x := range docs {
			if score := &w.scores[uint16(x)&mask]; *score > 0 && *score+rest > least {
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

// complete looks up in l the noted documents that can be among the best; rest is the
// greatest contribution of l and the lists after it.
func (w *worker) complete(l *reader, base uint32, mask uint16, least, rest uint32) error {
	from := base &^ uint32(mask)
	if l.tfs != nil {
		for _, d := range w.noted {
			if score := w.scores[d]; score+rest > least {
				w.scores[d] = score + plan.Contribution(l.weight, l.table.find(from+uint32(d)))
			}
		}
		return nil
	}
	slices.Sort(w.noted) // the order of the list
	for _, d := range w.noted {
		if score := w.scores[d]; score+rest > least {
			tf, err := l.find(from + uint32(d))
			if err != nil {
				return err
			}
			w.scores[d] = score + plan.Contribution(l.weight, tf)
		}
	}
	return nil
}
