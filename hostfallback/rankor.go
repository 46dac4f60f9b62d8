package hostfallback

import (
	"cmp"
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
	rankLoad     = 128 // postings of a list that are worth a range
)

// ranker is the scratch of one goroutine.
type ranker struct {
	sharer  sharer
	readers []*rankList
	lists   []*rankList         // of the query
	live    []*rankList         // those of them that a range needs
	scores  [maxRankDocs]uint32 // of document x at x&mask, all 0 between ranges
	noted   []uint16            // documents of the range that may be among the best
	global  []uint32

	candidates candidates
	best       best
}

// open makes w.lists read the lists of p's query from its first document on.
func (w *ranker) open(s *store, r *plan.RankBatch, tables *rankTables, p *rankPart) error {
	terms := r.Query(p.query)
	for len(w.readers) < len(terms) {
		w.readers = append(w.readers, new(rankList))
	}
	w.lists = append(w.lists[:0], w.readers[:len(terms)]...)
	w.sharer = sharer{norm: r.Norm, lengths: s.src.Lengths}
	if tables != nil {
		w.sharer = tables.sharer
	}
	for i, t := range terms {
		var table *rankTable
		if tables != nil {
			table = tables.lists.At(t.List, len(s.src.Lists)).Load()
		}
		if err := w.lists[i].open(s.src, &w.sharer, t, table, p.from); err != nil {
			return err
		}
	}
	return nil
}

// rankDocs is the size of ranges for so many postings of some lists among docs
// documents.
func rankDocs(postings, lists, docs uint64) uint64 {
	size := uint64(minRankDocs)
	for size < maxRankDocs && postings*size < rankLoad*lists*docs {
		size *= 2
	}
	return size
}

// or ranks the documents of p that any list has.
func (w *ranker) or(ctx context.Context, s *store, k int, p *rankPart) error {
	postings := uint64(0)
	for _, l := range w.lists {
		postings += uint64(s.src.Lists[l.handle].Len)
		if l.table != nil {
			w.best.expect(plan.Contribution(l.weight, l.table.floor(k)))
		}
	}
	slices.SortFunc(w.lists, func(a, b *rankList) int { return cmp.Compare(a.most(), b.most()) })
	size := rankDocs(postings, uint64(len(w.lists)), uint64(s.src.Docs))
	w.noted = slices.Grow(w.noted[:0], maxRankDocs+1)
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
		p.tell(&w.best)
		base = max(base, next&^(size-1))
		last := min(base|(size-1), p.to-1)
		if err := w.orRange(uint32(base), uint32(last), uint16(size-1)); err != nil {
			return err
		}
		base = last + 1
	}
}

// orRange ranks the documents from base to last. The lists that together cannot
// bring a document among the best are those of the least bounds (MaxScore, Turtle and
// Flood 1995); the others are added up first, and only what these leave possible
// is looked up in the former.
func (w *ranker) orRange(base, last uint32, mask uint16) error {
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
	// Where postings are few all documents are noted, because to set their scores
	// back to 0 is less than to clear all.
	postings := 0
	for _, l := range lead {
		if l.plain {
			postings += l.end - l.at
		} else {
			postings = int(mask)
		}
	}
	sparse := postings < int(mask)/64
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

// add adds the postings of l in the range to the scores, and notes the documents
// whose score passes least.
func (w *ranker) add(l *rankList, base, last uint32, mask uint16, least uint32) error {
	if err := l.seek(base); err != nil {
		return err
	}
	weight := uint64(l.weight)
	for again := true; again; {
		var docs, shares []uint32
		docs, shares, again = l.take(last)
		shares = shares[:len(docs)]
		if least == math.MaxUint32 {
			for i, x := range docs {
				w.scores[uint16(x)&mask] += contribution(weight, shares[i])
			}
		} else {
			n, noted := len(w.noted), w.noted[:cap(w.noted)]
			for i, x := range docs { // no branch, because it would be mispredicted
				d := uint16(x) & mask
				before := w.scores[d]
				after := before + contribution(weight, shares[i])
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

// pick is add for the first list of a range, of which no document is scored that
// does not pass least.
func (w *ranker) pick(l *rankList, mask uint16, least uint32) {
	// share*weight > least<<32 is what a contribution above least takes. There is no
	// branch, because it would be mispredicted.
	above := uint32(uint64(least) << 32 / uint64(l.weight)) // least is below the weight
	docs, shares := l.docs[l.at:l.end], l.shares[l.at:l.end]
	noted, n := w.noted[:len(shares)], 0
	for i, share := range shares {
		noted[n] = uint16(i)
		n += more(share, above)
	}
	for j, i := range noted[:n] {
		d := uint16(docs[i]) & mask
		w.scores[d] = contribution(uint64(l.weight), shares[i])
		noted[j] = d
	}
	w.noted = noted[:n]
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
