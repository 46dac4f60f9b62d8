package serve

import (
	"slices"
	"testing"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// TestConcurrency: a run was alone if it began with nothing running, and nothing began since.
func TestConcurrency(t *testing.T) {
	var c concurrency
	a := c.enter()
	if !c.alone(a) {
		t.Error("the only run was not alone")
	}
	b := c.enter()
	c.leave()
	if c.alone(a) || c.alone(b) {
		t.Error("one of two runs beside each other was alone")
	}
	c.leave()
	if d := c.enter(); !c.alone(d) {
		t.Error("a run after others was not alone")
	}
}

// same is a number of equal queries.
type same int

func (n same) Len() int { return int(n) }

func (n same) Next(i int, q *query.Query) bool { n.Get(i, q); return false }

func (same) Get(_ int, q *query.Query) uint64 {
	*q = query.Query{Options: query.Options{Match: query.And}}
	return 0
}

// TestBlocks: towards the end of a call blocks get smaller. Blocks of a host that is slow
// beside devices take no more than a quarter of the time that is left, and all queries are
// cut.
func TestBlocks(t *testing.T) {
	x, err := query.NewIndex(&plan.Source{}, nil, nil, plan.Auto)
	if err != nil {
		t.Fatal(err)
	}
	g := &Lists{Index: x}
	g.meanLoad.Store(16)
	processor := func(host bool, lanes int) *residence {
		return &residence{p: &Processor{Opened: backend.Opened{Candidate: backend.Candidate{Host: host}}, lanes: lanes}}
	}
	g.at = []*residence{processor(true, 2), processor(false, 16)}
	host, device := &g.at[0].perQuery[cost.And], &g.at[1].perQuery[cost.And]
	cut := func(p, queries int) []int {
		s := &stream{g: g, qs: same(queries), n: queries, peeked: -1}
		var sizes []int
		for next := 0; next < queries; {
			b := s.Cut(p, 8000).Work.(*block)
			if b.first != next {
				t.Fatalf("a block from %d, want %d", b.first, next)
			}
			sizes, next = append(sizes, b.n), next+b.n
		}
		if s.Cut(p, 8000) != nil {
			t.Error("a block of nothing")
		}
		return sizes
	}
	if got := cut(0, 100)[0]; got != 8 {
		t.Errorf("the first block of a host that nothing is known of has %d queries", got)
	}
	host.Store(2_000_000) // 1,000 queries a second on two lanes
	device.Store(160_000) // 100,000 on sixteen
	sizes := cut(1, 10_000)
	if sizes[0] != 500 || !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) || sizes[len(sizes)-2] != firstBlock {
		t.Errorf("on a device: %v", sizes)
	}
	g.at[1].p.removed.Store(true)
	if got := cut(0, 10_000); !slices.Equal(got[:2], []int{500, 500}) || got[len(got)-2] != firstBlock {
		t.Errorf("on a host that is left alone: %v", got)
	}
	g.at[1].p.removed.Store(false)
	for left, want := range map[int]int{10_000: 12, 2000: 2, 10: 1} { // a quarter of left/101,000 s, 2 ms each
		if got := cut(0, left)[0]; got != want {
			t.Errorf("%d queries left: a block of %d on the host, want %d", left, got, want)
		}
	}
}
