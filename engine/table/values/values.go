// Package values has results as columns of values, and writes them as JSON lines and CSV. Its
// folders write Arrow and Parquet.
package values

import (
	"cmp"
	"encoding/binary"

	"heddle/engine/table/column"
)

// Column is a column of a result. The embedded Column has its name, type, scale, base and
// dictionary; its other fields have no meaning. The dictionary of a computed column does not
// ascend.
type Column struct {
	column.Column
	Codes   []uint64
	Missing []bool // rows without a value, whose code is 0; nil: none
	// Ordered tells that the codes of a dictionary have the order of the values, which are no plain
	// texts. Default: false, the order of the texts.
	Ordered bool
}

// Null reports whether row i has no value.
func (c *Column) Null(i int) bool { return c.Missing != nil && c.Missing[i] }

// Compare compares the values of two rows, which are not missing.
func (c *Column) Compare(i, k int) int {
	if c.Type.HasDictionary() && !c.Ordered {
		return cmp.Compare(c.Dictionary[c.Codes[i]], c.Dictionary[c.Codes[k]])
	}
	return cmp.Compare(c.Codes[i], c.Codes[k])
}

// Batch is some rows of a result: columns of equal length.
type Batch []Column

// Len is the number of rows.
func (b Batch) Len() int {
	if len(b) == 0 {
		return 0
	}
	return len(b[0].Codes)
}

// Writer writes batches with the same columns, and ends the output at Close. Rows that were
// written before an error may be in the output.
type Writer interface {
	Write(Batch) error
	Close() error
}

// SetNull makes the value of row i missing.
func (c *Column) SetNull(i int) {
	if c.Missing == nil {
		c.Missing = make([]bool, len(c.Codes))
	}
	c.Missing[i] = true
}

// Cut returns rows first to end-1, as a view.
func (b Batch) Cut(first, end int) Batch {
	part := make(Batch, len(b))
	for i, c := range b {
		if c.Codes = c.Codes[first:end]; c.Missing != nil {
			c.Missing = c.Missing[first:end]
		}
		part[i] = c
	}
	return part
}

// Take returns the rows with the given numbers, in their order.
func (b Batch) Take(rows []int) Batch {
	part := make(Batch, len(b))
	for k, c := range b {
		from := c
		c.Codes, c.Missing = make([]uint64, len(rows)), nil
		for i, row := range rows {
			if c.Codes[i] = from.Codes[row]; from.Null(row) {
				c.SetNull(i)
			}
		}
		part[k] = c
	}
	return part
}

// Wide is the decimal of a code without its scale, as an integer in two's complement, highest
// byte first.
func (c *Column) Wide(code uint64) (wide [column.WideSize]byte) {
	if c.Type == column.Decimal128 {
		copy(wide[:], c.Dictionary[c.Base+code])
		wide[0] ^= 0x80 // the dictionary has the order of unsigned integers
		return wide
	}
	v := column.KeyInt(c.Base + code)
	binary.BigEndian.PutUint64(wide[:8], uint64(v>>63))
	binary.BigEndian.PutUint64(wide[8:], uint64(v))
	return wide
}

// Append adds the rows of o, a batch with the same columns. Both have the same dictionaries.
func (b Batch) Append(o Batch) {
	for k := range b {
		c := &b[k]
		if c.Missing != nil || o[k].Missing != nil {
			if c.Missing == nil {
				c.Missing = make([]bool, len(c.Codes))
			}
			if c.Missing = append(c.Missing, o[k].Missing...); o[k].Missing == nil {
				c.Missing = append(c.Missing, make([]bool, len(o[k].Codes))...)
			}
		}
		c.Codes = append(c.Codes, o[k].Codes...)
	}
}
