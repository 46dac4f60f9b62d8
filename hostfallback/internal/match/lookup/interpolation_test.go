package lookup

import (
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/hostfallback/internal/hosttest"
)

// TestLocalRanges: every docID lies in its local range. The mean local range is narrower than
// the range of the whole line.
func TestLocalRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	const universe = 1 << 20
	for _, g := range codectest.Generators() {
		docs := g.Gen(r, 5000, universe)
		if len(docs) == 0 {
			continue
		}
		l := newLocal(docs, codec.BucketShift(uint32(len(docs)), universe, localBucket))
		for i, x := range docs {
			if lo, hi := l.find(x, uint32(len(docs))); uint32(i) < lo || uint32(i) >= hi {
				t.Fatalf("%s: docID %d has index %d, its range is %d to %d", g.Name, x, i, lo, hi)
			}
		}
		if whole := float64(l.line.Left + l.line.Right + 1); l.mean() > whole {
			t.Errorf("%s: ranges of %.1f under a line with one of %.1f", g.Name, l.mean(), whole)
		}
	}
}

// TestInterpolationSteps: interpolation takes few steps on uniform lists, and at most twice
// the steps of binary search on any list.
func TestInterpolationSteps(t *testing.T) {
	steps := func(docs []uint32, x uint32) (n int) {
		for lo, hi := 0, len(docs)-1; hi-lo > 8 && docs[lo] <= x && x <= docs[hi]; n++ {
			lo, hi = guess(docs, lo, hi, x)
		}
		return n
	}
	r := rand.New(rand.NewPCG(7, 2))
	even := hosttest.Uniform(r, 100_000, 1<<30)
	sum := 0
	for range 1000 {
		sum += steps(even, even[r.IntN(len(even))])
	}
	if sum > 6*1000 {
		t.Errorf("%d steps for 1000 docIDs of a uniform list", sum)
	}
	steep := make([]uint32, 31) // each docID is twice the one before
	for i := range steep {
		steep[i] = 1 << i
	}
	for _, x := range steep {
		if n := steps(steep, x); n > 5 {
			t.Errorf("%d steps for %d among 31 powers of two", n, x)
		}
	}
}

func TestSkips(t *testing.T) {
	docs := make([]uint32, 16*16*16+1)
	for i := range docs {
		docs[i] = uint32(3 * i)
	}
	s := newSkips(docs)
	if len(s) != 3 || len(s[0]) != 257 || len(s[1]) != 17 || len(s[2]) != 2 {
		t.Fatalf("%d levels over %d docIDs", len(s), len(docs))
	}
	if s[0][0] != docs[15] || s[1][15] != docs[4095] || s[2][1] != docs[4096] {
		t.Errorf("wrong nodes: %d, %d, %d", s[0][0], s[1][15], s[2][1])
	}
	if s := newSkips(docs[:16]); len(s) != 0 {
		t.Errorf("%d levels over 16 docIDs", len(s))
	}
}
