// Package gather reads the stored codes of selected rows, some hundred rows at a time.
package gather

import (
	"fmt"
	"math/bits"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/table/hdb"
	"heddle/engine/table/multivalue"
)

// BatchLen is the greatest number of rows of a batch: codes of several columns fit the nearest
// cache.
const BatchLen = 4 * codec.SegmentLen

// Column reads the codes of a column. It is safe for concurrent use by Readers.
type Column struct {
	in        plan.Input
	low, high codec.Packed
	missing   []uint64         // rows without a value; nil: none
	join      *multivalue.Join // from the rows to the stored codes of a multi-valued column; nil for other columns
	bins      []uint16         // bin of each stored code, if the input has bounds and stored codes are small
}

// smallCodes bounds the stored codes of a table of bins.
const smallCodes = 1 << 16

// Unread returns a column that is not read: it has the methods Last and HasMissing alone.
func Unread(in plan.Input) *Column { return &Column{in: in} }

// Open returns the column of an input.
func Open(t *plan.Table, in plan.Input) (c *Column, err error) {
	c = Unread(in)
	c.makeBins()
	if c.low, c.high, err = t.Codes(in.Column); err != nil || !in.Missing {
		return c, err
	}
	c.missing, err = t.Bitset(in.Vector)
	return c, err
}

// makeBins makes the table of bins.
func (c *Column) makeBins() {
	if len(c.in.Bounds) == 0 || c.in.Last >= smallCodes {
		return
	}
	c.bins = make([]uint16, c.in.Last+1)
	for i, first := range c.in.Bounds {
		for code := range c.bins[first:] {
			c.bins[int(first)+code] = uint16(i + 1)
		}
	}
}

// Last is the greatest code that Read gives.
func (c *Column) Last() uint64 { return c.in.Top() }

// HasMissing reports whether some rows have no value.
func (c *Column) HasMissing() bool { return c.in.Missing }

// Missing reports whether a row has no value.
func (c *Column) Missing(row uint32) bool {
	return c.missing != nil && c.missing[row/64]>>(row%64)&1 != 0
}

// Batch is some ascending rows of a table, segment by segment.
type Batch struct {
	Rows  []uint32
	spans []span
}

// span is the rows of one segment, up to end in Rows.
type span struct{ segment, end int }

// Fill makes b the first rows of a bitset from a segment on, at most BatchLen, before segment
// end. It returns the segment behind them.
func (b *Batch) Fill(set []uint64, segment, end int) (next int) {
	const words = codec.SegmentLen / 64
	b.Rows, b.spans = b.Rows[:0], b.spans[:0]
	for ; segment < end && len(b.Rows) <= BatchLen-codec.SegmentLen; segment++ {
		before := len(b.Rows)
		for at := segment * words; at < min((segment+1)*words, len(set)); at++ {
			w, base := set[at], uint32(64*at)
			if w == ^uint64(0) {
				for r := range uint32(64) {
					b.Rows = append(b.Rows, base+r)
				}
				continue
			}
			for ; w != 0; w &= w - 1 {
				b.Rows = append(b.Rows, base+uint32(bits.TrailingZeros64(w)))
			}
		}
		if len(b.Rows) > before {
			b.spans = append(b.spans, span{segment, len(b.Rows)})
		}
	}
	return segment
}

// Segments is the number of segments of a bitset.
func Segments(set []uint64) int { return (64*len(set) + codec.SegmentLen - 1) / codec.SegmentLen }

// Reader has the memory of one goroutine that reads.
type Reader struct{ low, high [codec.SegmentLen]uint32 }

// few is the number of rows of a segment up to which single values are read.
const few = 4

// Read returns the codes of the rows of a batch in codes, which is as long. All codes are at
// most Last; rows without a value have any of them. A greater code is an hdb.ErrCorrupt.
func (r *Reader) Read(c *Column, b *Batch, codes []uint64) error {
	first, greatest := 0, uint64(0)
	for _, s := range b.spans {
		var some uint64
		var err error
		if s.end-first <= few {
			some, err = single(c, b.Rows[first:s.end], codes[first:s.end])
		} else {
			some, err = r.segment(c, s.segment, b.Rows[first:s.end], codes[first:s.end])
		}
		if err != nil {
			return err
		}
		first, greatest = s.end, max(greatest, some)
	}
	return c.finish(b.Rows, codes, greatest)
}

// At is Read for any rows, in any order, one by one.
func (c *Column) At(rows []uint32, codes []uint64) error {
	greatest, err := single(c, rows, codes)
	if err != nil {
		return err
	}
	return c.finish(rows, codes, greatest)
}

// finish compares stored codes with the last one, and replaces them by bins if the input has
// bounds. greatest is the greatest of them.
func (c *Column) finish(rows []uint32, codes []uint64, greatest uint64) error {
	if greatest > c.in.Last {
		for i, code := range codes {
			if code > c.in.Last && (c.join != nil || !c.Missing(rows[i])) {
				return fmt.Errorf("row %d has code %d, the last code of column %d is %d: %w", rows[i], code, c.in.Column, c.in.Last, hdb.ErrCorrupt)
			}
			codes[i] = min(code, c.in.Last)
		}
	}
	switch {
	case c.in.Bounds == nil:
	case c.bins != nil:
		for i, code := range codes {
			codes[i] = uint64(c.bins[code])
		}
	default:
		for i, code := range codes {
			codes[i] = c.in.Bin(code)
		}
	}
	return nil
}

// segment reads rows of one segment by decoding it, and returns the greatest code.
func (r *Reader) segment(c *Column, segment int, rows []uint32, codes []uint64) (greatest uint64, err error) {
	codes = codes[:len(rows)]
	if _, err := c.low.Decode(segment, &r.low); err != nil {
		return 0, err
	}
	if c.high.Len == 0 && len(rows) == codec.SegmentLen {
		for i, code := range r.low {
			codes[i] = uint64(code)
			greatest = max(greatest, uint64(code))
		}
		return greatest, nil
	}
	if c.high.Len == 0 {
		for i, row := range rows {
			code := uint64(r.low[row%codec.SegmentLen])
			codes[i] = code
			greatest = max(greatest, code)
		}
		return greatest, nil
	}
	if _, err := c.high.Decode(segment, &r.high); err != nil {
		return 0, err
	}
	for i, row := range rows {
		code := uint64(r.high[row%codec.SegmentLen])<<32 | uint64(r.low[row%codec.SegmentLen])
		codes[i] = code
		greatest = max(greatest, code)
	}
	return greatest, nil
}

// single reads rows one by one, and returns the greatest code.
func single(c *Column, rows []uint32, codes []uint64) (greatest uint64, err error) {
	for i, row := range rows {
		low, err := c.low.At(row)
		if err != nil {
			return 0, err
		}
		high := uint32(0)
		if c.high.Len > 0 {
			if high, err = c.high.At(row); err != nil {
				return 0, err
			}
		}
		codes[i] = uint64(high)<<32 | uint64(low)
		greatest = max(greatest, codes[i])
	}
	return greatest, nil
}

// Valid copies the entries of rows with a value, and returns their number.
func (c *Column) Valid(rows, ids []uint32, codes []uint64, validIDs []uint32, valid []uint64) (n int) {
	for i, row := range rows {
		if !c.Missing(row) {
			validIDs[n], valid[n] = ids[i], codes[i]
			n++
		}
	}
	return n
}
