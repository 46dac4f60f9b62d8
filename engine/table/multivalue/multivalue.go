// Package multivalue joins the values of multi-valued columns to the rows that have them.
//
// A multi-valued column is a column of its values, with a row for each value. A bit for each value marks
// the first value of a row, and a bit for each row tells whether the row has values. So the values of a
// row are the ones between two marks. The package does not depend on how values are stored.
package multivalue

import (
	"fmt"
	"math/bits"

	"heddle/codec/bitslice"
	"heddle/codec/wah"
	"heddle/engine/file/container"
	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// Join finds the rows of values, and the values of rows. It does not change and is safe for concurrent
// use.
type Join struct {
	rows, values uint32
	present      counted // bit of each row: it has values
	first        counted // bit of each value: it is the first of its row
}

// Open reads the marks of a multi-valued column c of a table. list is the table of its values, whose
// column 1 has the marks. It takes a bit for each row and each value, and half as much again at most.
// Damage is a container.ErrCorrupt.
func Open(t *plan.Table, c *column.Column, list *plan.Table) (*Join, error) {
	present := make([]uint64, wah.Bitset(uint64(t.Rows)))
	if v, ok := c.MissingVector(); ok {
		var err error
		if present, err = t.Bitset(v); err != nil {
			return nil, err
		}
	}
	for i := range present { // rows without a value so far
		present[i] = ^present[i]
	}
	if n := t.Rows % 64; n > 0 {
		present[len(present)-1] &= 1<<n - 1
	}
	first, err := marks(list)
	if err != nil {
		return nil, err
	}
	j := &Join{rows: t.Rows, values: list.Rows, present: count(present), first: count(first)}
	if j.present.ones() != j.first.ones() || list.Rows > 0 && first[0]&1 == 0 {
		return nil, fmt.Errorf("column %.60q: %d rows have values, %d values are the first of a row: %w", c.Name, j.present.ones(), j.first.ones(), container.ErrCorrupt)
	}
	return j, nil
}

// marks is the rows of column 1 of a list with the greater of two codes, or with the only code, which is the one of
// true: then each row has one value.
func marks(list *plan.Table) ([]uint64, error) {
	set := make([]uint64, wah.Bitset(uint64(list.Rows)))
	column, err := list.Codes(1)
	if err != nil {
		return nil, err
	}
	greatest := uint64(0)
	for i := range column.Tiles {
		greatest = max(greatest, column.Tiles[i].Max())
	}
	for i := range column.Tiles {
		var rows bitslice.Set
		column.Has(i, &rows)
		column.Within(i, []bitslice.Range{{Lo: greatest, Hi: greatest}}, &rows)
		copy(set[i*bitslice.TileWords:], rows[:])
	}
	return set, nil
}

// Rows is the number of rows of the table.
func (j *Join) Rows() uint32 { return j.rows }

// Values is the number of values of all rows.
func (j *Join) Values() uint32 { return j.values }

// Bytes is the memory of j.
func (j *Join) Bytes() int { return j.present.bytes() + j.first.bytes() }

// RowsOf adds to rows, a bitset, each row that has one of some values, another bitset. The time grows
// with the words of both sets and with the number of values in it.
func (j *Join) RowsOf(values, rows []uint64) {
	row := cursorAt(j.present.set, 0, 0)
	before := 0 // first values before the word
	for i, w := range values {
		marks := j.first.set[i]
		for ; w != 0; w &= w - 1 {
			at := bits.TrailingZeros64(w)
			upto := marks & (1<<at | (1<<at - 1))
			r := row.seek(before + bits.OnesCount64(upto) - 1)
			rows[r/64] |= 1 << (r % 64)
		}
		before += bits.OnesCount64(marks)
	}
}

// Span gives the values of a row: from first to before end. A row without values has none.
func (j *Join) Span(row uint32) (first, end uint32) {
	if j.present.set[row/64]>>(row%64)&1 == 0 {
		return 0, 0
	}
	n := j.present.rank(row)
	first, end = j.first.find(n), j.values
	if n+1 < j.first.ones() {
		end = j.first.find(n + 1)
	}
	return first, end
}

// cursor finds ones of a bitset by their numbers, which ascend.
type cursor struct {
	set  []uint64
	word int    // index of the word with the one found last
	rest uint64 // its ones from the last one on
	n    int    // number of the first of them
}

// cursorAt is a cursor at the start of a word, before which there are n ones.
func cursorAt(set []uint64, word, n int) cursor {
	c := cursor{set: set, word: word, n: n}
	if word < len(set) {
		c.rest = set[word]
	}
	return c
}

// seek is the place of one number n, counted from 0.
func (c *cursor) seek(n int) int {
	for ones := bits.OnesCount64(c.rest); n-c.n >= ones; ones = bits.OnesCount64(c.rest) {
		c.n += ones
		c.word++
		c.rest = c.set[c.word]
	}
	for ; c.n < n; c.n++ {
		c.rest &= c.rest - 1
	}
	return 64*c.word + bits.TrailingZeros64(c.rest)
}
