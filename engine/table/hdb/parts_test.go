package hdb

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// bitsOf is the words of a vector of the rows that are set.
func bitsOf(set []bool) []uint32 {
	var b wah.Builder[uint32]
	for row, in := range set {
		if in {
			b.Add(uint64(row))
		}
	}
	return b.AppendTo(nil, uint64(len(set)))
}

// writePart writes a column whose values all have bins of their own, by codes; a code below 0 is a row
// without a value.
func writePart(t testing.TB, w *Writer, p Part, c column.Column, codes []int) error {
	t.Helper()
	c.Binning = column.Distinct
	var missing []bool
	for _, code := range codes {
		missing = append(missing, code < 0)
		if code < 0 {
			c.Missing++
		}
	}
	stored := make([]uint64, len(codes))
	var vectors [][]uint32
	for code := range slices.Max(append(slices.Clone(codes), -1)) + 1 {
		in, n := make([]bool, len(codes)), uint32(0)
		for row, x := range codes {
			if x == code {
				in[row], stored[row] = true, uint64(x)
				n++
			}
		}
		c.Bins = append(c.Bins, column.Bin{Lo: uint64(code), Hi: uint64(code), Rows: n})
		vectors = append(vectors, bitsOf(in))
	}
	if c.Missing > 0 {
		vectors = append(vectors, bitsOf(missing))
	}
	cw, err := w.PartColumn(p, c, 0, func(func([]byte, error) bool) {})
	if err != nil {
		return err
	}
	if err := cw.Codes(stored, missing); err != nil {
		return err
	}
	for _, v := range vectors {
		if err := cw.Vector32(v); err != nil {
			return err
		}
	}
	return nil
}

