package rank

import (
	"math"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// cutSource has lists of the last document of every so many ones.
func cutSource(t *testing.T, docs uint32, codecs []codec.ID, gaps ...uint32) (*plan.Source, [][]uint32) {
	t.Helper()
	src, all := &plan.Source{Docs: docs}, [][]uint32{}
	for i, gap := range gaps {
		var list []uint32
		for x := uint64(gap) - 1; x < uint64(docs); x += uint64(gap) {
			list = append(list, uint32(x))
		}
		if _, err := src.Append(codecs[i%len(codecs)], list, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		all = append(all, list)
	}
	return src, all
}

// newCut makes a cut that needs no device.
func newCut(src *plan.Source, b *plan.RankBatch, span, postings int) *cut {
	return &cut{set: &lists.Set{Src: src, Device: &device.Runtime{}}, batch: b, data: &extra{}, span: span, known: map[plan.Handle]int{},
		done: make([]bool, b.Queries()), shape: shape{postings: postings, starts: 1 << 20, keys: 1 << 22}}
}

// TestWindows cuts queries over lists that are longer than the scratch memory: the parts of a window have the
// documents of its ranges, up to the greatest document there can be, and no round has more queries than there is
// room for.
func TestWindows(t *testing.T) {
	testneeds.Host(t)
	for _, docs := range []uint32{1 << 20, 1<<20 - 1, 1<<20 + 1, math.MaxUint32} {
		gap := docs >> 16
		src, all := cutSource(t, docs, []codec.ID{codec.Raw, codec.ParaPFor, codec.VByte}, gap, 3*gap, 7*gap, 100*gap)
		b := &plan.RankBatch{K: 10}
		for _, q := range [][]plan.Handle{{0, 1}, {1, 2}, {0, 2}, {3}, {0, 1, 2, 3}} {
			var terms []plan.Term
			for _, h := range q {
				terms = append(terms, plan.Term{List: h, Weight: 1})
			}
			b.Add(src, terms...)
		}
		for _, postings := range []int{1 << 13, 1 << 16, 1 << 20} {
			c := newCut(src, b, 4096, postings)
			var queries []int
			windows := 0
			for {
				more, err := c.nextRound()
				if err != nil {
					t.Fatal(err)
				}
				if !more {
					break
				}
				queries = append(queries, c.queries...)
				for end := 0; ; windows++ {
					if c.first != end || c.end <= c.first || len(c.queries) > 1 && (c.elements > postings || c.end < c.ranges) {
						t.Fatalf("%d documents: window of ranges %d to %d behind %d, %d postings of %d queries", docs, c.first, c.end, end, c.elements, len(c.queries))
					}
					end = c.end
					checkParts(t, c, all)
					if c.end == c.ranges {
						break
					}
					if err := c.window(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !slices.Equal(queries, []int{0, 1, 2, 3, 4}) || (windows > b.Queries()) != (postings == 1<<13 || docs == math.MaxUint32) {
				t.Errorf("%d documents, room for %d postings: queries %d, %d windows", docs, postings, queries, windows)
			}
		}
	}
}

// checkParts checks that the parts of a window have the documents of its ranges, and that known finds them.
func checkParts(t *testing.T, c *cut, all [][]uint32) {
	t.Helper()
	used := map[plan.Handle]bool{}
	defer func() {
		if len(used) != len(c.parts) {
			t.Errorf("%d parts, the queries have %d lists", len(c.parts), len(used))
		}
	}()
	for _, i := range c.queries {
		for _, q := range c.batch.Query(i) {
			used[q.List] = true
			p, list := c.parts[c.known[q.List]], all[q.List]
			if p.list != q.List {
				t.Fatalf("list %d has part %+v", q.List, p)
			}
			from, _ := slices.BinarySearch(list, uint32(c.first*c.span))
			to := len(list)
			if end := uint64(c.end) * uint64(c.span); end <= math.MaxUint32 {
				to, _ = slices.BinarySearch(list, uint32(end))
			}
			if from < to && (int(p.begin) > from || int(p.begin+p.count) < to) {
				t.Fatalf("ranges %d to %d: postings %d to %d of list %d, want %d to %d", c.first, c.end, p.begin, p.begin+p.count, q.List, from, to)
			}
		}
	}
}

// TestSought cuts a ranked AND whose queries share a list: the shortest list of one query is decoded, though few
// documents are searched for in it for another one.
func TestSought(t *testing.T) {
	testneeds.Host(t)
	src, _ := cutSource(t, 1<<20, []codec.ID{codec.ParaPFor}, 1<<16, 8, 4)
	b := &plan.RankBatch{K: 10, Mode: plan.And}
	b.Add(src, plan.Term{List: 1, Weight: 1}, plan.Term{List: 2, Weight: 1})
	b.Add(src, plan.Term{List: 0, Weight: 1}, plan.Term{List: 1, Weight: 1})
	c := newCut(src, b, 4096, 1<<20)
	if _, err := c.nextRound(); err != nil || len(c.queries) != 2 {
		t.Fatalf("queries %d, %v", c.queries, err)
	}
	for _, p := range c.parts {
		if p.count == 0 {
			t.Errorf("list %d stays compressed: %+v", p.list, p)
		}
	}
	b.Reset()
	b.Add(src, plan.Term{List: 0, Weight: 1}, plan.Term{List: 1, Weight: 1})
	c = newCut(src, b, 4096, 1<<20)
	if _, err := c.nextRound(); err != nil {
		t.Fatal(err)
	}
	if p := c.parts[c.known[1]]; p.count != 0 {
		t.Errorf("the longer list is decoded for 16 documents: %+v", p)
	}
}
