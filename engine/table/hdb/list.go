package hdb

import (
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// List is the values of a multi-valued column, as a table of its own: its rows are the values of the
// rows of the column, one after another. It is a view of the file.
type List struct {
	Table   plan.Table      // column 0: the values; column 1: true for the first value of each row
	Columns []column.Column // descriptions of the columns of Table

	stored int // number of the values among the stored columns
}

// divide makes the tables of File.Table and File.List of the stored columns, which are checked.
func (f *File) divide() {
	end := len(f.columns)
	for end > 0 && f.parts[end-1].Behind() {
		end--
	}
	f.views = make([]*plan.Table, len(f.columns))
	for i := range f.views {
		f.views[i] = &f.table
	}
	f.main, f.shown = f.cut(0, end)
	f.lists = map[int]*List{}
	for i, next := 0, end; i < end; i++ {
		if f.parts[i] != Present {
			continue
		}
		l := &List{stored: next}
		l.Table, l.Columns = f.cut(next, next+2)
		view := f.table
		view.Rows = l.Table.Rows
		f.views[next], f.views[next+1] = &view, &view
		c := &f.shown[i]
		c.Values, c.Type, c.Scale = &l.Columns[0], l.Columns[0].Type, l.Columns[0].Scale
		f.lists[i] = l
		next += 2
	}
}

// cut gives the stored columns from first to end-1 as a table.
func (f *File) cut(first, end int) (t plan.Table, columns []column.Column) {
	if end == len(f.columns) && first == 0 {
		return f.table, f.columns
	}
	t = plan.Table{Rows: f.header.rows}
	if first < end {
		t.Rows = f.rows[first]
	}
	vectorAt := func(i int) uint32 {
		if i < len(f.columns) {
			return f.columns[i].Vector
		}
		return f.header.vectors
	}
	from, to := vectorAt(first), vectorAt(end)
	word, wordEnd := f.wordAt(from), f.wordAt(to)
	if f.table.Words64 != nil {
		t.Words64 = f.table.Words64[word:wordEnd:wordEnd]
	} else {
		t.Words32 = f.table.Words32[word:wordEnd:wordEnd]
	}
	at, atEnd := f.slicesAt(first), f.slicesAt(end)
	t.Slices = f.table.Slices[at:atEnd:atEnd]
	for _, v := range f.table.Vectors[from:to] {
		v.Off -= word
		t.Vectors = append(t.Vectors, v)
	}
	for _, d := range f.table.Columns[first:end] {
		tiles := slices.Clone(d.Tiles)
		for i := range tiles {
			tiles[i].Off -= at
		}
		t.Columns = append(t.Columns, plan.Values{Tiles: tiles})
	}
	columns = append(columns, f.columns[first:end]...)
	for i := range columns {
		columns[i].Vector -= from
	}
	t.Check = shifted{f.table.Check, from, uint32(first)}
	return t, columns
}

// wordAt is the place of vector v, or the end of all.
func (f *File) wordAt(v uint32) uint64 {
	if v < f.header.vectors {
		return f.table.Vectors[v].Off
	}
	return uint64(len(f.table.Words32) + len(f.table.Words64))
}

// slicesAt is the place of the codes of stored column c or of the next one with rows, or the end of all.
func (f *File) slicesAt(c int) uint64 {
	for ; c < len(f.columns); c++ {
		if tiles := f.table.Columns[c].Tiles; len(tiles) > 0 {
			return tiles[0].Off
		}
	}
	return uint64(len(f.table.Slices))
}

// shifted is the checker of a table whose vectors and columns are a part of the stored vectors and columns.
type shifted struct {
	plan.Checker
	vector, column uint32 // number of the first vector and of the first column
}

// Vector implements plan.Checker.
func (s shifted) Vector(v uint32) { s.Checker.Vector(s.vector + v) }

// Tiles implements plan.Checker.
func (s shifted) Tiles(c uint32, from, end int) error { return s.Checker.Tiles(s.column+c, from, end) }
