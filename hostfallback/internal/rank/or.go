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
		if l.table != nil {
			w.best.expect(plan.Contribution(l.weight, l.table.floor(k)))
		}
	}
	slices.SortFunc(w.lists, func(a, b *reader) int { return cmp.Compare(a.most(), b.most()) })
	size := rangeSize(postings, uint64(len(w.lists)), uint64(src.Docs))
	w.noted = slices.Grow(w.noted[:0], maxRange+1)
	for base := p.from; ; {
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
		last := min(base|(size-1), p.to-1)
		if err := w.orRange(uint32(base), uint32(last), uint16(size-1)); err != nil {
			return err
		}
		base = last + 1
	}
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
	postings := 0
	for _, l := range lead {
		if l.plain {
			postings += l.end - l.at
		} else {
			postings = int(mask)
		}
	}
	sparse := postings < int(mask)/64
	unnoted := false // documents that are not noted have scores
	add := func(l *reader, least uint32) error {
		if sparse {
			least = 0
		}
		unnoted = !sparse
		return w.add(l, base, last, mask, least)
	}
	if len(lead) == 1 && lead[0].plain {
		w.pick(lead[0], mask, least-rest)
	} else {
		for _, l := range lead {
			if err := add(l, least-rest); err != nil {
				return err
			}
		}
	}
	for i := few - 1; i >= 0; i-- {
		l := w.live[i]
		switch {
		case len(w.noted) == 0:
		case l.plain && len(w.noted)*lookupSlower < l.end-l.at:
			w.complete(l, base, mask, least, rest)
		default:
			if err := add(l, math.MaxUint32); err != nil {
				return err
			}
		}
		l.leave()
		rest -= l.bound
	}
	from := base &^ uint32(mask)
	for _, d := range w.noted {
		score := w.scores[d]
		w.scores[d] = 0
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
		docs, tfs, again = l.take(last)
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

// pick is add for the first list of a range. It scores only documents that exceed least.
func (w *worker) pick(l *reader, mask uint16, least uint32) {
	// A contribution exceeds least if tf*weight > least<<32. A branch would be
	// mispredicted.
	above := uint32(uint64(least) << 32 / uint64(l.weight)) // least is below the weight
	docs, tfs := l.docs[l.at:l.end], l.tfs[l.at:l.end]
	noted, n := w.noted[:len(tfs)], 0
	for i, tf := range tfs {
		noted[n] = uint16(i)
		n += more(tf, above)
	}
	for j, i := range noted[:n] {
		d := uint16(docs[i]) & mask
		w.scores[d] = contribution(uint64(l.weight), tfs[i])
		noted[j] = d
	}
	w.noted = noted[:n]
	l.leave()
}

// complete looks up in l the noted documents that can be among the best; rest is the
// greatest contribution of l and the lists after it.
func (w *worker) complete(l *reader, base uint32, mask uint16, least, rest uint32) {
	from := base &^ uint32(mask)
	for _, d := range w.noted {
		if score := w.scores[d]; score+rest > least {
			if tf := l.table.find(from + uint32(d)); tf > 0 {
				w.scores[d] = score + plan.Contribution(l.weight, tf)
			}
		}
	}
}
