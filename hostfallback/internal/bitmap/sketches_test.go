package bitmap

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestSketches compares the same checks three times with a scan: without sketches, while they
// are made, and with them. The limits have room for all sketches and for none.
func TestSketches(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SampledFrom([]int{1, 127, 300, 64_512, 64_513, 130_000}).Draw(rt, "rows")
		tab := plantest.NewTable(uint32(rows), rapid.SampledFrom([]int{32, 64}).Draw(rt, "word"))
		width := rapid.IntRange(1, 64).Draw(rt, "bits")
		x := rapid.Uint64().Draw(rt, "seed")
		codes, some := make([]uint64, rows), make([]uint64, (rows+63)/64)
		for i := range codes {
			x = x*6364136223846793005 + 1442695040888963407
			codes[i] = bits.Reverse64(x) >> (64 - width)
			some[i/64] |= x >> 63 << (i % 64)
		}
		some[0] |= 1
		sorted := rapid.Bool().Draw(rt, "sorted")
		if sorted {
			slices.Sort(codes)
		}
		tab.AddCodes(t, codes)
		v := tab.AddVector(some)
		sel := &plan.SelectBatch{Output: plan.OutputBits}
		if rapid.Bool().Draw(rt, "all rows") {
			sel.Any()
			sel.Do(plan.StepNot)
		} else {
			sel.Any(v)
		}
		var ends []uint64
		for range 2 * rapid.SampledFrom([]int{1, 2, fewRanges, fewRanges + 1}).Draw(rt, "ranges") {
			ends = append(ends, rapid.OneOf(rapid.SampledFrom(codes), rapid.SampledFrom([]uint64{0, math.MaxUint64})).Draw(rt, "end"))
		}
		slices.Sort(ends)
		var ranges []plan.CodeRange
		for pair := range slices.Chunk(slices.Compact(ends), 2) {
			ranges = append(ranges, plan.CodeRange{Lo: pair[0], Hi: pair[len(pair)-1]})
		}
		sel.Check(0, ranges...)
		sel.End()
		want := tab.Scan(sel)
		for _, limit := range []uint64{0, 1} {
			st := load(t, &tab.Table, 2, limit, true)
			for call := range 3 {
				var out plan.Rows
				if err := st.Select(t.Context(), sel, &out); err != nil {
					rt.Fatal(err)
				}
				if !slices.Equal(out.Bits, want[0]) {
					rt.Fatalf("call %d, limit %d: other rows", call, limit)
				}
			}
			made := st.sketches[0].tiles[0].Load()
			want := limit == 0 && len(ranges) <= fewRanges && width > shortBits
			near := rows < 64_512 && width <= shortBits || width > shortBits-2 && width < shortBits+2 // headers and exceptions decide
			if has := made != nil && made != &compared; has != want && !near && !sorted {
				rt.Fatalf("limit %d, %d ranges, %d bits: sketches are there: %v", limit, len(ranges), width, has)
			}
		}
	})
}

// TestBounds compares the decision for a tile by the bounds of its codes with its codes.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.Uint64Range(0, 20).Draw(t, "least")
		s := sketched{least: least, greatest: least + rapid.Uint64Range(0, 5).Draw(t, "codes")}
		var ranges []plan.CodeRange
		for at := rapid.Uint64Range(0, 9).Draw(t, "first"); len(ranges) < 3; {
			end := at + rapid.Uint64Range(0, 5).Draw(t, "size")
			ranges = append(ranges, plan.CodeRange{Lo: at, Hi: end})
			at = end + rapid.Uint64Range(1, 5).Draw(t, "gap")
		}
		in := uint64(0)
		for code := s.least; code <= s.greatest; code++ {
			if slices.ContainsFunc(ranges, func(r plan.CodeRange) bool { return r.Lo <= code && code <= r.Hi }) {
				in++
			}
		}
		switch got := s.among(ranges); {
		case got == none && in > 0, got == all && in <= s.greatest-s.least, got == some && in == 0:
			t.Fatalf("codes %d to %d in %v: %d of them, the decision is %d", s.least, s.greatest, ranges, in, got)
		}
	})
}
