package bitmap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestCursors: a batch that is used again begins a tile of a vector where this vector has it, not where the vector
// of the batch before had it. Each batch leaves out some tiles of its second vector, since its first one is empty there.
func TestCursors(t *testing.T) {
	x := tiling{tileRows: tileGroups32 * 31}
	const tiles, half = 16, 6
	tab := plantest.NewTable(tiles*x.tileRows, 32)
	add := func(row uint64, in func(tile uint64) bool) {
		set := make([]uint64, tiles*x.tileRows/64)
		for tile := range uint64(tiles) {
			for at := row; at < uint64(x.tileRows) && in(tile); at += 30_000 {
				set[(tile*uint64(x.tileRows)+at)/64] |= 1 << (at % 64)
			}
		}
		tab.AddVector(set)
	}
	add(77, func(tile uint64) bool { return tile < half })
	add(77, func(tile uint64) bool { return tile >= half })
	add(77, func(tile uint64) bool { return tile == 0 || tile > half })
	add(77, func(uint64) bool { return true })
	st := loadAll(t, &tab.Table, 1, 0)
	var b batch
	var out plan.Rows
	for _, pair := range [][2]uint32{{0, 2}, {1, 3}, {0, 3}, {1, 2}} {
		sel := new(plan.SelectBatch)
		sel.Any(pair[0])
		sel.Any(pair[1])
		sel.Do(plan.StepAnd)
		sel.End()
		if st.vectors[pair[1]].Load().startShift == 0 {
			t.Fatalf("vector %d has a start for each tile", pair[1])
		}
		if err := b.run(t.Context(), st, sel, &out); err != nil {
			t.Fatal(err)
		}
		for i, got := range out.Bits {
			if want := tab.Bits[pair[0]][i] & tab.Bits[pair[1]][i]; got != want {
				t.Fatalf("vectors %d: word %d is %x, want %x", pair, i, got, want)
			}
		}
	}
}

// TestSetMemory: the sets of codes of a batch take no bitmaps once they have more than 32 MiB, and the batch does
// not keep that memory.
func TestSetMemory(t *testing.T) {
	const last = 1<<27 - 1
	ranges := []plan.CodeRange{{Lo: last - 1, Hi: last}}
	for i := uint64(bitslice.FewRanges); i > 0; i-- {
		ranges = slices.Insert(ranges, 0, plan.CodeRange{Lo: 10 * (i - 1), Hi: 10*(i-1) + 1})
	}
	sel := new(plan.SelectBatch)
	for range 3 {
		sel.Any()
		sel.Do(plan.StepNot)
		sel.Check(0, ranges...)
		sel.End()
	}
	b := batch{table: &Table{data: &plan.Table{Rows: 1 << 27}}, sel: sel}
	b.compile()
	if len(b.sets) != 3 || b.sets[0].Bytes() < 16<<20 || b.sets[1].Bytes() < 16<<20 || b.sets[2].Bytes() > 0 {
		t.Fatalf("sets of %d, %d and %d bytes", b.sets[0].Bytes(), b.sets[1].Bytes(), b.sets[2].Bytes())
	}
	for code, want := range map[uint64]bool{0: true, 2: false, 31: true, 32: false, last: true, last - 2: false} {
		for i := range b.sets {
			if got := b.sets[i].Has(code); got != want {
				t.Errorf("set %d has code %d: %v", i, code, got)
			}
		}
	}
	if b.forget(); b.sets != nil {
		t.Errorf("%d sets are kept", len(b.sets))
	}
}

// TestForget: a batch has no ranges of its caller behind a run.
func TestForget(t *testing.T) {
	tab := plantest.NewTable(1000, 32)
	tab.AddVector([]uint64{1})
	codes := make([]uint64, 1000)
	for i := range codes {
		codes[i] = uint64(i)
	}
	tab.AddCodes(t, codes)
	sel := new(plan.SelectBatch)
	sel.Any()
	sel.Do(plan.StepNot)
	var ranges []plan.CodeRange
	for i := uint64(0); i <= bitslice.FewRanges; i++ {
		ranges = append(ranges, plan.CodeRange{Lo: 4 * i, Hi: 4*i + 1})
	}
	sel.Check(0, ranges...)
	sel.End()
	var b batch
	var out plan.Rows
	if err := b.run(t.Context(), loadAll(t, &tab.Table, 1, 0), sel, &out); err != nil || int(out.Counts[0]) != 2*len(ranges) {
		t.Fatalf("%d rows, %v", out.Counts, err)
	}
	if len(b.sets) != 1 || b.sets[0].Has(4) {
		t.Errorf("%d sets, the first has the codes of the last run", len(b.sets))
	}
}

// TestSetOfFewRows tests many codes in the rows that another test leaves: few, some and many of a tile, in few and in all segments.
func TestSetOfFewRows(t *testing.T) {
	const rows = 3*bitslice.TileRows + 500
	r := rand.New(rand.NewPCG(4, 6))
	tab := plantest.NewTable(rows, 32)
	few, codes := make([]uint64, rows), make([]uint64, rows)
	var ranges []plan.CodeRange
	for code := uint64(0); code < 1<<18; code += 3 + r.Uint64N(5) {
		ranges = append(ranges, plan.CodeRange{Lo: code, Hi: code + r.Uint64N(2)})
	}
	for row := range codes {
		few[row], codes[row] = r.Uint64N(1000), r.Uint64N(1<<18)
		if row/bitslice.SegmentRows%5 > 0 {
			few[row] += 10
		}
	}
	tab.AddCodes(t, few)
	tab.AddCodes(t, codes)
	st := loadAll(t, &tab.Table, 2, 0)
	for _, below := range []uint64{1, 5, 20, 100, 500, 2000} {
		sel := &plan.SelectBatch{Output: plan.OutputBits}
		sel.Any()
		sel.Do(plan.StepNot)
		sel.Check(0, plan.CodeRange{Lo: 0, Hi: below - 1})
		sel.Check(1, ranges...)
		sel.End()
		want := plantest.NewFilter(rows, func(row uint32) bool { return few[row] < below && bitslice.Contains(ranges, codes[row]) })
		var out plan.Rows
		if err := st.Select(t.Context(), sel, &out); err != nil || !slices.Equal(out.Selection(0), want) {
			t.Errorf("below %d: %d rows, %v, want other rows", below, out.Counts[0], err)
		}
	}
}
