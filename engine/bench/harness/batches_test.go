package harness

import (
	"slices"
	"testing"

	"heddle/engine/bench/workload"
)

// TestCut: PART cuts by number, PARA by load, and neither loses a query.
func TestCut(t *testing.T) {
	s := &LogBench{W: smallWorkload(t, workload.Uniform)}
	const n = 500
	load := func(first, end int) (sum int) {
		for _, q := range s.W.Queries[first:end] {
			sum += len(s.W.Sorted(q)[0])
		}
		return sum
	}
	part, para := s.Cut(Method{Part: true, Queries: 64}, n), s.Cut(Method{Queries: 64}, n)
	for _, ends := range [][]int{part, para} {
		if !slices.IsSorted(ends) || ends[len(ends)-1] != n || len(ends) < 5 || len(ends) > 9 {
			t.Fatalf("ends %v", ends)
		}
	}
	if part[0] != 64 || part[1] != 128 || len(part) != 8 {
		t.Errorf("PART: %v", part)
	}
	mean := load(0, n) / n * 64
	for i, end := range para[1 : len(para)-1] {
		if l := load(para[i], end); l < mean || load(para[i], end-1) >= mean {
			t.Errorf("PARA: batch %d of %d candidates, the threshold is %d", i+1, l, mean)
		}
	}
}
