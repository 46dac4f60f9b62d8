package lists

import (
	"slices"
	"testing"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// same is a number of equal queries.
type same int

func (n same) Len() int { return int(n) }

func (n same) Next(i int, q *query.Query) bool { n.Get(i, q); return false }

func (same) Get(_ int, q *query.Query) uint64 {
	*q = query.Query{Options: query.Options{Match: querylang.AllTerms}}
	return 0
}

// TestBlocks: blocks follow each other and have no more queries than the scheduler allows, nor
// more than their load allows.
func TestBlocks(t *testing.T) {
	x, err := query.NewIndex(&plan.Source{}, nil, nil, plan.Auto)
	if err != nil {
		t.Fatal(err)
	}
	g := &Generation{Index: x, at: []*residence{{p: &pool.Processor{}}}}
	for _, c := range []struct {
		mean           uint64
		queries, limit int
		want           []int
	}{{0, 200, 1000, []int{firstBlock, firstBlock, firstBlock, 8}}, {16, 1200, 1000, []int{500, 500, 200}}, {16, 25, 10, []int{10, 10, 5}}} {
		g.meanLoad.Store(c.mean)
		s := &stream{g: g, qs: same(c.queries), n: c.queries, peeked: -1}
		var sizes []int
		for next := 0; next < c.queries; {
			b := s.Cut(0, 8000, c.limit).Work.(*block)
			if b.first != next || s.Left() != c.queries-next-b.n {
				t.Fatalf("a block from %d, want %d; %d of %d are left", b.first, next, s.Left(), c.queries)
			}
			sizes, next = append(sizes, b.n), next+b.n
		}
		if s.Cut(0, 8000, c.limit) != nil || !slices.Equal(sizes, c.want) {
			t.Errorf("%+v: blocks of %v", c, sizes)
		}
	}
}
