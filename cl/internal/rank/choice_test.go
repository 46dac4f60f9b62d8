package rank

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank/packets"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestPasses divides windows into passes: each range has one pass, and passes that must not lose candidates have
// room for all documents of their ranges behind the best k.
func TestPasses(t *testing.T) {
	testneeds.Host(t)
	rapid.Check(t, func(t *rapid.T) {
		span := 1 << rapid.IntRange(10, 15).Draw(t, "log of span")
		ranges := rapid.IntRange(1, 2000).Draw(t, "ranges")
		k := rapid.IntRange(1, plan.MaxK).Draw(t, "k")
		c := &cut{set: &lists.Set{Src: &plan.Source{Docs: uint32(span*(ranges-1) + 1)}, Device: &device.Runtime{}}, batch: &plan.RankBatch{K: k},
			span: span, ranges: ranges, safe: rapid.Bool().Draw(t, "safe"), queries: make([]int, rapid.IntRange(1, 100).Draw(t, "queries"))}
		if c.safe {
			c.queries = c.queries[:1]
		}
		c.shape.keys = len(c.queries) * (2*(span+k) + rapid.IntRange(0, 1<<20).Draw(t, "more keys"))
		c.matches = rapid.Float64Range(1, float64(span*ranges)).Draw(t, "matches") * float64(len(c.queries))
		c.greatest = c.matches / float64(len(c.queries))
		c.setCapacity()
		if c.capacity < k || c.capacity*len(c.queries) > c.shape.keys {
			t.Fatalf("%d candidates of %d queries, there is room for %d", c.capacity, len(c.queries), c.shape.keys)
		}
		c.first = rapid.IntRange(0, ranges-1).Draw(t, "first")
		c.end = rapid.IntRange(c.first+1, ranges).Draw(t, "end")
		seen := make([]int, ranges)
		for _, p := range c.passes() {
			n := 0
			for r := p.begin; r < p.end; r++ {
				if p.every == 1 || ((r-c.first)%p.every == 0) == p.only {
					seen[r]++
					n++
				}
			}
			if docs := min(n*span, int(c.set.Src.Docs)); c.safe && docs+k > c.capacity {
				t.Errorf("a pass of %d ranges of %d documents with room for %d candidates behind %d", n, span, c.capacity-k, k)
			}
		}
		for r, n := range seen {
			if in := r >= c.first && r < c.end; in != (n == 1) {
				t.Fatalf("range %d of a window from %d to %d has %d passes", r, c.first, c.end, n)
			}
		}
	})
}

// packetsRanker has packets of some lists, without a device.
func packetsRanker(t *testing.T, placed ...plan.Handle) (*Ranker, *plan.Source) {
	t.Helper()
	src, _ := cutSource(t, 1<<16, []codec.ID{codec.Raw}, 64, 16, 8, 4)
	memory := device.NewBudget("a device", 1<<30)
	r := &Ranker{set: &lists.Set{Src: src, Device: &device.Runtime{Memory: memory}, Memory: memory}}
	if s := r.hold(plan.Norm{Base: 1}); s != nil {
		for i, h := range placed {
			s.Put(h, packets.Place{Off: uint32(100 * i), Packets: 50})
		}
	}
	return r, src
}

// TestPacketsInUse asks for packets under another Norm while a batch holds them: they stay until it lets them go.
func TestPacketsInUse(t *testing.T) {
	testneeds.Host(t)
	r, _ := packetsRanker(t)
	was := r.held.store
	for i := range 3 * patience {
		if s := r.hold(plan.Norm{Base: 2}); s != nil || r.held.store != was {
			t.Fatalf("batch %d under another Norm changed packets in use", i)
		}
	}
	r.letGo()
	if s := r.hold(plan.Norm{Base: 2}); s == nil || s == was || s.Norm.Base != 2 {
		t.Errorf("packets did not change once they were free: %v", s)
	}
}

// TestTakeWithPackets takes queries to a round of the coarse path: one with a list without packets leaves no trace.
func TestTakeWithPackets(t *testing.T) {
	testneeds.Host(t)
	r, src := packetsRanker(t, 0, 2)
	b := &plan.RankBatch{K: 10}
	for _, q := range [][]plan.Handle{{0, 1}, {0, 2}, {1, 2}} {
		b.Add(src, plan.Term{List: q[0], Weight: 1}, plan.Term{List: q[1], Weight: 1})
	}
	k := &coarse{packets: r.held.store, places: map[plan.Handle]coarseList{}}
	c := &cut{set: r.set, batch: b}
	k.take(c, 0)
	if len(k.queries) != 0 || len(k.places) != 0 || len(k.lists) != 0 || k.terms != 0 {
		t.Errorf("a query with a list without packets left %+v", k)
	}
	k.take(c, 1)
	k.take(c, 2)
	if len(k.queries) != 1 || len(k.lists) != 2 || k.terms != 2 || k.places[k.lists[0]].number != 0 || k.places[k.lists[1]].number != 1 {
		t.Errorf("a query whose lists have packets: %+v", k)
	}
}
