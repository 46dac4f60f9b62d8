package workload

import (
	"math"
	"slices"
	"testing"
)

func TestLn(t *testing.T) {
	r := NewRandom(1, streamList, 0)
	for range 100_000 {
		x := r.Unit()
		if x <= 0 || x > 1 {
			t.Fatalf("unit drew %v", x)
		}
		if got, want := Ln(x), math.Log(x); math.Abs(got-want) > 1e-14*max(1, math.Abs(want)) {
			t.Fatalf("ln(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{1, 0x1p-53, math.Sqrt2, math.Nextafter(1, 0), 1e-300, 1e300} {
		if got, want := Ln(x), math.Log(x); math.Abs(got-want) > 1e-14*math.Abs(want) {
			t.Errorf("ln(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestSample(t *testing.T) {
	const lo, hi = 1000, 201_000
	for _, p := range []float64{0, 1e-9, 0.0001, 0.01, 0.3, 0.9, 0.999} {
		got := NewRandom(7, streamList, 1).Sample(nil, lo, hi, p)
		for i, x := range got {
			if x < lo || x >= hi || i > 0 && x <= got[i-1] {
				t.Fatalf("p %v: %d at index %d", p, x, i)
			}
		}
		mean := p * (hi - lo)
		if sigma := math.Sqrt(mean * (1 - p)); math.Abs(float64(len(got))-mean) > 5*sigma+1 {
			t.Errorf("p %v: %d numbers, want about %.0f", p, len(got), mean)
		}
		// Evenly spread: half of them in the lower half.
		mid, _ := slices.BinarySearch(got, (lo+hi)/2)
		if d := float64(mid) - float64(len(got))/2; math.Abs(d) > 5*math.Sqrt(float64(len(got))/4)+1 {
			t.Errorf("p %v: %d of %d in the lower half", p, mid, len(got))
		}
	}
}

func TestBelowAndShuffle(t *testing.T) {
	r := NewRandom(1, streamDocIDs, 0)
	var count [7]int
	for range 70_000 {
		count[r.Below(7)]++
	}
	for v, n := range count {
		if n < 9500 || n > 10_500 {
			t.Errorf("%d came %d times of 70000", v, n)
		}
	}
	s := make([]int, 1000)
	for i := range s {
		s[i] = i
	}
	Shuffle(r, s)
	fixed := 0
	for i, v := range s {
		if i == v {
			fixed++
		}
	}
	if fixed > 10 {
		t.Errorf("%d of 1000 stayed in place", fixed)
	}
	slices.Sort(s)
	if s[0] != 0 || s[999] != 999 || len(slices.Compact(s)) != 1000 {
		t.Error("a shuffle is not a permutation")
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := make(map[uint64]bool)
	for seed := range uint64(3) {
		for kind := streamNames; kind <= StreamGaps; kind++ {
			for index := range uint64(50) {
				seen[NewRandom(seed, kind, index).pcg.Uint64()] = true
			}
		}
	}
	if want := 3 * int(StreamGaps) * 50; len(seen) != want {
		t.Errorf("%d first numbers of %d streams", len(seen), want)
	}
}
