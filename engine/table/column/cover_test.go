package column

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// drawRanges draws ranges below n that ascend; some of them touch.
func drawRanges(t *rapid.T, n uint64, label string) (out []plan.CodeRange) {
	ends := rapid.SliceOfNDistinct(rapid.Uint64Range(0, n), 0, 12, rapid.ID).Draw(t, label)
	slices.Sort(ends)
	for i := 0; i+1 < len(ends); i++ {
		if rapid.IntRange(0, 2).Draw(t, "has") > 0 {
			out = append(out, plan.CodeRange{Lo: ends[i], Hi: ends[i+1] - 1})
		}
	}
	return out
}

// TestCover looks at every code of random bins.
func TestCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const codes = 40
		c := &Column{}
		for _, b := range drawRanges(t, codes, "bins") {
			c.Bins = append(c.Bins, Bin{Lo: b.Lo, Hi: b.Hi})
		}
		r := drawRanges(t, codes, "ranges")
		snapped := c.Snap(r)
		for code := range uint64(codes) {
			i, ok := c.Find(code)
			want := slices.IndexFunc(c.Bins, func(b Bin) bool { return b.Lo <= code && code <= b.Hi })
			if ok != (want >= 0) || ok && i != want {
				t.Fatalf("code %d: bin %d (%t), want %d", code, i, ok, want)
			}
			if ok && has(r, code) != has(snapped, code) {
				t.Fatalf("code %d of bins %v: %v became %v", code, c.Bins, r, snapped)
			}
		}
		// Another way to write the same set gives the same: code by code, without gaps.
		var single []plan.CodeRange
		for code := range uint64(codes) {
			if _, ok := c.Find(code); ok && has(r, code) {
				single = append(single, plan.CodeRange{Lo: code, Hi: code})
			}
		}
		if again := c.Snap(single); !reflect.DeepEqual(again, snapped) {
			t.Fatalf("bins %v: %v, and %v code by code", c.Bins, snapped, again)
		}
		whole, checked := c.Cover(snapped)
		kind := make([]int, len(c.Bins)) // 0 to 2: no code, some, all
		for i, b := range c.Bins {
			n := uint64(0)
			for code := b.Lo; code <= b.Hi; code++ {
				if has(r, code) {
					n++
				}
			}
			if n > 0 {
				kind[i]++
			}
			if n == b.Hi-b.Lo+1 {
				kind[i]++
			}
		}
		for name, part := range map[int][]Run{1: checked, 2: whole} {
			var want []Run
			for i, k := range kind {
				if k == name {
					want = addBin(want, i)
				}
			}
			if !reflect.DeepEqual(part, want) {
				t.Fatalf("bins %v, ranges %v: runs %v of kind %d, want %v", c.Bins, snapped, part, name, want)
			}
		}
	})
}
