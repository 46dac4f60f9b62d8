package match

import (
	"strings"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestExplainLevels checks that parallel merge find is named only where it runs.
func TestExplainLevels(t *testing.T) {
	src := plantest.NewSource(1000)
	add := func(id codec.ID, n uint32) plan.Handle {
		docs := make([]uint32, n)
		for i := range docs {
			docs[i] = uint32(i)
		}
		return src.Add(t, id, docs)
	}
	short, raw := add(codec.ParaPFor, 5), add(codec.Raw, 100)
	gaps, line := add(codec.ParaPFor, 200), add(codec.LRC, 300)
	for _, c := range []struct {
		lists []plan.Handle
		want  string
	}{
		{[]plan.Handle{short}, "pmf3"},
		{[]plan.Handle{short, raw}, "pmf3"},
		{[]plan.Handle{raw, gaps}, "no pmf3"},
		{[]plan.Handle{short, raw, gaps}, "no pmf3"},
		{[]plan.Handle{short, line}, "no pmf3"},
		{[]plan.Handle{short, raw, line}, "pmf3 on plain lists"},
	} {
		b := &plan.MatchBatch{Algorithm: plan.PMF3}
		b.Add(&src.Source, c.lists...)
		if got, _, _ := strings.Cut(explainLevels(b, &src.Source), ":"); got != c.want {
			t.Errorf("lists %v: %s, want %s", c.lists, got, c.want)
		}
	}
}

// TestExplainPlain names binary search for a plain list where gap codecs of the same set can
// join its rounds.
func TestExplainPlain(t *testing.T) {
	r := lists.Record{3: lists.ProbePMF << 16, 6: 3}
	for with, want := range map[device.Features]bool{0: false, lists.UseLines: false, lists.UseGaps: true} {
		m := &Matcher{set: &lists.Set{With: with}}
		if got := m.explainList(&r, &plan.List{Codec: codec.Raw}); strings.Contains(got, "binary search") != want || !strings.Contains(got, "parallel merge find with 3 levels") {
			t.Errorf("features %b: %q", with, got)
		}
	}
}

// TestExplainGiven names the part of a batch that merge and lr run.
func TestExplainGiven(t *testing.T) {
	src := plantest.NewSource(1000)
	var handles []plan.Handle
	for _, n := range []uint32{50, 100, 200} {
		docs := make([]uint32, n)
		for i := range docs {
			docs[i] = uint32(i)
		}
		handles = append(handles, src.Add(t, codec.Raw, docs))
	}
	records := []lists.Record{{1: 50, 3: uint32(codec.Raw)}, {1: 100, 3: uint32(codec.Raw) | lists.ProbeLR<<16},
		{1: 200, 3: uint32(codec.LRC), 7: uint32(lists.UseLines)}}
	m := &Matcher{tile: 128, mergeTile: 256, maxTiles: 64}
	for _, c := range []struct {
		a       plan.Algorithm
		queries [][]plan.Handle
		want    string
	}{
		{plan.BS, [][]plan.Handle{{0, 1}, {0, 2}}, "bs"},
		{plan.LR, [][]plan.Handle{{0, 1}, {0}}, "lr"},
		{plan.LR, [][]plan.Handle{{0, 1, 2}}, "lr in 1 lists, none in 1: "},
		{plan.MergePath, [][]plan.Handle{{0, 1}}, "merge"},
		{plan.MergePath, [][]plan.Handle{{0, 1}, {0, 1, 2}, {1, 2}}, "merge in 1 queries, hs16 in 2, "},
	} {
		b := &plan.MatchBatch{Algorithm: c.a}
		for _, q := range c.queries {
			var hs []plan.Handle
			for _, k := range q {
				hs = append(hs, handles[k])
			}
			b.Add(&src.Source, hs...)
		}
		if got := m.explainGiven(b, records); !strings.HasPrefix(got, c.want) || !strings.Contains(c.want, " ") && got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.a, c.queries, got, c.want)
		}
	}
}
