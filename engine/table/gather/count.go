package gather

import (
	"fmt"
	"math/bits"

	"heddle/codec"
	"heddle/engine/table/hdb"
)

// fewDecoded is the number of rows of a segment up to which values are read one by one to be
// counted.
const fewDecoded = 8

// Counts tells whether Count can read the column: its stored codes have one part, and are no bins.
func (c *Column) Counts() bool { return c.high.Len == 0 && c.in.Bounds == nil && c.join == nil }

// Count adds the rows of a bitset in segments first to end-1 to counts, which has Last+2 places: a
// row without a value to place 0, any other row to the place of its code plus 1. A code above Last
// is an hdb.ErrCorrupt. The column must have codes of one part (Counts).
func (r *Reader) Count(c *Column, set []uint64, first, end int, counts []uint64) error {
	const words = codec.SegmentLen / 64
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
		base := uint32(segment * codec.SegmentLen)
		var err error
		switch {
		case n == 0:
		case n <= fewDecoded:
			err = c.countFew(&rows, base, counts)
		default:
			if _, err = c.low.Decode(segment, &r.low); err != nil {
				break
			}
			for i, w := range rows {
				half := r.low[64*i : 64*i+64]
				if w == ^uint64(0) {
					for x, code := range half {
						if uint64(code)+1 >= uint64(len(counts)) {
							return c.corrupt(base+uint32(64*i+x), code)
						}
						counts[code+1]++
					}
					continue
				}
				for ; w != 0; w &= w - 1 {
					x := bits.TrailingZeros64(w) & 63
					code := half[x]
					if uint64(code)+1 >= uint64(len(counts)) {
						return c.corrupt(base+uint32(64*i+x), code)
					}
					counts[code+1]++
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countFew counts the codes of few rows of the segment whose first row is base.
func (c *Column) countFew(rows *[codec.SegmentLen / 64]uint64, base uint32, counts []uint64) error {
	var places, codes [fewDecoded]uint32
	n := 0
	for i, w := range rows {
		for ; w != 0; w &= w - 1 {
			places[n] = base + uint32(64*i+bits.TrailingZeros64(w))
			n++
		}
	}
	if err := c.low.Gather(places[:n], codes[:n]); err != nil {
		return err
	}
	for i, code := range codes[:n] {
		if uint64(code)+1 >= uint64(len(counts)) {
			return c.corrupt(places[i], code)
		}
		counts[code+1]++
	}
	return nil
}

// corrupt returns the error of a row whose code is above the last one.
func (c *Column) corrupt(row, code uint32) error {
	return fmt.Errorf("row %d has code %d, the last code of column %d is %d: %w", row, code, c.in.Column, c.in.Last, hdb.ErrCorrupt)
}
