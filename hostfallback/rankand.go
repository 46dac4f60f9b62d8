package hostfallback

import (
	"context"
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// positions looks candidates up in one list of a ranked AND, and says at which
// index it has them.
type positions struct {
	term   plan.Term
	view   codec.Blocks
	freqs  codec.Packed
	docs   []uint32 // of block cached
	cached int      // -1 for none
}

func (p *positions) open(src *plan.Source, t plan.Term) (err error) {
	p.term, p.cached, p.docs = t, -1, p.docs[:0]
	if err = p.view.Open(src.List(t.List)); err == nil {
		p.freqs, err = src.Freq(t.List)
	}
	return named(t.List, err)
}

// block makes docs those of block k.
func (p *positions) block(src *plan.Source, k int) (err error) {
	if p.cached == k {
		return nil
	}
	p.cached = -1
	if p.docs, err = p.view.Decode(p.docs[:0], k); err == nil && len(p.docs) > 0 {
		if x := p.docs[len(p.docs)-1]; x >= src.Docs {
			err = &codec.CorruptError{Codec: src.Lists[p.term.List].Codec, Reason: fmt.Sprintf("docID %d in a universe of %d", x, src.Docs)}
		}
	}
	if err == nil {
		p.cached = k
	}
	return err
}

// find gives the index of x in the list. It decodes the block where x must be.
func (p *positions) find(src *plan.Source, x uint32) (at uint32, ok bool, err error) {
	if n := len(p.docs); p.cached < 0 || n == 0 || x < p.docs[0] || x > p.docs[n-1] {
		k := p.view.Find(x)
		if k == p.view.Count() {
			return 0, false, nil
		}
		if err := p.block(src, k); err != nil {
			return 0, false, err
		}
	}
	i := lowerBound(p.docs, x)
	return uint32(p.view.Start(p.cached) + i), i < len(p.docs) && p.docs[i] == x, nil
}

// and ranks the documents of p that all lists have: those of the shortest list are
// looked up in the others, and only what all have gets its frequencies, by random
// access (Ding et al. 2009, section 8.2).
func (w *ranker) and(ctx context.Context, s *store, r *plan.Ranks, terms []plan.Term, p *rankPart) error {
	for len(w.lookups) < len(terms) {
		w.lookups = append(w.lookups, new(positions))
	}
	lists := w.lookups[:len(terms)]
	for i, t := range terms {
		if err := lists[i].open(s.src, t); err != nil {
			return err
		}
	}
	w.at = slices.Grow(w.at[:0], len(terms))[:len(terms)]
	lead := lists[0]
	for k := lead.view.Find(uint32(p.from)); k < lead.view.Count(); k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := lead.block(s.src, k); err != nil {
			return named(lead.term.List, err)
		}
		for i, x := range lead.docs {
			if uint64(x) < p.from {
				continue
			}
			if uint64(x) >= p.to {
				return nil
			}
			w.at[0] = uint32(lead.view.Start(k) + i)
			if err := w.conjoin(s.src, r.Norm, lists, x, &p.best); err != nil {
				return err
			}
		}
	}
	return nil
}

// conjoin adds document x, which lists[0] has at w.at[0], to b if all lists have it.
func (w *ranker) conjoin(src *plan.Source, norm plan.Norm, lists []*positions, x uint32, b *best) error {
	for j, l := range lists[1:] {
		at, ok, err := l.find(src, x)
		if err != nil || !ok {
			return named(l.term.List, err)
		}
		w.at[j+1] = at
	}
	length, score := uint32(0), uint32(0)
	if norm.Impacts == 0 {
		length = src.Lengths[x]
	}
	for j, l := range lists {
		f, err := l.freqs.At(w.at[j])
		if err != nil {
			return named(l.term.List, err)
		}
		score += plan.Contribution(l.term.Weight, norm.Share(f+1, length))
	}
	b.add(makeKey(score, x))
	return nil
}
