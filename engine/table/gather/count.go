package gather

import (
	"fmt"
	"math/bits"

	"heddle/codec/bitslice"
	"heddle/engine/table/hdb"
)

// fewDecoded is the number of rows of a segment up to which values are read one by one to be
// counted.
const fewDecoded = 8

// Counts tells whether Count can read the column: its codes are no bins.
func (c *Column) Counts() bool { return c.in.Bounds == nil && c.join == nil }

// Count adds the rows of a bitset in segments first to end-1 to counts, which has Last+2 places: a
// row without a value to place 0, any other row to the place of its code plus 1. A code above Last
// is an hdb.ErrCorrupt. Counts must hold for the column.
func (r *Reader) Count(c *Column, set []uint64, first, end int, counts []uint64) error {
	const words = bitslice.SegmentRows / 64
	last := uint64(len(counts) - 1)
	for segment := first; segment < end; segment++ {
		var rows [words]uint64 // rows with a value
		n := 0
		for i := range rows {
			at := segment*words + i
			if at >= len(set) {
				break
			}
			rows[i] = set[at]
			if c.missing != nil {
				none := set[at] & c.missing[at]
				counts[0] += uint64(bits.OnesCount64(none))
				rows[i] &^= none
			}
			n += bits.OnesCount64(rows[i])
		}
		base := uint32(segment * bitslice.SegmentRows)
		switch {
		case n == 0:
		case n <= fewDecoded:
			if err := c.countFew(&rows, base, counts); err != nil {
				return err
			}
		default:
			c.tiles.Segment(segment, &r.codes)
			for i, w := range rows {
				half := r.codes[64*i : 64*i+64]
				if w == ^uint64(0) {
					for x, code := range half {
						if code >= last {
							return c.corrupt(base+uint32(64*i+x), code)
						}
						counts[code+1]++
					}
					continue
				}
				for ; w != 0; w &= w - 1 {
					x := bits.TrailingZeros64(w) & 63
					code := half[x]
					if code >= last {
						return c.corrupt(base+uint32(64*i+x), code)
					}
					counts[code+1]++
				}
			}
		}
	}
	return nil
}

// countFew counts the codes of few rows of the segment whose first row is base.
func (c *Column) countFew(rows *[bitslice.SegmentRows / 64]uint64, base uint32, counts []uint64) error {
	for i, w := range rows {
		for ; w != 0; w &= w - 1 {
			row := base + uint32(64*i+bits.TrailingZeros64(w))
			code, _ := c.tiles.At(row)
			if code >= uint64(len(counts)-1) {
				return c.corrupt(row, code)
			}
			counts[code+1]++
		}
	}
	return nil
}

// corrupt returns the error of a row whose code is above the last one.
func (c *Column) corrupt(row uint32, code uint64) error {
	return fmt.Errorf("row %d has code %d, the last code of column %d is %d: %w", row, code, c.in.Column, c.in.Last, hdb.ErrCorrupt)
}
