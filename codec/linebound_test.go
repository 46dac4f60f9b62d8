package codec

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// TestLeast: the lower bounds of sizes are lower bounds, for lists of all kinds and for steps of
// docIDs that bend.
func TestLeast(t *testing.T) {
	check := func(t *rapid.T, docs []uint32) {
		if len(docs) == 0 {
			return
		}
		for _, id := range ids {
			for levels := range MaxRPFDLevels + 1 {
				opt := Options{RPFDLevels: levels}
				if bound := id.row().least; bound != nil && bound(docs, gapWidths(docs), opt) > Size(id, docs, opt) {
					t.Fatalf("%v takes %d words for %d docIDs, at least %d were said", id, Size(id, docs, opt), len(docs), bound(docs, gapWidths(docs), opt))
				}
			}
		}
	}
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(0, 2000).Draw(t, "n")
				check(t, g.List(rapid.Uint64().Draw(t, "seed"), n, rapid.SampledFrom([]uint64{4000, 1 << 20, 1 << 32}).Draw(t, "universe")))
			})
		})
	}
	t.Run("bends", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var docs []uint32
			next := uint64(rapid.Uint32Range(0, 9).Draw(t, "first"))
			for range rapid.IntRange(1, 5).Draw(t, "pieces") {
				gap := rapid.SampledFrom([]uint64{1, 2, 3, 17, 1000, 1 << 20}).Draw(t, "gap")
				for range rapid.IntRange(1, 300).Draw(t, "length") {
					if next < 1<<32 {
						docs = append(docs, uint32(next))
					}
					next += gap
				}
			}
			check(t, docs)
		})
	})
}

// TestLeastIsTight: for docIDs at random the bound of a segment is within two bits of its width.
func TestLeastIsTight(t *testing.T) {
	docs := uniformList(1<<14, 1<<20)
	for s := range lineSegments(docs) {
		segment := lineSegment(docs, s)
		if got, b := leastWidth(segment), fit(segment, roundSlope).b; got > b || got+3 < b {
			t.Errorf("segment %d: a width of at least %d, in fact %d", s, got, b)
		}
	}
}
