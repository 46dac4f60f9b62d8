package lists

import (
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/workload"
)

// TestRace: ways that disagree are an error, and all ways of heddle agree with roaring.
func TestRace(t *testing.T) {
	s := &bench{&harness.LogBench{Runner: harnesstest.Runner(t, harness.Options{Runs: 1, Threads: 2})}}
	gives := func(n uint64) func() (uint64, error) { return func() (uint64, error) { return n, nil } }
	err := s.race(workload.Collection{Name: "c"}, "AND", []wholeAnswer{{series: "a", run: gives(1)}, {series: "b", run: gives(2)}})
	if err == nil || err.Error() != "b gives 2 docIDs, a gives 1" {
		t.Errorf("%v", err)
	}
	c := workload.Collection{Name: "some", Lists: [][]uint32{{1, 2, 3, 70000}, {2, 3}, {3, 5, 70000}, nil}}
	for range 2 { // the second pass must not depend on the first
		if err := s.realSet(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	and, or, closeAll, err := s.ourAnswers(t.Context(), c, s.Opt.Threads)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	bitmaps := make([]*roaring.Bitmap, len(c.Lists))
	pairs := uint64(0)
	for i, l := range c.Lists {
		bitmaps[i] = roaring.BitmapOf(l...)
		if i > 0 {
			pairs += bitmaps[i-1].AndCardinality(bitmaps[i])
		}
	}
	for _, want := range []struct {
		ways []wholeAnswer
		n    uint64
	}{{and, pairs}, {or, roaring.FastOr(bitmaps...).GetCardinality()}} {
		if len(want.ways) != 4 {
			t.Errorf("%d ways", len(want.ways))
		}
		for _, w := range want.ways {
			if n, err := w.run(); err != nil || n != want.n {
				t.Errorf("%s: %d, %v, want %d", w.series, n, err, want.n)
			}
		}
	}
}
