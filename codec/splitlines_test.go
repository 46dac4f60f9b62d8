package codec

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// TestSplitLines: the range of a docID contains its index and lies in one segment, for lists of
// every shape; the deviations have the documented bound.
func TestSplitLines(t *testing.T) {
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(0, 1200).Draw(t, "n")
				universe := rapid.Uint64Range(0, codectest.Universe).Draw(t, "universe")
				docs := g.List(rapid.Uint64().Draw(t, "seed"), n, universe)
				s := FitLines(docs)
				all := uint32(len(docs))
				for k, l := range s.Lines {
					if l.Left >= 1<<21 || l.Right >= 1<<21 || l.Slope > 1<<30 {
						t.Fatalf("segment %d: %+v", k, l)
					}
				}
				for i, d := range docs {
					if lo, hi := s.Range(d, all); uint32(i) < lo || uint32(i) >= hi || lo/SplitLen != (hi-1)/SplitLen {
						t.Fatalf("docID %d at %d of %d has the range %d to %d", d, i, all, lo, hi)
					}
				}
				for _, x := range []uint32{0, 1 << 31, math.MaxUint32, rapid.Uint32().Draw(t, "x")} {
					if lo, hi := s.Range(x, all); lo > hi || hi > all || slices.Contains(docs, x) != slices.Contains(docs[lo:hi], x) {
						t.Fatalf("docID %d has the range %d to %d of %d", x, lo, hi, all)
					}
				}
			})
		})
	}
}
