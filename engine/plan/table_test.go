package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/codec/bitslice"
)

// twoVectors is a table of 100 rows: vectors of 2 and 3 words of 32 bits, a column of
// codes of 32 bits and one of 64.
func twoVectors(t *testing.T) *Table {
	t.Helper()
	tab := &Table{
		Rows:    100,
		Words32: []uint32{1 << 5, 1<<31 | 3, 0, 0, 1<<31 | 2, 1, 1 << 6},
		Vectors: []Vector{{Off: 0, Words: 2}, {Off: 4, Words: 3}},
	}
	own, wide := make([]uint64, tab.Rows), make([]uint64, tab.Rows)
	for row := range own {
		own[row], wide[row] = uint64(row), uint64(row)<<32|uint64(^uint32(row))
	}
	for _, codes := range [][]uint64{own, wide} {
		var tile bitslice.Tile
		tab.Slices, tile = bitslice.Append(tab.Slices, codes, nil)
		tab.Columns = append(tab.Columns, Values{[]bitslice.Tile{tile}})
	}
	return tab
}

func TestTableViews(t *testing.T) {
	tab := twoVectors(t)
	if err := tab.Validate(); err != nil {
		t.Fatal(err)
	}
	if tab.Word() != 32 || tab.GroupBits() != 31 || tab.Groups() != 4 {
		t.Errorf("words of %d bits, groups of %d, %d groups", tab.Word(), tab.GroupBits(), tab.Groups())
	}
	if v := tab.Vector32(1); !slices.Equal(v, tab.Words32[4:7]) || cap(v) != 3 {
		t.Errorf("vector 1 is %x with room for %d", v, cap(v))
	}
	for c, want := range []uint64{77, 77<<32 | uint64(^uint32(77))} {
		codes, err := tab.Codes(uint32(c))
		if err != nil {
			t.Fatal(err)
		}
		if code, ok := codes.At(77); !ok || code != want {
			t.Errorf("column %d: the code of row 77 is %d, %v", c, code, ok)
		}
	}

	wide := &Table{Rows: 127, Words64: []uint64{1, 2, 1}, Vectors: []Vector{{Words: 3}}}
	if err := wide.Validate(); err != nil {
		t.Fatal(err)
	}
	if wide.Word() != 64 || wide.GroupBits() != 63 || wide.Groups() != 3 || !slices.Equal(wide.Vector64(0), wide.Words64) {
		t.Errorf("words of %d bits, groups of %d, %d groups, vector %d", wide.Word(), wide.GroupBits(), wide.Groups(), wide.Vector64(0))
	}
	for rows, groups := range map[uint32]uint32{0: 0, 1: 1, 30: 1, 31: 1, 32: 2, 1<<32 - 1: 138547333} {
		if got := (&Table{Rows: rows}).Groups(); got != groups {
			t.Errorf("%d groups of %d rows, want %d", got, rows, groups)
		}
	}
	if err := (&Table{Words32: []uint32{}, Vectors: []Vector{{}}}).Validate(); err != nil {
		t.Errorf("a vector of no rows: %v", err)
	}
}

func TestTableValidate(t *testing.T) {
	for complaint, spoil := range map[string]func(*Table){
		"words of 32 and of 64 bits":               func(t *Table) { t.Words64 = []uint64{1} },
		"vector 1 starts at word 5":                func(t *Table) { t.Vectors[1].Off = 5 },
		"vector 1 (words 8 to 11) lies outside":    func(t *Table) { t.Vectors[1].Off = 8 },
		"vector 0 (words 4 to 8) lies outside":     func(t *Table) { t.Vectors[0] = Vector{4, 4} },
		"vector 0 (words 9223372036854775808":      func(t *Table) { t.Vectors[0].Off = 1 << 63 },
		"vector 0 has 0 words for 4":               func(t *Table) { t.Vectors[0].Words = 0 },
		"vector 0 has 5 words for 4":               func(t *Table) { t.Vectors[0].Words = 5 },
		"vector 1 has 3 words for 2":               func(t *Table) { t.Rows = 62 },
		"column 0: corrupt bit slices: 0 tiles":    func(t *Table) { t.Columns[0].Tiles = nil },
		"column 1: corrupt bit slices: tile 0: wo": func(t *Table) { t.Columns[1].Tiles[0].Off = 4000 },
	} {
		tab := twoVectors(t)
		spoil(tab)
		if err := tab.Validate(); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v, want a complaint about %q", err, complaint)
		}
	}
}

// TestTableAppend makes the table of twoVectors by appending, and one of 64-bit words.
func TestTableAppend(t *testing.T) {
	want := twoVectors(t)
	got := &Table{Rows: want.Rows}
	for v := range want.Vectors {
		if n := got.AppendVector32(want.Vector32(uint32(v))); n != uint32(v) {
			t.Errorf("vector %d is number %d", v, n)
		}
	}
	own, wide := make([]uint64, got.Rows), make([]uint64, got.Rows)
	for row := range own {
		own[row], wide[row] = uint64(row), uint64(row)<<32|uint64(^uint32(row))
	}
	for c, codes := range [][]uint64{own, wide} {
		if n, err := got.AppendCodes(codes); err != nil || n != uint32(c) {
			t.Errorf("column %d is number %d, %v", c, n, err)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, err := got.AppendCodes(own[1:]); err == nil || len(got.Columns) != 2 {
		t.Errorf("99 codes of 100 rows: %v, %d columns", err, len(got.Columns))
	}
	w := &Table{Rows: 63 * 3}
	for range 2 {
		w.AppendVector64([]uint64{1 << 5, 1<<63 | 2, 7}[:2])
		w.AppendVector64([]uint64{1<<63 | 3})
	}
	if err := w.Validate(); err != nil || len(w.Words64) != 2+2+2+1 || w.Vectors[3] != (Vector{Off: 6, Words: 1}) {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestTilesAreViewsOfSlices(t *testing.T) {
	tab := &Table{Rows: 5000}
	codes, has := make([]uint64, tab.Rows), make([]uint64, 79)
	for row := range codes {
		codes[row] = uint64(row) << 40
		if row != 4999 {
			has[row/64] |= 1 << (row % 64)
		}
	}
	if _, err := tab.AppendTiles(codes[1:], nil); err == nil {
		t.Error("a column with fewer codes than rows")
	}
	for _, rows := range [][]uint64{nil, has} {
		if _, err := tab.AppendTiles(codes, rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.Validate(); err != nil {
		t.Fatal(err)
	}
	c, err := tab.Tiles(1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if code, ok := c.At(4998); !ok || code != 4998<<40 {
		t.Errorf("row 4998 has code %d, %v", code, ok)
	}
	if _, ok := c.At(4999); ok {
		t.Error("row 4999 has a value")
	}
	tab.Columns[1].Tiles = tab.Columns[1].Tiles[:1]
	if err := tab.Validate(); err == nil || !strings.Contains(err.Error(), "column 1") {
		t.Errorf("a tile is missing: %v", err)
	}
}