// writeParts writes columns of a table around a multi-valued one.
func writeParts(t testing.TB) (path string) {
	t.Helper()
	path = t.TempDir() + "/t.hdb"
	w, err := Create(path, 4, 32, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	yes := column.Column{Name: "n", Type: column.Bool, Base: 1}
	for _, c := range []struct {
		part  Part
		of    column.Column
		codes []int
	}{
		{Single, column.Column{Name: "a", Type: column.Int, Base: column.IntKey(1)}, []int{0, 1, 2, 3}},
		{Present, yes, []int{-1, 0, 0, -1}},
		{Single, column.Column{Name: "b", Type: column.Int, Base: column.IntKey(5)}, []int{3, 2, 1, 0}},
		{Values, column.Column{Name: "n", Type: column.Int, Base: column.IntKey(7)}, []int{0, 1, 1, 2, 0}},
		{First, column.Column{Name: "n", Type: column.Bool}, []int{1, 0, 0, 1, 0}},
	} {
		if err := writePart(t, w, c.part, c.of, c.codes); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestParts reads all columns of a table with a multi-valued one.
func TestParts(t *testing.T) {
	f, err := Open(writeParts(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	columns, l := f.Columns(), f.List(1)
	if len(columns) != 3 || f.List(0) != nil || l == nil || columns[1].Values != &l.Columns[0] || columns[1].Type != column.Int || columns[1].Missing != 2 {
		t.Fatalf("columns %+v", columns)
	}
	if l.Table.Rows != 5 || f.Table().Rows != 4 || len(f.Table().Columns) != 3 || len(l.Table.Vectors) != 5 {
		t.Errorf("values %+v", l.Table)
	}
	if got := codesOf(t, &l.Table, 0); !slices.Equal(got, []uint64{0, 1, 1, 2, 0}) {
		t.Errorf("codes %v", got)
	}
	if got := codesOf(t, f.Table(), 2); !slices.Equal(got, []uint64{3, 2, 1, 0}) {
		t.Errorf("codes of the last column %v", got)
	}
	vectors, values := f.ColumnSize(1)
	for i, d := range f.table.Columns { // 1: present; 3 and 4: values and first ones
		if i == 1 || i > 2 {
			values -= int64(4 * d.Tiles[0].Words)
			for _, v := range f.table.Vectors[f.columns[i].Vector:][:f.columns[i].Vectors()] {
				vectors -= 4 * int64(v.Words)
			}
		}
	}
	if vectors != 0 || values != 0 {
		t.Errorf("the size of column 1 is off by %d and %d bytes", vectors, values)
	}
	set, err := l.Table.Bitset(1)
	if err != nil || set[0] != 0b00110 {
		t.Errorf("rows of bin 1: %b, %v", set, err)
	}
}

// TestPartsWrong refuses parts in other places and with other rows.
func TestPartsWrong(t *testing.T) {
	type col struct {
		part  Part
		of    column.Column
		codes []int
	}
	yes, values, first := column.Column{Name: "n", Type: column.Bool, Base: 1}, column.Column{Name: "n", Type: column.Int}, column.Column{Name: "n", Type: column.Bool}
	present := col{Present, yes, []int{0, 0}}
	for want, all := range map[string][]col{
		"missing":              {present},
		"this order":           {present, {First, first, []int{1, 1}}},
		"has this place":       {{Values, values, []int{0}}},
		"behind the values":    {present, {Values, values, []int{0, 0}}, {First, yes, []int{0, 0}}, {Single, column.Column{Name: "b", Type: column.Int}, []int{0, 0}}},
		"1 first values":       {present, {Values, values, []int{0, 0}}, {First, first, []int{1, 0}}},
		"of type int":          {{Present, values, []int{0, 0}}},
		"is false":             {{Present, first, []int{0, 0}}},
		"rows without a value": {present, {Values, values, []int{0, -1}}},
		"the table has 3":      {present, {Values, values, []int{0, 0, 0}}, {First, yes, []int{0, 0}}},
		"the name comes twice": {present, present},
		"has false and true":   {{Present, column.Column{Name: "n", Type: column.Bool, Bins: []column.Bin{{Lo: 0, Hi: 1, Rows: 2}}}, nil}},
		"in this order":        {present, {Values, values, []int{0, 0}}, {Values, values, []int{0, 0}}},
		"no multi-valued":      {present, {Values, column.Column{Name: "m", Type: column.Int}, []int{0, 0}}},
		"codes are missing":    {present, {Values, column.Column{Name: "n", Type: column.Int, Bins: []column.Bin{{Rows: 3}}}, nil}},
	} {
		w, err := Create(t.TempDir()+"/t.hdb", 2, 32, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if err == nil {
				err = writePart(t, w, c.part, c.of, c.codes)
			}
		}
		if err == nil {
			err = w.Commit()
		}
		if w.Abort(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestWideParts has values of more than 32 bits behind another multi-valued column.
func TestWideParts(t *testing.T) {
	path := t.TempDir() + "/t.hdb"
	w, err := Create(path, 1, 32, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	const code = 5<<32 + 6
	for _, name := range []string{"a", "b"} {
		err = errors.Join(err, writePart(t, w, Present, column.Column{Name: name, Type: column.Bool, Base: 1}, []int{0}))
	}
	for _, name := range []string{"a", "b"} {
		c := column.Column{Name: name, Type: column.Uint, Binning: column.Distinct, Bins: []column.Bin{{Rows: 1}, {Lo: code, Hi: code, Rows: 1}}}
		cw, err2 := w.PartColumn(Values, c, 0, func(func([]byte, error) bool) {})
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		err = errors.Join(err, cw.Codes([]uint64{0, code}, nil), cw.Vector32([]uint32{1}), cw.Vector32([]uint32{2}),
			writePart(t, w, First, column.Column{Name: name, Type: column.Bool}, []int{1, 0}))
		if vectors, values := w.ColumnSize(len(w.sizes) - 1); vectors != 8 || values == 0 || values%4 != 0 {
			t.Errorf("the values of %s have %d and %d bytes", name, vectors, values)
		}
	}
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	for c := range 2 {
		l := f.List(c)
		if got := codesOf(t, &l.Table, 0); l.Table.Validate() != nil || !slices.Equal(got, []uint64{0, code}) {
			t.Errorf("column %d: %v, %v", c, got, l.Table.Validate())
		}
	}
}

// codesOf returns the codes of a column of a table without missing values.
func codesOf(t *testing.T, table *plan.Table, c uint32) (codes []uint64) {
	t.Helper()
	column, err := table.Codes(c)
	if err != nil {
		t.Fatal(err)
	}
	for row := range column.Rows {
		code, ok := column.At(row)
		if !ok {
			t.Fatalf("row %d has no value", row)
		}
		codes = append(codes, code)
	}
	return codes
}
