package gather

import (
	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/table/multivalue"
)

// List is the values of a multi-valued column: their table, and its join to the rows.
type List struct {
	Join  *multivalue.Join
	Table *plan.Table
}

// OpenList returns the column of an input of a multi-valued column of t. The input has the last code of
// the values, and the vector of rows without any. Reader.Lists reads it.
func OpenList(t *plan.Table, in plan.Input, l *List) (c *Column, err error) {
	c = Unread(in)
	c.makeBins()
	c.join = l.Join
	if c.tiles, err = l.Table.Codes(0); err != nil || !in.Missing {
		return c, err
	}
	c.missing, err = t.Bitset(in.Vector)
	return c, err
}

// Multivalued reports whether OpenList has returned the column.
func (c *Column) Multivalued() bool { return c.join != nil }

// Lists appends the codes of all values of rows, in any order, to codes, and the length of codes behind
// each row to ends. Errors: of Read.
func (r *Reader) Lists(c *Column, rows []uint32, codes []uint64, ends []uint32) ([]uint64, []uint32, error) {
	var b Batch
	for _, row := range rows {
		first, end := c.join.Span(row)
		for v := first; v < end; v++ {
			b.add(v)
		}
		ends = append(ends, uint32(len(codes)+len(b.Rows)))
	}
	from := len(codes)
	codes = append(codes, make([]uint64, len(b.Rows))...)
	return codes, ends, r.Read(c, &b, codes[from:])
}

// add adds a row in any order.
func (b *Batch) add(row uint32) {
	n, segment := len(b.Rows), int(row/bitslice.SegmentRows)
	b.Rows = append(b.Rows, row)
	if k := len(b.spans); k > 0 && b.spans[k-1].segment == segment && b.Rows[n-1] < row {
		b.spans[k-1].end++
		return
	}
	b.spans = append(b.spans, span{segment, n + 1})
}
