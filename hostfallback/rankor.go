package hostfallback

import (
	"context"
	"math"
	"slices"

	"heddle/engine/plan"
)

// A ranked OR goes by ranges of rankDocs documents. The scores of a range take
// 16 KiB, so that they stay in the first-level cache while all lists pass by.
const rankDocs = 1 << 12

// ranker is the scratch of one goroutine.
type ranker struct {
	lists  []*rankList
	scores [rankDocs]uint32
	noted  []uint16 // documents of the range that may be among the best
	global []uint32

	lookups []*positions
	at      []uint32 // where they have a document
}

// open makes w.lists read terms from document from on.
func (w *ranker) open(s *store, r *plan.Ranks, terms []plan.Term, from uint64) error {
	for len(w.lists) < len(terms) {
		w.lists = append(w.lists, new(rankList))
	}
	for i, t := range terms {
		if err := w.lists[i].open(s.src, r.Norm, t, from); err != nil {
			return err
		}
	}
	return nil
}

// or ranks the documents of p that any list has.
func (w *ranker) or(ctx context.Context, s *store, r *plan.Ranks, terms []plan.Term, p *rankPart) error {
	if err := w.open(s, r, terms, p.from); err != nil {
		return err
	}
	w.noted = slices.Grow(w.noted[:0], rankDocs)
	for {
		next := uint64(math.MaxUint64)
		for _, l := range w.lists[:len(terms)] {
			if l.at < len(l.docs) {
				next = min(next, uint64(l.docs[l.at]))
			}
		}
		if next >= p.to {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		base := uint32(next / rankDocs * rankDocs)
		for _, l := range w.lists[:len(terms)] {
			if err := w.add(l, base, uint32(p.best.least>>32)); err != nil {
				return err
			}
		}
		for _, x := range w.noted {
			p.best.add(makeKey(w.scores[x%rankDocs], base+uint32(x)))
		}
		w.noted = w.noted[:0]
		clear(w.scores[:])
	}
}

// add adds the postings of l in the range at base to the scores, and notes the
// documents whose score passes least.
func (w *ranker) add(l *rankList, base, least uint32) error {
	last := base + (rankDocs - 1)
	for l.at < len(l.docs) {
		docs := l.docs[l.at:]
		whole := docs[len(docs)-1] <= last
		if !whole {
			n := gallop(docs, last)
			n += equal(docs[n], last)
			docs = docs[:n]
		}
		shares := l.shares[l.at:][:len(docs)]
		for i, x := range docs {
			x %= rankDocs
			before := w.scores[x]
			after := before + uint32((l.weight*uint64(shares[i])+math.MaxUint32)>>32)
			w.scores[x] = after
			if after > least && before <= least {
				w.noted = append(w.noted, uint16(x))
			}
		}
		l.at += len(docs)
		if !whole {
			return nil
		}
		if err := l.decode(); err != nil {
			return err
		}
	}
	return nil
}

// orGlobal ranks the documents of p that any list has, one list after the other,
// with a score for each document (Ding et al. 2009, section 8.3).
func (w *ranker) orGlobal(ctx context.Context, s *store, r *plan.Ranks, terms []plan.Term, p *rankPart) error {
	if err := w.open(s, r, terms, p.from); err != nil {
		return err
	}
	n := int(p.to - p.from)
	w.global = slices.Grow(w.global[:0], n)[:n]
	clear(w.global)
	for _, l := range w.lists[:len(terms)] {
		for l.at < len(l.docs) && uint64(l.docs[l.at]) < p.to {
			if err := ctx.Err(); err != nil {
				return err
			}
			for i, x := range l.docs[l.at:] {
				if uint64(x) >= p.to {
					break
				}
				w.global[uint64(x)-p.from] += plan.Contribution(uint32(l.weight), l.shares[l.at+i])
			}
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	for i, score := range w.global {
		if score > 0 {
			p.best.add(makeKey(score, uint32(p.from)+uint32(i)))
		}
	}
	return nil
}
