package hdb

import (
	"heddle/codec/wah"
	"heddle/engine/file/container"
	"heddle/engine/plan"
)

// ColumnWriter takes codes and vectors of one column, in any mixture. It ends when the
// next column starts or the Writer commits; codes or vectors that are missing then are
// an ErrInput.
type ColumnWriter struct {
	w        *Writer
	name     string
	all      uint32   // rows
	counts   []uint64 // ones of the vectors
	greatest uint64   // code
	missing  uint64   // number of rows without a value
	rows     uint64   // number of rows whose codes were given
	absent   uint64   // number of them without a value
	vectors  int      // number of vectors that were given
	first    uint64   // bytes of section slices before the column
	size     columnSize
}

// Codes adds the codes of the next rows, any number. missing tells which of them have no value; without an element all
// have one. The code of a row without a value is arbitrary. A code beyond the bins, or more codes than rows, are an
// ErrInput.
func (c *ColumnWriter) Codes(codes []uint64, missing []bool) error {
	return c.w.file.Do(func() error { return c.addCodes(codes, missing) })
}

func (c *ColumnWriter) addCodes(codes []uint64, missing []bool) error {
	if err := c.ended(); err != nil {
		return err
	}
	if rows := uint64(c.all); uint64(len(codes)) > rows-c.rows {
		return c.inputError("%d codes for %d rows", c.rows+uint64(len(codes)), rows)
	}
	if len(missing) > 0 && len(missing) != len(codes) {
		return c.inputError("%d codes, %d marks of missing values", len(codes), len(missing))
	}
	for i, code := range codes {
		has := len(missing) == 0 || !missing[i]
		switch {
		case !has:
			c.absent++
		case code > c.greatest:
			return c.inputError("row %d has code %d, the bins end at %d", c.rows, code, c.greatest)
		}
		if err := c.w.tile.add(code, has); err != nil {
			return err
		}
		c.rows++
	}
	return nil
}

// Vector32 adds the next vector, in words of 32 bits: the vectors of the encoding in
// order, then the vector of rows without a value, if there are any. It returns ErrInput
// for words that are no vector of the table's rows (package wah), a number of ones that
// differs from the bins, a vector too many, and the wrong word size.
func (c *ColumnWriter) Vector32(words []uint32) error {
	return c.w.file.Do(func() error { return addVector(c, words) })
}

// Vector64 is Vector32 for words of 64 bits.
func (c *ColumnWriter) Vector64(words []uint64) error {
	return c.w.file.Do(func() error { return addVector(c, words) })
}

func addVector[W wah.Word](c *ColumnWriter, words []W) error {
	if err := c.ended(); err != nil {
		return err
	}
	bits := uint32(wah.GroupBits[W]() + 1)
	switch {
	case bits != c.w.header.word:
		return c.inputError("a vector of %d-bit words in a table of %d-bit words", bits, c.w.header.word)
	case c.vectors == len(c.counts):
		return c.inputError("more than its %d vectors", len(c.counts))
	}
	if err := checkVector(words, c.all, c.counts[c.vectors]); err != nil {
		return c.inputError("vector %d: %v", c.vectors, err)
	}
	out := c.w.section(secVectors)
	v := plan.Vector{Off: out.Length() / uint64(bits/8), Words: uint32(len(words))}
	if err := out.Append(container.LittleBytes(words)); err != nil {
		return err
	}
	if err := out.Pad(plan.VectorAlign); err != nil {
		return err
	}
	c.w.bytes = appendVector(c.w.bytes[:0], v)
	c.vectors++
	c.size.vectors += uint64(len(words)) * uint64(bits/8)
	c.w.header.vectors++
	return c.w.section(secVectorTable).Append(c.w.bytes)
}

// ended reports that the column takes no more.
func (c *ColumnWriter) ended() error {
	if c.w.open != c {
		return c.inputError("it was ended by another column")
	}
	return nil
}

func (c *ColumnWriter) inputError(format string, args ...any) error {
	return inputError("column %.60q: "+format, append([]any{c.name}, args...)...)
}

// endColumn checks that the last column is complete and writes its last tile.
func (w *Writer) endColumn() error {
	c := w.open
	if c == nil {
		return nil
	}
	switch rows := uint64(c.all); {
	case c.rows != rows:
		return c.inputError("%d of %d codes are missing", rows-c.rows, rows)
	case c.absent != c.missing:
		return c.inputError("%d rows without a value instead of %d", c.absent, c.missing)
	case c.vectors != len(c.counts):
		return c.inputError("%d of %d vectors are missing", len(c.counts)-c.vectors, len(c.counts))
	}
	if err := w.tile.write(); err != nil {
		return err
	}
	w.open = nil
	c.size.values = w.section(secSlices).Length() - c.first
	w.sizes = append(w.sizes, c.size)
	return nil
}
