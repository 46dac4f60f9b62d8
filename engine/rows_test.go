package engine

import (
	"slices"
	"testing"

	"heddle/engine/table/rowset"
)

// selected selects a predicate of wheres and compares its rows.
func selected(t *testing.T, x *Table, s Selection, i int) Rows {
	t.Helper()
	s.Where = wheres[i]
	r, err := x.Select(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, r, i)
	return r
}

func sameBits(t *testing.T, r Rows, i int) {
	t.Helper()
	if want := wanted(); r.Count != uint64(want.Counts[i]) || !slices.Equal(r.Bits, want.Selection(i)) {
		t.Errorf("%s: %d rows, want %d, or other ones", wheres[i], r.Count, want.Counts[i])
	}
}

func wantedBits(i int) []uint64 {
	want := wanted()
	return want.Selection(i)
}

// TestRowsRelease: rows stay as they are until their own release, in the memory of later answers too, and a second release
// takes nothing from the holder of the next loan.
func TestRowsRelease(t *testing.T) {
	x := openTable(t, backendOptions(t))
	var held []Rows
	for round := range 3 {
		for i := range 70 { // beyond the loans of a device
			held = append(held, selected(t, x, Selection{}, i%len(wheres)))
		}
		for k := range held {
			sameBits(t, held[k], k%70%len(wheres))
			if k%3 != round {
				continue
			}
			former := held[k]
			held[k].Release()
			held[k].Release()
			if held[k].Bits != nil {
				t.Error("released rows have bits")
			}
			again := selected(t, x, Selection{}, k%70%len(wheres))
			former.Release() // has been returned by its other copy
			other := selected(t, x, Selection{}, (k+1)%len(wheres))
			sameBits(t, again, k%70%len(wheres))
			other.Release()
			held[k] = again
		}
	}
	for k := range held {
		sameBits(t, held[k], k%70%len(wheres))
		held[k].Release()
	}
	var none Rows
	none.Release()
	if none.AppendIDs(nil) != nil {
		t.Error("no rows have numbers")
	}
}

// TestRowsOutlive: rows on loan stay valid while their table is loaded again and closed, and after their engine is closed.
func TestRowsOutlive(t *testing.T) {
	path := tableFile(t, 32)
	for released := range 3 {
		e := tableEngine(t, backendOptions(t))
		x, err := e.OpenTable(t.Context(), path, TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		held := []Rows{selected(t, x, Selection{}, 1), selected(t, x, Selection{}, 2), selected(t, x, Selection{}, 3)}
		steps := []func() error{func() error { return x.Reload(t.Context(), path) }, x.Close, e.Close}
		for i, step := range steps {
			if err := step(); err != nil {
				t.Fatal(err)
			}
			for k := range held {
				sameBits(t, held[k], k+1)
			}
			if i == released {
				for k := range held {
					held[k].Release()
				}
				held = nil
			}
		}
	}
}

// TestRowsInto copies rows into memory of the caller.
func TestRowsInto(t *testing.T) {
	x := openTable(t, backendOptions(t))
	memory := make([]uint64, len(wantedBits(0)))
	r := selected(t, x, Selection{Into: memory}, 2)
	if &r.Bits[0] != &memory[0] {
		t.Error("rows are not in the memory for them")
	}
	r.Release() // returns nothing
	if !slices.Equal(memory, wantedBits(2)) {
		t.Error("a release changes memory of the caller")
	}
	short := make([]uint64, 1)
	if r = selected(t, x, Selection{Into: short}, 3); &r.Bits[0] == &short[0] || short[0] != 0 {
		t.Error("rows overflow the memory for them")
	}
	if got, want := r.AppendIDs(nil), rowset.AppendIDs(nil, wantedBits(3)); !slices.Equal(got, want) {
		t.Errorf("%d numbers of rows, want %d", len(got), len(want))
	}
	all := []Selection{{Where: wheres[0], Into: memory}, {Where: wheres[1]}}
	if err := x.SelectAll(t.Context(), all, func(first int, rows []Rows) error {
		for i := range rows {
			sameBits(t, rows[i], first+i)
			if first+i == 0 && &rows[i].Bits[0] != &memory[0] {
				t.Error("rows of a batch are not in the memory for them")
			}
			rows[i].Release() // a view
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(memory, wantedBits(0)) {
		t.Error("memory of the caller changes after a batch")
	}
}
