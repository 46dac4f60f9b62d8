package rank

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// Workload is a workload of ranked retrieval: the lists of its queries, with term
// frequencies and document lengths, or with impacts. It is read-only.
type Workload struct {
	Name    string
	Source  *plan.Source
	Dict    workload.Dictionary
	Queries []workload.Query
	Handles [][]plan.Handle // lists of the queries
	Params  bm25.Params     // parameters of the scoring function; unused with impacts
	release func() error    // closes the file of the lists; nil if there is none
}

// GOV2 makes the GOV2-like workload of a seed with n queries, on all cores. Its order is
// workload.Clustered or workload.Reordered.
func GOV2(ctx context.Context, seed uint64, n int, docs uint32, id codec.ID, order workload.Order) (*Workload, error) {
	queries, terms := gov2Log(seed, n, docs)
	places, name := drawPlaces(seed, docs), "gov2-like"
	if order == workload.Reordered {
		places, name = reordered(places), "gov2-like reordered"
	}
	lengths := make([]float64, len(terms))
	for h := range terms {
		lengths[h] = terms[h].length(docs)
	}
	w, err := newRanked(ctx, docs, queries, lengths, id, func(s *postings, h int) { s.drawPostings(seed, h, &terms[h], places) })
	if err != nil {
		return nil, err
	}
	w.Name = fmt.Sprintf("%s, %d documents, %d queries, seed %d", name, docs, n, seed)
	w.Source.Lengths, err = drawLengths(ctx, seed, docs)
	return w, err
}

// newRanked draws and encodes the lists of queries, the longest first by their expected lengths. draw sets s to
// the postings of list h. A plain list is in memory only until it is encoded.
func newRanked(ctx context.Context, docs uint32, queries [][]plan.Handle, lengths []float64, id codec.ID, draw func(s *postings, h int)) (*Workload, error) {
	order := make([]int, len(lengths))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(lengths[b], lengths[a]) })
	src := &plan.Source{Docs: docs, Lists: make([]plan.List, len(lengths)), Freqs: []uint32{}}
	encoded := make([][2][]uint32, len(lengths))
	err := workload.EachWith(ctx, len(lengths), func(s *postings, i int) (err error) {
		h := order[i]
		draw(s, h)
		opt := codec.DefaultOptions()
		e := &encoded[h]
		if e[0], err = codec.Append(nil, id, s.positions, opt); err != nil {
			return err
		}
		e[1], err = codec.AppendPacked(nil, s.freqs, opt)
		src.Lists[h] = plan.List{Codec: id, Len: uint32(len(s.positions)), Words: uint32(len(e[0])), FreqWords: uint32(len(e[1]))}
		return err
	})
	if err != nil {
		return nil, err
	}
	src.Words = make([]uint32, workload.Place(src.Lists))
	var end uint64
	for h := range src.Lists {
		src.Lists[h].FreqOff = end
		end += uint64(src.Lists[h].FreqWords)
	}
	src.Freqs = make([]uint32, end)
	err = workload.Each(ctx, len(lengths), func(h int) error {
		copy(src.Words[src.Lists[h].Off:], encoded[h][0])
		copy(src.Freqs[src.Lists[h].FreqOff:], encoded[h][1])
		encoded[h] = [2][]uint32{}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w := &Workload{Source: src, Handles: queries, Queries: make([]workload.Query, len(queries)), Params: bm25.Default()}
	names := make([]string, len(lengths))
	for h := range names {
		names[h] = fmt.Sprintf("t%05d", h)
	}
	for i, q := range queries {
		for _, h := range q {
			w.Queries[i].Terms = append(w.Queries[i].Terms, names[h])
		}
	}
	w.Dict, err = hdl.NewDictionary(names)
	return w, err
}

// postings is the memory of one goroutine that draws lists.
type postings struct {
	positions []uint32 // docIDs
	freqs     []uint32 // term frequencies less one
	marks     marks    // for learned sparse retrieval
}

// site is a run of documents from one place.
type site struct {
	end   uint32 // the first document after the site
	place float64
}

// drawPlaces divides the documents into sites, in proportion to GOV2.
func drawPlaces(seed uint64, docs uint32) []site {
	r := workload.NewRandom(seed, workload.StreamSites, 1)
	sites := make([]site, max(uint64(docs)*gov2Sites/harness.GOV2Docs, 16))
	ends := make([]uint32, len(sites))
	for i := range ends {
		ends[i] = uint32(r.Below(uint64(docs)))
	}
	ends[0] = docs
	slices.Sort(ends)
	for i := range sites {
		sites[i] = site{ends[i], r.Unit()}
	}
	return sites
}

// reordered returns the sites in the order of their places, so that the sites of a topic are
// neighbours.
func reordered(sites []site) []site {
	type sized struct {
		docs  uint32
		place float64
	}
	var all []sized
	first := uint32(0)
	for _, s := range sites {
		all = append(all, sized{s.end - first, s.place})
		first = s.end
	}
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Compare(a.place, b.place) })
	moved, end := make([]site, 0, len(all)), uint32(0)
	for _, s := range all {
		end += s.docs
		moved = append(moved, site{end, s.place})
	}
	return moved
}

