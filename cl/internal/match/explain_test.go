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
