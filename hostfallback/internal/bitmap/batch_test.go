package bitmap

import (
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestCursors: a batch that is used again, for another vector, starts no tile where the first vector has it.
func TestCursors(t *testing.T) {
	x := tiling{tileRows: tileGroups32 * 31}
	const tiles = 16
	tab := plantest.NewTable(tiles*x.tileRows, 32)
	for first := range uint64(tiles) { // a row in the first tile, and in each from this tile on
		set := make([]uint64, tiles*x.tileRows/64)
		for tile := range uint64(tiles) {
			if tile > 0 && tile < first {
				continue
			}
			at := tile*uint64(x.tileRows) + 3000*first + 77
			set[at/64] |= 1 << (at % 64)
		}
		tab.AddVector(set)
	}
	st := load(t, &tab.Table, 1, 0, false)
	var b batch
	var out plan.Rows
	for _, v := range []uint32{5, 0, 1, 9, 2, 8} {
		sel := new(plan.SelectBatch)
		sel.Any(v)
		sel.End()
		if p := st.vectors[v].Load(); p.startShift == 0 && v < 8 {
			t.Fatalf("vector %d has a start for each tile", v)
		}
		if err := b.run(t.Context(), st, sel, &out); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Bits, tab.Bits[v]) {
			t.Errorf("vector %d: %d other rows", v, out.Counts[0])
		}
	}
}

// TestSetMemory: the sets of codes of a batch take no bitmaps once they have more than 32 MiB, and the batch does
// not keep that memory.
func TestSetMemory(t *testing.T) {
	const last = 1<<27 - 1
	ranges := []plan.CodeRange{{Lo: 0, Hi: 1}, {Lo: 10, Hi: 11}, {Lo: 20, Hi: 21}, {Lo: 30, Hi: 31}, {Lo: last - 1, Hi: last}}
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
