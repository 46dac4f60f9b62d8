package hostfallback

import (
	"context"
	"math"
	"slices"

	"heddle/engine/plan"
)

// A ranked OR goes by ranges of documents, whose scores stay in a near cache while
// all lists pass by: 4096, which take 16 KiB, or where postings are few up to
// 65,536, because each range costs something for itself.
const (
	minRankShift = 12
	minRankDocs  = 1 << minRankShift
	maxRankDocs  = 1 << 16
	rankLoad     = 64 // postings that are worth a range
)

// ranker is the scratch of one goroutine.
type ranker struct {
	sharer sharer
	lists  []*rankList
	live   []*rankList
	scores [maxRankDocs]uint32 // of document x at x&mask, all 0 between ranges
	noted  []uint16            // documents of the range that may be among the best
	global []uint32

	candidates candidates
	best       best
}

// open makes w.lists read terms from document from on.
func (w *ranker) open(s *store, r *plan.Ranks, terms []plan.Term, from uint64) error {
	for len(w.lists) < len(terms) {
		w.lists = append(w.lists, new(rankList))
	}
	tables := s.tables.under(r.Norm)
	if w.sharer = (sharer{norm: r.Norm, lengths: s.src.Lengths}); tables != nil {
		w.sharer = tables.sharer
	}
	for i, t := range terms {
		var table *rankTable
		var err error
		if tables != nil {
			if table, err = tables.table(s, t.List, w.lists[i]); err != nil {
				return err
			}
		}
		if err = w.lists[i].open(s.src, &w.sharer, t, table, from); err != nil {
			return err
		}
	}
	return nil
}

// rankDocs is the size of ranges for so many postings among so many documents.
func rankDocs(postings, docs uint64) uint64 {
	size := uint64(minRankDocs)
	for size < maxRankDocs && postings*size < rankLoad*docs {
		size *= 2
	}
	return size
}

// or ranks the documents of p that any list has.
func (w *ranker) or(ctx context.Context, s *store, r *plan.Ranks, terms []plan.Term, p *rankPart) error {
	if err := w.open(s, r, terms, p.from); err != nil {
		return err
	}
	lists := w.lists[:len(terms)]
	postings := uint64(0)
	for _, l := range lists {
		postings += uint64(s.src.Lists[l.handle].Len)
		if l.table != nil {
			w.best.expect(plan.Contribution(l.weight, l.table.floor(r.K)))
		}
	}
	size := rankDocs(postings, uint64(s.src.Docs))
	w.noted = slices.Grow(w.noted[:0], maxRankDocs)
	for base := p.from; ; {
		next := uint64(never)
		for _, l := range lists {
			next = min(next, l.ahead(base))
		}
		if next >= p.to {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		p.tell(&w.best)
		base = max(base, next&^(size-1))
		last := min(base|(size-1), p.to-1)
		if err := w.orRange(lists, uint32(base), uint32(last), uint16(size-1), &w.best); err != nil {
			return err
		}
		base = last + 1
	}
}

// orRange ranks the documents from base to last. The lists that together cannot
// bring a document among the best are those of the least bounds (MaxScore, Turtle and
// Flood 1995); the others are added up first, and only what these leave possible
// is looked up in the former. It changes the order of lists.
func (w *ranker) orRange(lists []*rankList, base, last uint32, mask uint16, b *best) error {
	w.live = w.live[:0]
	total := uint64(0)
	for _, l := range lists {
		if l.enter(base, last) {
			total += uint64(l.bound)
			w.live = append(w.live, l)
		}
	}
	least := b.least.score()
	if total <= uint64(least) {
		for _, l := range w.live {
			l.leave()
		}
		return nil
	}
	for i := range w.live { // nearly in order, since they were in the range before
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
	// Where postings are few all documents are noted, because to set their scores
	// back to 0 is less than to clear all.
	postings := 0
	for _, l := range lead {
		if l.plain {
			postings += l.end - l.at
		} else {
			postings = rankLoad
		}
	}
	sparse := mask >= minRankDocs || postings < rankLoad
	unnoted := false // there are scores of others
	add := func(l *rankList, least uint32) error {
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
		if len(w.noted) == 0 {
		} else if l.plain && len(w.noted)*lookupSlower < l.end-l.at {
			w.complete(l, base, mask, least, rest)
		} else if err := add(l, math.MaxUint32); err != nil {
			return err
		}
		l.leave()
		rest -= l.bound
	}
	from := base &^ uint32(mask)
	for _, d := range w.noted {
		score := w.scores[d]
		w.scores[d] = 0
		if score > least {
			b.add(makeKey(score, from+uint32(d)))
		}
	}
	w.noted = w.noted[:0]
	if unnoted {
		clear(w.scores[:minRankDocs])
	}
	return nil
}

// add adds the postings of l in the range to the scores, and notes the documents
// whose score passes least.
func (w *ranker) add(l *rankList, base, last uint32, mask uint16, least uint32) error {
	if err := l.seek(base); err != nil {
		return err
	}
	weight := uint64(l.weight)
	for more := true; more; {
		var docs, shares []uint32
		docs, shares, more = l.take(last)
		shares = shares[:len(docs)]
		for i, x := range docs {
			d := uint16(x) & mask
			before := w.scores[d]
			after := before + contribution(weight, shares[i])
			w.scores[d] = after
			if after > least && before <= least {
				w.noted = append(w.noted, d)
			}
		}
		if more {
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// pick is add for the first list of a range, of which no document is scored that
// does not pass least.
func (w *ranker) pick(l *rankList, mask uint16, least uint32) {
	// share*weight > least<<32 is what a contribution above least takes.
	above := uint64(least) << 32 / uint64(l.weight)
	docs, shares := l.docs[l.at:l.end], l.shares[l.at:l.end]
	for i, share := range shares {
		if uint64(share) > above {
			d := uint16(docs[i]) & mask
			w.scores[d] = contribution(uint64(l.weight), share)
			w.noted = append(w.noted, d)
		}
	}
	l.leave()
}

// complete looks the noted documents up in l, but for those that cannot be among
// the best: rest is what l and the lists to come contribute at most.
func (w *ranker) complete(l *rankList, base uint32, mask uint16, least, rest uint32) {
	from := base &^ uint32(mask)
	for _, d := range w.noted {
		if score := w.scores[d]; score+rest > least {
			if share := l.table.find(from + uint32(d)); share > 0 {
				w.scores[d] = score + plan.Contribution(l.weight, share)
			}
		}
	}
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
				w.global[uint64(x)-p.from] += plan.Contribution(l.weight, l.shares[l.at+i])
			}
			if l.plain {
				break
			}
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	for i, score := range w.global {
		if score > 0 {
			w.best.add(makeKey(score, uint32(p.from)+uint32(i)))
		}
	}
	return nil
}
