package bitmap

import (
	"math"
	"math/bits"

	"heddle/codec"
	"heddle/engine/plan"
)

// codes holds one decoded segment of the codes of a column.
type codes struct {
	low, high [codec.SegmentLen]uint32
}

// fewRows is the largest number of rows of a segment whose codes are looked up one by
// one; for more rows the segment is decoded.
const fewRows = 6

// check removes the rows from the top of the stack whose code of column lies in none of
// ranges. It decodes only segments that have rows in the set.
func (w *worker) check(t *Table, column uint32, ranges []plan.CodeRange, tile int) error {
	if len(ranges) == 0 || w.has[w.top] == none {
		w.has[w.top] = none
		return nil
	}
	low, high, err := t.data.Codes(column)
	if err != nil {
		return err
	}
	top := w.sets[w.top][:t.tile.words(tile)]
	if w.has[w.top] == all {
		fill(top)
		w.has[w.top] = some
	}
	top[len(top)-1] &= t.tile.last(tile)
	const words = codec.SegmentLen / 64
	first, left := tile*int(t.tile.size/codec.SegmentLen), uint64(0)
	for i := 0; i < len(top); i += words {
		part := top[i:min(i+words, len(top))]
		n := countSet(part)
		if n == 0 {
			continue
		}
		if seg := first + i/words; n <= fewRows {
			err = checkFew(part, low, high, uint32(seg*codec.SegmentLen), ranges)
		} else {
			err = w.codes.check(part, low, high, seg, ranges)
		}
		if err != nil {
			return err
		}
		for _, x := range part {
			left |= x
		}
	}
	if left == 0 {
		w.has[w.top] = none
	}
	return nil
}

// checkFew is check for the words of one segment, which starts at row first.
func checkFew(set []uint64, low, high codec.Packed, first uint32, ranges []plan.CodeRange) error {
	for i, x := range set {
		for ; x != 0; x &= x - 1 {
			row := first + uint32(64*i+bits.TrailingZeros64(x))
			lo, err := low.At(row)
			if err != nil {
				return err
			}
			code := uint64(lo)
			if high.Len > 0 {
				hi, err := high.At(row)
				if err != nil {
					return err
				}
				code |= uint64(hi) << 32
			}
			if !inRanges(ranges, code) {
				set[i] &^= x & -x
			}
		}
	}
	return nil
}

// check decodes segment seg and removes the rows of set whose code lies in none of ranges.
func (c *codes) check(set []uint64, low, high codec.Packed, seg int, ranges []plan.CodeRange) error {
	n, err := low.Decode(seg, &c.low)
	if err != nil {
		return err
	}
	if high.Len > 0 {
		_, err = high.Decode(seg, &c.high)
	} else {
		clear(c.high[:])
	}
	if err != nil {
		return err
	}
	for i := range set {
		lo, hi := c.low[64*i:min(64*i+64, n)], c.high[64*i:min(64*i+64, n)]
		in := uint64(0)
		if len(ranges) > 4 {
			for x := set[i]; x != 0; x &= x - 1 {
				k := bits.TrailingZeros64(x)
				if inRanges(ranges, uint64(hi[k])<<32|uint64(lo[k])) {
					in |= x & -x
				}
			}
		} else {
			for _, r := range ranges {
				if high.Len > 0 {
					in |= within64(lo, hi, r)
				} else if r.Lo <= math.MaxUint32 {
					in |= within32(lo, uint32(r.Lo), uint32(min(r.Hi, math.MaxUint32)-r.Lo))
				}
			}
		}
		set[i] &= in
	}
	return nil
}

// within32 returns one bit for each of up to 64 codes, set for codes from first to
// first+more.
func within32(codes []uint32, first, more uint32) (in uint64) {
	one := func(x uint32) uint64 { return (uint64(x-first) - uint64(more) - 1) >> 63 }
	k := 0
	for ; k+8 <= len(codes); k += 8 { // constant shifts are cheaper
		c := (*[8]uint32)(codes[k:])
		in |= (one(c[0]) | one(c[1])<<1 | one(c[2])<<2 | one(c[3])<<3 |
			one(c[4])<<4 | one(c[5])<<5 | one(c[6])<<6 | one(c[7])<<7) << (k & 63)
	}
	for ; k < len(codes); k++ {
		in |= one(codes[k]) << (k & 63)
	}
	return in
}

// within64 is within32 for codes of 64 bits in two halves.
func within64(lo, hi []uint32, r plan.CodeRange) (in uint64) {
	hi = hi[:len(lo)]
	for k, x := range lo {
		one := uint64(0)
		if (uint64(hi[k])<<32|uint64(x))-r.Lo <= r.Hi-r.Lo {
			one = 1
		}
		in |= one << (k & 63)
	}
	return in
}

// inRanges reports whether a code lies in one of the ascending ranges.
func inRanges(ranges []plan.CodeRange, code uint64) bool {
	lo, hi := 0, len(ranges) // the first range whose end is not below code lies between
	for lo < hi {
		if mid := (lo + hi) / 2; ranges[mid].Hi < code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(ranges) && ranges[lo].Lo <= code
}
