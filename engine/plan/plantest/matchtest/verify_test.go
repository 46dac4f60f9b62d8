package matchtest

import (
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// TestCompareSeesMistakes checks that compare reports every kind of mistake.
func TestCompareSeesMistakes(t *testing.T) {
	s := plantest.NewSource(100)
	s.Add(t, codec.Raw, []uint32{1, 2, 3})
	s.Add(t, codec.ParaPFor, []uint32{2, 3, 4, 5})
	var b plan.MatchBatch
	b.Reset()
	b.Add(&s.Source, 0, 1)
	b.Add(&s.Source)
	b.Add(&s.Source, 1)
	want := reference.Match(s.Plain.Docs, &b)
	if !slices.EqualFunc(want, [][]uint32{{2, 3}, nil, {2, 3, 4, 5}}, slices.Equal) {
		t.Fatalf("the reference says %v", want)
	}
	stats := plan.Stats{Queries: 3, Candidates: b.Candidates(&s.Source), Matches: 6, Wall: 1}
	right := plan.Results{Offsets: []uint64{0, 2, 2, 6}, Docs: []uint32{2, 3, 2, 3, 4, 5}, Stats: stats}
	if err := compare(s, &b, want, &right); err != nil {
		t.Fatalf("the right answer: %v", err)
	}
	for _, c := range []struct {
		complaint string
		out       plan.Results
	}{
		{"offsets for", plan.Results{Offsets: []uint64{0, 2, 6}, Docs: right.Docs}},
		{"first offset", plan.Results{Offsets: []uint64{1, 2, 2, 6}, Docs: right.Docs}},
		{"descends", plan.Results{Offsets: []uint64{0, 2, 1, 6}, Docs: right.Docs}},
		{"at most 4 are possible", plan.Results{Offsets: []uint64{0, 2, 2, 7}, Docs: append(right.Docs, 6)}},
		{"docIDs, want", plan.Results{Offsets: right.Offsets, Docs: right.Docs[:5]}},
		{"documents, want", plan.Results{Offsets: []uint64{0, 1, 1, 5}, Docs: right.Docs[:5]}},
		{"stats", plan.Results{Offsets: right.Offsets, Docs: right.Docs}},
		{"document 1 of 2 is 4, want 3", plan.Results{Offsets: right.Offsets, Docs: []uint32{2, 4, 2, 3, 4, 5}}},
	} {
		if err := compare(s, &b, want, &c.out); err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%+v: %v, want a complaint about %q", c.out, err, c.complaint)
		}
	}
	if err := compare(s, &b, want, &plan.Results{Offsets: right.Offsets, Docs: right.Docs, Stats: plan.Stats{Queries: 3, Candidates: stats.Candidates, Matches: 5, Wall: 1}}); err == nil {
		t.Error("wrong stats went through")
	}
	b.CountOnly = true
	if err := compare(s, &b, want, &plan.Results{Offsets: right.Offsets, Stats: stats}); err != nil {
		t.Errorf("right counts: %v", err)
	}
	if err := compare(s, &b, want, &right); err == nil {
		t.Error("docIDs where only counts were asked for went through")
	}
}
