// Package workload generates posting lists and queries from a seed, and reads real lists.
// The documentation of package bench describes the GOV-like workload.
package workload

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"heddle/codec"
	"heddle/engine/plan"
)

// Order is a numbering of the documents. Lists contain the same documents in every
// order, so a query has the same number of matches.
type Order uint8

const (
	// Uniform numbers documents at random, like GOVR of Ao et al. 2011, appendix B.
	Uniform Order = iota
	// Clustered keeps each site together and orders the sites at random, like GOV:
	// documents in the order of a crawl.
	Clustered
	// PageRank is less linear than Clustered: fewer sites, whose order leans to the order
	// of their themes. It was fitted to Table 1 for GOVPR, documents ordered by PageRank.
	PageRank
	// Reordered places all sites of a theme next to each other, like an index after
	// document reordering.
	Reordered
)

// String returns the name on the command line and in results.
func (o Order) String() string {
	return [...]string{"uniform", "clustered", "pagerank", "reordered"}[o]
}

// ParseOrder is the inverse of String.
func ParseOrder(s string) (Order, error) {
	for o := Uniform; o <= Reordered; o++ {
		if strings.EqualFold(s, o.String()) {
			return o, nil
		}
	}
	return 0, fmt.Errorf("unknown order %q (one of uniform, clustered, pagerank, reordered)", s)
}

// Workload is an index in memory with its queries. It is read-only after Generate.
type Workload struct {
	Seed   uint64
	Themes int
	Set    DataSet
	Source *plan.Source // every list is raw
	Terms  []string     // names of the lists, ascending
	// Queries are distinct sets of 2 to 10 lists, in no order. A workload with fewer
	// themes has a subset of the queries, with different handles.
	Queries [][]plan.Handle
}

// Name identifies the workload in results.
func (w *Workload) Name() string {
	name := fmt.Sprintf("%s-%s seed %d", w.Set.base, w.Set.Order, w.Seed)
	if w.Themes < MaxThemes {
		name += fmt.Sprintf(", %d/%d", w.Themes, MaxThemes)
	}
	return name
}

// Postings is the sum of the lengths of all lists.
func (w *Workload) Postings() (n uint64) {
	for _, l := range w.Source.Lists {
		n += uint64(l.Len)
	}
	return n
}

// List returns list h without a copy.
func (w *Workload) List(h plan.Handle) []uint32 { return w.Source.List(h).Words }

// Generate makes the workload of a seed with 1 to MaxThemes themes, on all cores. The
// whole workload takes 1 GB, one theme a sixteenth. docs is DocCount, or fewer for
// quick tests; only DocCount gives the paper's stages. It returns early when ctx is
// done.
func Generate(ctx context.Context, seed uint64, themes int, order Order, docs uint32) (*Workload, error) {
	return order.GOV(docs).Generate(ctx, seed, themes)
}

// Generate makes a workload of the collection, as the function does for GOV.
func (d DataSet) Generate(ctx context.Context, seed uint64, themes int) (*Workload, error) {
	if themes < 1 || themes > MaxThemes {
		return nil, fmt.Errorf("bench: %d themes; there are 1 to %d", themes, MaxThemes)
	}
	w := &Workload{Seed: seed, Themes: themes, Set: d, Source: &plan.Source{Docs: d.Docs}}
	ranks := w.name()
	w.ask(ranks)
	return w, w.fill(ctx, ranks)
}

// name gives the terms handles and names that do not depend on their length. It returns
// the rank of each term.
func (w *Workload) name() []int {
	all := make([]int, termsPerTheme*MaxThemes)
	for r := range all {
		all[r] = r
	}
	Shuffle(NewRandom(w.Seed, streamNames, 0), all)
	ranks := slices.DeleteFunc(all, func(r int) bool { return r%MaxThemes >= w.Themes })
	for h := range ranks {
		w.Terms = append(w.Terms, fmt.Sprintf("t%05d", h))
	}
	return ranks
}

// ask draws the queries of all themes and shuffles them.
func (w *Workload) ask(ranks []int) {
	handles := make([]plan.Handle, len(ranks)/w.Themes*MaxThemes)
	for h, r := range ranks {
		handles[r] = plan.Handle(h)
	}
	for theme := range w.Themes {
		for _, q := range themeQueries(w.Seed, theme, w.Set.asked) {
			var hs []plan.Handle
			for _, i := range q {
				hs = append(hs, handles[int(i)*MaxThemes+theme])
			}
			w.Queries = append(w.Queries, hs)
		}
	}
	Shuffle(NewRandom(w.Seed, StreamOrder, 0), w.Queries)
}

// fill writes the lists. It draws every list twice, because it needs the lengths first:
// this is faster than moving a gigabyte, and needs no extra memory.
func (w *Workload) fill(ctx context.Context, ranks []int) error {
	lists := make([]plan.List, len(ranks))
	err := EachWith(ctx, len(lists), func(s *scratch, h int) error {
		s.draw(w.Seed, ranks[h], w.Source.Docs)
		lists[h] = plan.List{Codec: codec.Raw, Len: uint32(len(s.positions)), Words: uint32(len(s.positions))}
		return nil
	})
	if err != nil {
		return err
	}
	end := Place(lists)
	words := make([]uint32, end)
	w.Source.Lists, w.Source.Words = lists, words
	number := w.Set.docIDs(w.Seed)
	return EachWith(ctx, len(lists), func(s *scratch, h int) error {
		s.draw(w.Seed, ranks[h], w.Source.Docs)
		s.number(words[lists[h].Off:][:lists[h].Len], number)
		return nil
	})
}

// Place sets the offsets of consecutive lists and returns the end.
func Place(lists []plan.List) (end uint64) {
	for h := range lists {
		lists[h].Off = end
		end += (uint64(lists[h].Words) + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign
	}
	return end
}

// draw chooses the documents of the term with a rank.
func (s *scratch) draw(seed uint64, rank int, docs uint32) {
	t := newTerm(rank, docs)
	r := NewRandom(seed, streamList, uint64(rank))
	start := t.start(docs)
	s.positions = r.Sample(s.positions[:0], 0, t.home, t.in)
	s.positions = r.Sample(s.positions, t.home, docs, t.out)
	if len(s.positions) == 0 { // a term occurs in at least one document
		s.positions = append(s.positions, uint32(r.Below(uint64(docs))))
	}
	for i, p := range s.positions {
		if p += start; p >= docs {
			p -= docs
		}
		s.positions[i] = p
	}
}

// number writes the docIDs of the positions to dst, ascending.
func (s *scratch) number(dst, ids []uint32) {
	if s.bitmap == nil {
		s.bitmap = make([]uint64, (len(ids)+63)/64)
	}
	for _, p := range s.positions {
		d := ids[p]
		s.bitmap[d/64] |= 1 << (d % 64)
	}
	n := 0
	for i, word := range s.bitmap {
		if word == 0 {
			continue
		}
		for ; word != 0; word &= word - 1 {
			dst[n] = uint32(i*64 + bits.TrailingZeros64(word))
			n++
		}
		s.bitmap[i] = 0
	}
}
