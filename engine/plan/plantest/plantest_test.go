package plantest

import (
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct{ a, b, want []uint32 }{
		{nil, nil, nil},
		{[]uint32{1}, nil, nil},
		{nil, []uint32{1}, nil},
		{[]uint32{1, 3, 5}, []uint32{0, 1, 2, 5, 9}, []uint32{1, 5}},
		{[]uint32{0, maxUniverse - 1}, []uint32{maxUniverse - 1}, []uint32{maxUniverse - 1}},
		{[]uint32{2, 4}, []uint32{1, 3, 5}, nil},
	} {
		if got := plan.Merge(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("plan.Merge(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// A suite that passes everything is worth nothing: wrong results must be seen.
func TestCompareSeesMistakes(t *testing.T) {
	s := &source{Source: plan.Source{Docs: 100}}
	s.add(t, codec.Raw, []uint32{1, 2, 3})
	s.add(t, codec.ParaPFor, []uint32{2, 3, 4, 5})
	var b plan.MatchBatch
	b.Reset()
	b.Add(&s.Source, 0, 1)
	b.Add(&s.Source)
	b.Add(&s.Source, 1)
	want := s.answer(&b)
	if !slices.EqualFunc(want, [][]uint32{{2, 3}, nil, {2, 3, 4, 5}}, slices.Equal) {
		t.Fatalf("the oracle says %v", want)
	}
	right := plan.Results{Offsets: []uint64{0, 2, 2, 6}, Docs: []uint32{2, 3, 2, 3, 4, 5}}
	if err := s.compare(&b, want, &right); err != nil {
		t.Fatalf("the right answer: %v", err)
	}
	for _, c := range []struct {
		complaint string
		out       plan.Results
	}{
		{"offsets for", plan.Results{Offsets: []uint64{0, 2, 6}, Docs: right.Docs}},
		{"first offset", plan.Results{Offsets: []uint64{1, 2, 2, 6}, Docs: right.Docs}},
		{"descends", plan.Results{Offsets: []uint64{0, 2, 1, 6}, Docs: right.Docs}},
		{"shortest list", plan.Results{Offsets: []uint64{0, 2, 2, 7}, Docs: append(right.Docs, 6)}},
		{"docIDs, want", plan.Results{Offsets: right.Offsets, Docs: right.Docs[:5]}},
		{"documents, want", plan.Results{Offsets: []uint64{0, 1, 1, 5}, Docs: right.Docs[:5]}},
		{"document 1 of 2 is 4, want 3", plan.Results{Offsets: right.Offsets, Docs: []uint32{2, 4, 2, 3, 4, 5}}},
	} {
		if err := s.compare(&b, want, &c.out); err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%+v: %v, want a complaint about %q", c.out, err, c.complaint)
		}
	}
	b.CountOnly = true
	if err := s.compare(&b, want, &plan.Results{Offsets: right.Offsets}); err != nil {
		t.Errorf("right counts: %v", err)
	}
	if err := s.compare(&b, want, &right); err == nil {
		t.Error("docIDs where only counts were asked for went through")
	}
}
