// Package values has results as columns of values, and writes them as JSON lines and CSV. Its
// folders write Arrow and Parquet.
package values

import (
	"cmp"
	"encoding/binary"

	"heddle/engine/table/column"
)

// Column is a column of a result. The embedded Column has its name, type, scale, keys of
// codes and dictionary; its other fields have no meaning. The dictionary of a computed column does not
// ascend.
type Column struct {
	column.Column
	Codes   []uint64
	Missing []bool // rows without a value, whose code is 0; nil: none
	// Starts makes a column multi-valued: Codes has the values of all rows, one after another, and row i
	// has the ones from Starts[i] to before Starts[i+1]; a row without values is missing. Default: nil,
	// one value a row.
	Starts []uint32
	// Ordered tells that the codes of a dictionary have the order of the values, which are no plain
	// texts. Default: false, the order of the texts.
	Ordered bool
}

// Null reports whether row i has no value.
func (c *Column) Null(i int) bool {
	if c.Starts != nil {
		return c.Starts[i] == c.Starts[i+1]
	}
	return c.Missing != nil && c.Missing[i]
}

// Len is the number of rows.
func (c *Column) Len() int {
	if c.Starts != nil {
		return len(c.Starts) - 1
	}
	return len(c.Codes)
}

// Row gives the codes of row i, which is not missing: one, or several of a multi-valued column.
func (c *Column) Row(i int) []uint64 {
	if c.Starts != nil {
		return c.Codes[c.Starts[i]:c.Starts[i+1]]
	}
	return c.Codes[i : i+1]
}

// TypeName is the name of the type, such as "string", or "string[]" of a multi-valued column.
func (c *Column) TypeName() string {
	single := c.Column
	single.Values = nil
	if c.Starts != nil {
		single.Values = &c.Column
	}
	return single.TypeName()
}

// Compare compares the values of two rows, which are not missing.
func (c *Column) Compare(i, k int) int {
	if c.Type.HasDictionary() && !c.Ordered {
		return cmp.Compare(c.Dictionary[c.Key(c.Codes[i])], c.Dictionary[c.Key(c.Codes[k])])
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
	return b[0].Len()
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
		if c.Starts != nil {
			c.Starts = c.Starts[first : end+1]
		} else if c.Codes = c.Codes[first:end]; c.Missing != nil {
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
		if c.Starts != nil {
			part[k] = from.takeLists(rows)
			continue
		}
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

// takeLists is Batch.Take of a multi-valued column.
func (c *Column) takeLists(rows []int) Column {
	part := *c
	part.Codes, part.Starts = nil, make([]uint32, 1, len(rows)+1)
	for _, row := range rows {
		part.Codes = append(part.Codes, c.Row(row)...)
		part.Starts = append(part.Starts, uint32(len(part.Codes)))
	}
	return part
}

// appendLists adds the rows of o to a multi-valued column.
func (c *Column) appendLists(o *Column) {
	all := c.takeLists(nil)
	for _, from := range []*Column{c, o} {
		for i := range from.Len() {
			all.Codes = append(all.Codes, from.Row(i)...)
			all.Starts = append(all.Starts, uint32(len(all.Codes)))
		}
	}
	*c = all
}

// Wide is the decimal of a code without its scale, as an integer in two's complement, highest
// byte first.
func (c *Column) Wide(code uint64) (wide [column.WideSize]byte) {
	if c.Type == column.Decimal128 {
		copy(wide[:], c.Dictionary[c.Key(code)])
		wide[0] ^= 0x80 // the dictionary has the order of unsigned integers
		return wide
	}
	v := column.KeyInt(c.Key(code))
	binary.BigEndian.PutUint64(wide[:8], uint64(v>>63))
	binary.BigEndian.PutUint64(wide[8:], uint64(v))
	return wide
}

// Append adds the rows of o, a batch with the same columns. Both have the same dictionaries.
func (b Batch) Append(o Batch) {
	for k := range b {
		c := &b[k]
		if c.Starts != nil {
			c.appendLists(&o[k])
			continue
		}
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
