package rank

import (
	"errors"
	"math"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestRoundLimits cuts batches for which each of the limits of a round is the narrow one. A round is as long as the limits
// allow, and a window has room for the starts of its ranges.
func TestRoundLimits(t *testing.T) {
	testneeds.Host(t)
	const span = 4096
	src, _ := cutSource(t, 64*span, []codec.ID{codec.Raw}, 1000, 1001, 1002, 1003)
	const ranges = 64
	for name, c := range map[string]struct {
		shape          shape
		k, terms, most int // most: queries of a round
	}{
		"candidates":     {shape{1 << 20, 1 << 20, 3 * 2 * (span + 10)}, 10, 1, 3},
		"starts":         {shape{1 << 20, 2 * (ranges + 1), 1 << 30}, 10, 1, 2},
		"postings":       {shape{3 * roundUp(262, lists.DecodeRound), 1 << 20, 1 << 30}, 10, 1, 3},
		"terms":          {shape{1 << 20, 1 << 20, 1 << 30}, 10, maxTerms / 4, 4},
		"best documents": {shape{1 << 20, 1 << 20, 1 << 30}, maxBest / 5, 1, 5},
		"queries":        {shape{1 << 20, 1 << 20, 1 << 62}, 1, 1, maxQueries},
	} {
		b := &plan.RankBatch{K: c.k}
		b.Reset()
		queries := 2*c.most + 1
		for i := range queries {
			b.AddOrdered(slices.Repeat([]plan.Term{{List: plan.Handle(3 - i%4), Weight: 1}}, c.terms))
		}
		x := newCut(src, b, span, 0)
		x.shape = c.shape
		for _, want := range []int{c.most, c.most, 1} {
			if more, err := x.nextRound(); err != nil || !more || len(x.queries) != want || x.first != 0 || x.end != ranges {
				t.Fatalf("%s: a round of %d queries, ranges %d to %d, want %d queries: %v", name, len(x.queries), x.first, x.end, want, err)
			}
		}
		if more, err := x.nextRound(); more || err != nil {
			t.Errorf("%s: a round too much: %v", name, err)
		}
	}
	b := &plan.RankBatch{K: 10}
	b.Add(src, plan.Term{List: 0, Weight: 1}, plan.Term{List: 1, Weight: 1}, plan.Term{List: 2, Weight: 1})
	x := newCut(src, b, span, 1<<20)
	x.shape.starts = 3 * 17
	if more, err := x.nextRound(); !more || err != nil || x.first != 0 || x.end != 16 {
		t.Errorf("a window of ranges %d to %d with room for the starts of 16: %v", x.first, x.end, err)
	}
}

// TestLaunches divides the most ranges of the most queries into launches.
func TestLaunches(t *testing.T) {
	testneeds.Host(t)
	c := &cut{set: &lists.Set{Src: &plan.Source{Docs: math.MaxUint32}, Device: &device.Runtime{}}, batch: &plan.RankBatch{K: 1},
		span: 4096, ranges: 1 << 20, end: 1 << 20, queries: make([]int, maxQueries), matches: maxQueries, greatest: 1}
	c.shape.keys = 2 * maxQueries * (c.span + 1)
	c.setCapacity()
	done := 0
	for _, p := range c.passes() {
		n := p.end - p.begin
		if p.only {
			n = (n + p.every - 1) / p.every
		} else {
			done += n
		}
		if n*len(c.queries) > maxGroups {
			t.Fatalf("a launch of %d groups", n*len(c.queries))
		}
	}
	if done != c.ranges {
		t.Errorf("%d of %d ranges", done, c.ranges)
	}
}

// TestCollect takes the results of a round: the best documents in order, and queries that lost candidates.
func TestCollect(t *testing.T) {
	testneeds.Host(t)
	const k = 3
	collect := func(second, safe bool, counts ...uint32) (*slot, *cut, error) {
		x := &slot{Flight: device.Flight{Down: &device.Pinned{Words: make([]uint32, resultWords(len(counts), k))}}}
		x.found.spans = make([][2]int, len(counts))
		c := &cut{batch: &plan.RankBatch{K: k}, second: second, safe: safe}
		for i, n := range counts {
			c.queries = append(c.queries, i)
			x.Down.Words[selectState*i] = n
			for j := range k {
				x.Down.Words[selectState*len(counts)+2*(k*i+j)] = uint32(10*i + j)
			}
		}
		return x, c, x.collect(c)
	}
	x, c, err := collect(false, false, 2, 0, selectLost, 3)
	if err != nil || !slices.Equal(x.found.keys, []uint64{1, 0, 32, 31, 30}) || !slices.Equal(c.lost, []int{2}) || c.again != nil {
		t.Errorf("keys %v, queries %v and %v run again: %v", x.found.keys, c.lost, c.again, err)
	}
	if _, c, err = collect(true, false, selectLost); err != nil || c.lost != nil || !slices.Equal(c.again, []int{0}) {
		t.Errorf("queries %v and %v run again: %v", c.lost, c.again, err)
	}
	for _, safe := range []bool{false, true} {
		if _, _, err = collect(false, safe, 1, k+1); !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("one document too much: %v", err)
		}
	}
	if _, _, err = collect(false, true, selectLost); !errors.Is(err, codec.ErrCorrupt) {
		t.Errorf("candidates are lost where none can be: %v", err)
	}
}

// TestStatesAreCleared ranks two batches of many queries over short lists. The second one has low scores, which do not come to
// the thresholds of the first one.
func TestStatesAreCleared(t *testing.T) {
	testneeds.OneCaller(t)
	const docs, queries = 1000, 70
	src := &plan.Source{Docs: docs, Impacts: 16}
	list, impacts := make([]uint32, docs), make([]uint32, docs)
	for h, impact := range []uint32{60_000, 1} {
		for i := range list {
			list[i], impacts[i] = uint32(i), impact
		}
		if _, err := src.Append(codec.Raw, list, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		if err := src.AppendFreqs(plan.Handle(h), impacts, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
	}
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		s, err := load(rt, src)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		for h := range plan.Handle(2) {
			b := plan.RankBatch{K: 2, Norm: plan.Norm{Impacts: 16}, Accumulators: plan.RangeAccumulators}
			for range queries {
				b.Add(src, plan.Term{List: h, Weight: 1 << 30})
			}
			var out plan.TopK
			if err := s.Rank(t.Context(), &b, &out); err != nil || !slices.Equal(out.Docs, slices.Repeat([]uint32{0, 1}, queries)) {
				t.Errorf("list %d: documents %v, %v", h, out.Docs, err)
			}
		}
	})
}
