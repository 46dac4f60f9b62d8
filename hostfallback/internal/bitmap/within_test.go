package bitmap

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestWithin compares both ways of comparing codes with one comparison a code, up to 64
// codes, near the ends of the range and of the codes.
func TestWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{1, 8, 31, 32}).Draw(t, "bits")
		most := uint32(1<<bits - 1)
		code := rapid.OneOf(rapid.Uint32Range(0, most), rapid.Uint32Range(0, 1), rapid.Uint32Range(most-1, most))
		first, last := rapid.Uint32().Draw(t, "first"), rapid.Uint32().Draw(t, "last")
		if rapid.Bool().Draw(t, "near") {
			first, last = code.Draw(t, "first code"), code.Draw(t, "last code")
		}
		first, last = min(first, last), max(first, last)
		codes := rapid.SliceOfN(rapid.OneOf(code, rapid.SampledFrom([]uint32{min(first, most), min(last, most)})), 0, 64).Draw(t, "codes")
		for len(codes) > 40 && len(codes) < 64 { // whole words are most
			codes = append(codes, codes[0])
		}
		want := uint64(0)
		for i, c := range codes {
			if first <= c && c <= last {
				want |= 1 << i
			}
		}
		if got := within32(codes, first, last); got != want {
			t.Fatalf("within32 of %v from %d to %d: %x, want %x", codes, first, last, got, want)
		}
		if got := within31(codes, first, last); bits < 32 && got != want {
			t.Fatalf("within31 of %v from %d to %d: %x, want %x", codes, first, last, got, want)
		}
	})
}

// TestWideThenNarrow checks a column of 64 bits, then one of 20 bits, by many ranges and by few:
// the codes of the first leave nothing behind for the second.
func TestWideThenNarrow(t *testing.T) {
	const rows = 1000
	tab := plantest.NewTable(rows, 32)
	wide, narrow := make([]uint64, rows), make([]uint64, rows)
	for row := range wide {
		wide[row], narrow[row] = uint64(row+1)<<40, uint64(row)<<10
	}
	tab.AddCodes(t, wide)
	tab.AddCodes(t, narrow)
	sel := &plan.SelectBatch{Output: plan.OutputCounts}
	want := []uint32{3, 3, 30, 30}
	for _, n := range []int{3, 30} {
		for column, codes := range [][]uint64{wide, narrow} {
			sel.Any()
			sel.Do(plan.StepNot)
			var ranges []plan.CodeRange
			for _, code := range codes[:n] {
				ranges = append(ranges, plan.CodeRange{Lo: code, Hi: code})
			}
			sel.Check(uint32(column), ranges...)
			sel.End()
		}
	}
	var out plan.Rows
	st := load(t, &tab.Table, 1, 0, false)
	for range 2 {
		if err := st.Select(t.Context(), sel, &out); err != nil || !slices.Equal(out.Counts, want) {
			t.Fatalf("%d rows, want %d, %v", out.Counts, want, err)
		}
	}
}

// TestWideChecks checks codes of 64 bits whose upper halves are equal to the ends of ranges
// for few rows, for many, and for none.
func TestWideChecks(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		step := rapid.SampledFrom([]uint64{1, 1 << 20, 1 << 31, 1 << 33, 1 << 55}).Draw(t, "step")
		codes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(0, 300).Draw(t, "steps")*step + rapid.Uint64Range(0, 1).Draw(t, "more")
		}), 1, 4*codec.SegmentLen).Draw(t, "codes")
		tab := plantest.NewTable(uint32(len(codes)), 64)
		tab.AddCodes(tb, append(codes[:len(codes)-1:len(codes)-1], math.MaxUint64)) // so that there are upper halves
		codes[len(codes)-1] = math.MaxUint64
		var ranges []plan.CodeRange
		ends := rapid.SliceOfNDistinct(rapid.SampledFrom(codes), 0, 6, rapid.ID[uint64]).Draw(t, "ends")
		slices.Sort(ends)
		for pair := range slices.Chunk(ends, 2) {
			ranges = append(ranges, plan.CodeRange{Lo: pair[0], Hi: pair[len(pair)-1]})
		}
		sel := &plan.SelectBatch{}
		sel.Any()
		sel.Do(plan.StepNot)
		sel.Check(0, ranges...)
		sel.End()
		var out plan.Rows
		if err := load(tb, &tab.Table, 1, 0, false).Select(t.Context(), sel, &out); err != nil {
			t.Fatal(err)
		}
		for row, code := range codes {
			want := slices.ContainsFunc(ranges, func(r plan.CodeRange) bool { return r.Lo <= code && code <= r.Hi })
			if got := out.Bits[row/64]>>(row%64)&1 == 1; got != want {
				t.Fatalf("row %d, code %d in %v: %v, want %v", row, code, ranges, got, want)
			}
		}
	})
}
