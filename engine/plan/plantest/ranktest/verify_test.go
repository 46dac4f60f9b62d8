package ranktest

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/index/bm25"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// rankedExample returns a batch of three queries, the second of which has no
// matches.
func rankedExample(t *testing.T) (*plantest.Source, *plan.RankBatch) {
	s := plantest.NewSource(6)
	s.Impacts = 8
	s.AddRanked(t, codec.Raw, []uint32{1, 2, 4}, []uint32{7, 9, 7})
	s.AddRanked(t, codec.Raw, []uint32{2, 5}, []uint32{1, 3})
	r := &plan.RankBatch{K: 2, Norm: plan.Norm{Impacts: 8}}
	r.Add(&s.Source, plan.Term{List: 0, Weight: 1 << 8})
	r.Add(&s.Source)
	r.Add(&s.Source, plan.Term{List: 0, Weight: 1 << 8}, plan.Term{List: 1, Weight: 10 << 8})
	return s, r
}

// TestCompareSeesMistakes checks that compare reports every kind of mistake.
func TestCompareSeesMistakes(t *testing.T) {
	s, r := rankedExample(t)
	all := s.Plain.Rank(r)
	right := func() *plan.TopK {
		return &plan.TopK{
			Offsets: []uint64{0, 2, 2, 4}, Docs: []uint32{2, 1, 5, 2}, Scores: []uint32{9, 7, 30, 19},
			Stats: plan.Stats{Queries: 3, Postings: 8, Matches: 4, Wall: 1},
		}
	}
	if err := compare(s, r, all, right()); err != nil {
		t.Fatalf("the right answer: %v", err)
	}
	for _, c := range []struct {
		complaint string
		spoil     func(*plan.TopK)
	}{
		{"offsets", func(out *plan.TopK) { out.Offsets = out.Offsets[:3] }},
		{"offsets", func(out *plan.TopK) { out.Offsets[0] = 1 }},
		{"offsets from 0 to 4", func(out *plan.TopK) { out.Offsets[1] = 4 }},
		{"scores, want", func(out *plan.TopK) { out.Scores = out.Scores[:3] }},
		{"docIDs", func(out *plan.TopK) { out.Docs = append(out.Docs, 1) }},
		{"with k = 2", func(out *plan.TopK) { out.Offsets = []uint64{0, 0, 0, 4} }},
		{"document 6 of 6", func(out *plan.TopK) { out.Docs[3] = 6 }},
		{"with score 31", func(out *plan.TopK) { out.Scores[3] = 31 }},
		{"1 documents, want 2 of 3", func(out *plan.TopK) {
			out.Offsets, out.Docs, out.Scores = []uint64{0, 1, 1, 3}, []uint32{2, 5, 2}, []uint32{9, 30, 19}
		}},
		{"place 1 of 2 is document 4", func(out *plan.TopK) { out.Docs[1] = 4 }}, // a tie
		{"with score 8, want 1 with 7", func(out *plan.TopK) { out.Scores[1] = 8 }},
		{"stats", func(out *plan.TopK) { out.Stats.Queries = 2 }},
		{"stats", func(out *plan.TopK) { out.Stats.Postings = 9 }},
		{"stats", func(out *plan.TopK) { out.Stats.Matches = 5 }},
		{"stats", func(out *plan.TopK) { out.Stats.Wall = 0 }},
	} {
		out := right()
		c.spoil(out)
		if err := compare(s, r, all, out); err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%+v: %v, want a complaint about %q", out, err, c.complaint)
		}
	}
}

func TestCheckScoresSeesMistakes(t *testing.T) {
	all := map[uint32]float64{1: 3, 2: 3.0001, 5: 1, 9: 7}
	tolerance := func(float64) float64 { return 0.001 }
	for _, c := range []struct {
		complaint string
		docs      []uint32
		scores    []float64
	}{
		{"", []uint32{9, 1}, []float64{7, 3}}, // within the tolerance of 2
		{"", []uint32{9, 2}, []float64{7.0009, 3}},
		{"1 documents", []uint32{9}, []float64{7}},
		{"does not match", []uint32{9, 3}, []float64{7, 3}},
		{"is repeated", []uint32{9, 9}, []float64{7.0001, 7}},
		{"has score 3.01", []uint32{9, 2}, []float64{7, 3.01}},
		{"follows document 1", []uint32{1, 9}, []float64{3, 7}},
		{"not among the best", []uint32{9, 5}, []float64{7, 1}},
	} {
		err := CheckScores(c.docs, c.scores, 2, all, tolerance)
		if (err == nil) != (c.complaint == "") || err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%v, %v: %v, want a complaint about %q", c.docs, c.scores, err, c.complaint)
		}
	}
	if err := CheckScores([]uint32{2, 1}, []float64{3, 3}, 2, map[uint32]float64{1: 3, 2: 3}, tolerance); err == nil {
		t.Error("ties in descending order of docIDs went through")
	}
}

// TestTolerance checks random postings: no score may exceed Tolerance, and one must
// use at least 0.3 of it.
func TestTolerance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	worst := 0.0
	for range 200_000 {
		p := bm25.Params{K1: []float64{0.9, 0.9, 3 * r.Float64(), 255 * r.Float64()}[r.IntN(4)], B: r.Float64()}
		average := math.Exp(10 * r.Float64())
		f, length := max(r.Uint32()>>r.IntN(32), 1), r.Uint32()>>r.IntN(32)
		w := math.Exp(20 * (r.Float64() - 0.7))
		fixed, scale := bm25.Fix(nil, []float64{w})
		got := scale.Score(plan.Contribution(fixed[0], p.Norm(average).TF(f, length)))
		tf, norm := float64(f), p.K1*(1-p.B+p.B*float64(length)/average)
		if norm >= 1<<32 { // plan.Norm ends there
			continue
		}
		want := w * tf / (tf + norm)
		off := math.Abs(got-want) / Tolerance(1, scale.Score(1))(want)
		if off > 1 {
			t.Fatalf("%v, average %v: %d times in %d tokens scores %v, not %v: %.2f of the tolerance", p, average, f, length, got, want, off)
		}
		worst = max(worst, off)
	}
	if worst < 0.3 {
		t.Errorf("at most %.2f of the tolerance is in use: it is too wide", worst)
	}
}