// drawPostings draws the ascending docIDs of list h and its term frequencies less one.
func (s *postings) drawPostings(seed uint64, h int, t *term, sites []site) {
	r := workload.NewRandom(seed, workload.StreamRankList, uint64(h))
	s.positions = s.positions[:0]
	first, p := uint32(0), t.out
	for i, site := range sites {
		here := t.out
		if distance := site.place - t.center; min(distance*distance, (1-distance)*(1-distance), (1+distance)*(1+distance)) < t.size*t.size/4 {
			here = t.in
		}
		if here != p && i > 0 {
			s.positions = r.Sample(s.positions, first, sites[i-1].end, p)
			first = sites[i-1].end
		}
		p = here
	}
	docs := sites[len(sites)-1].end
	if s.positions = r.Sample(s.positions, first, docs, p); len(s.positions) == 0 {
		s.positions = append(s.positions, uint32(r.Below(uint64(docs))))
	}
	s.freqs = slices.Grow(s.freqs[:0], len(s.positions))[:len(s.positions)]
	scale := 1 / workload.Ln(1-1/t.frequency)
	for i := range s.freqs {
		s.freqs[i] = min(uint32(float64(workload.Ln(r.Unit())*scale)), t.most-1)
	}
}

// drawLengths draws the lengths of documents in tokens: log-normal with a mean of 900,
// from 1 to 65,535, because GOV2 truncates documents at 256 KB.
func drawLengths(ctx context.Context, seed uint64, docs uint32) ([]uint32, error) {
	const block = 1 << 16
	const median, sigma = 9.035, 1.443 // binary logarithms
	lengths := make([]uint32, docs)
	return lengths, workload.Each(ctx, (int(docs)+block-1)/block, func(i int) error {
		r := workload.NewRandom(seed, workload.StreamRankLengths, uint64(i))
		part := lengths[i*block : min((i+1)*block, len(lengths))]
		for j := range part {
			normal := -6.0 // approximately normal: the sum of twelve draws
			for range 12 {
				normal += r.Unit()
			}
			part[j] = uint32(min(max(exp2(median+float64(sigma*normal)), 1), 1<<16-1))
		}
		return nil
	})
}

// Postings is the number of postings of the lists of the first n queries. A list counts
// once per query.
func (w *Workload) Postings(n int) (sum uint64) {
	for _, q := range w.Handles[:n] {
		for _, h := range q {
			sum += uint64(w.Source.Lists[h].Len)
		}
	}
	return sum
}

// describe prints the size of the workload in two lines.
func (w *Workload) describe(out io.Writer) {
	var docIDs, terms uint64
	for _, l := range w.Source.Lists {
		docIDs += uint64(l.Len)
	}
	for _, q := range w.Handles {
		terms += uint64(len(q))
	}
	n := float64(max(len(w.Handles), 1))
	fmt.Fprintf(out, "%s: %d lists, %.1f M postings\n", w.Name, len(w.Source.Lists), float64(docIDs)/1e6)
	fmt.Fprintf(out, "%.2f terms and %.2f M postings a query; %.2f bytes a docID, %.2f a frequency\n\n", float64(terms)/n,
		float64(w.Postings(len(w.Handles)))/n/1e6, 4*float64(len(w.Source.Words))/float64(docIDs), 4*float64(len(w.Source.Freqs))/float64(docIDs))
}
