package bitmap

import (
	"math"
	"math/bits"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/bitmap/codeset"
	"heddle/hostfallback/internal/bitmap/sketch"
)

// codes holds one decoded segment of the codes of a column.
type codes struct {
	_         [0]uint64 // aligns low and high to words
	low, high [codec.SegmentLen]uint32
}

// fewRows is the largest number of rows of a segment whose codes are looked up one by
// one; for more rows the segment is decoded.
const fewRows = 6

// fewRanges is the largest number of ranges that are compared with all codes of a segment, or
// with sketches; for more ranges there is a set of codes.
const fewRanges = 4

// check removes the rows from the top of the stack whose code of column lies in none of
// ranges. set has the codes of more than fewRanges ranges. It decodes only segments with rows
// that sketches leave.
func (w *worker) check(t *Table, column uint32, ranges []plan.CodeRange, set *codeset.Set, tile int) error {
	if len(ranges) == 0 || w.has[w.top] == none {
		w.has[w.top] = none
		return nil
	}
	if len(t.data.Columns[column].Tiles) > 0 {
		return w.checkTiles(t, column, ranges, set, tile)
	}
	made := t.sketchesOf(column, tile)
	if made != nil {
		switch made.among(ranges) {
		case none:
			w.has[w.top] = none
			return nil
		case all:
			return nil
		}
	}
	const words = codec.SegmentLen / 64
	top := w.sets[w.top][:t.tile.words(tile)]
	first := tile * int(t.tile.tileRows/codec.SegmentLen)
	low, high, err := t.data.Segments(column, first, first+(len(top)+words-1)/words)
	if err != nil {
		return err
	}
	if w.has[w.top] == all {
		fill(top)
		w.has[w.top] = some
	}
	top[len(top)-1] &= t.tile.lastMask(tile)
	var groups []sketch.Group
	if made != nil && len(ranges) <= fewRanges {
		groups = made.groups
		w.sift(t.sketches[column].slots.Load(), groups, ranges, top)
	}
	left, rows, few := uint64(0), 0, w.few[:0]
	for i := 0; i < len(top); i += words {
		part := top[i:min(i+words, len(top))]
		n, seg := countSet(part), first+i/words
		switch {
		case n > fewRows:
			if err := w.codes.check(part, low, high, seg, ranges, set); err != nil {
				return err
			}
		case n > 0:
			few = appendRows(few, part, uint32(64*i))
			clear(part)
		case groups == nil:
			continue
		}
		rows += n
		for k := range part {
			if groups != nil {
				part[k] |= w.kept[i+k]
			}
			left |= part[k]
		}
	}
	w.few = few
	if groups == nil && len(ranges) <= fewRanges {
		if err := t.noteCompared(column, tile, rows, wordsOf(low, first, len(top))+wordsOf(high, first, len(top))); err != nil {
			return err
		}
	}
	found, err := w.checkFew(top, low, high, uint32(first*codec.SegmentLen), ranges)
	if left == 0 && !found {
		w.has[w.top] = none
	}
	return err
}

// wordsOf returns the number of words of the payload of the segments from first on that a set of the given number
// of words covers.
func wordsOf(p codec.Packed, first, set int) int {
	end := first + (64*set+codec.SegmentLen-1)/codec.SegmentLen
	switch {
	case p.Len == 0:
		return 0
	case end < p.Segments():
		return int(p.Dir[2*end]) - int(p.Dir[2*first])
	}
	return len(p.Payload) - int(p.Dir[2*first])
}

// appendRows appends the rows of a set, whose first row has the given number.
func appendRows(to []uint32, set []uint64, first uint32) []uint32 {
	for i, x := range set {
		for ; x != 0; x &= x - 1 {
			to = append(to, first+uint32(64*i+bits.TrailingZeros64(x)))
		}
	}
	return to
}

// checkFew adds the rows in w.few whose code lies in one of ranges to the set of a tile, which
// starts at row first, and reports whether there are any.
func (w *worker) checkFew(set []uint64, low, high codec.Packed, first uint32, ranges []plan.CodeRange) (found bool, err error) {
	const most = 64
	var rows, lo, hi [most]uint32
	for list := w.few; len(list) > 0; list = list[min(most, len(list)):] {
		n := copy(rows[:], list)
		for i := range rows[:n] {
			rows[i] += first
		}
		if err := low.Gather(rows[:n], lo[:n]); err != nil {
			return false, err
		}
		if high.Len > 0 {
			if err := high.Gather(rows[:n], hi[:n]); err != nil {
				return false, err
			}
		}
		for i, row := range list[:n] {
			if codeset.Search(ranges, uint64(hi[i])<<32|uint64(lo[i])) {
				set[row/64] |= 1 << (row % 64)
				found = true
			}
		}
	}
	return found, nil
}

// check decodes segment seg and removes the rows of set whose code lies in none of ranges.
// many has the codes of more than fewRanges ranges.
func (c *codes) check(set []uint64, low, high codec.Packed, seg int, ranges []plan.CodeRange, many *codeset.Set) (err error) {
	wide := high.Len > 0
	if wide && len(ranges) <= fewRanges {
		return c.checkWide(set, low, high, seg, ranges)
	}
	n, err := low.Decode(seg, &c.low)
	if wide && err == nil {
		_, err = high.Decode(seg, &c.high)
	} else if len(ranges) > fewRanges {
		clear(c.high[:]) // another column may have left its upper halves
	}
	if err != nil {
		return err
	}
	in := within(low, seg)
	for i := range set {
		lo, hi := c.low[64*i:min(64*i+64, n)], c.high[64*i:min(64*i+64, n)]
		if len(ranges) > fewRanges {
			set[i] = many.Keep(set[i], lo, hi, !wide)
			continue
		}
		kept := uint64(0)
		for _, r := range ranges {
			if r.Lo <= math.MaxUint32 {
				kept |= in(lo, uint32(r.Lo), uint32(min(r.Hi, math.MaxUint32)))
			}
		}
		set[i] &= kept
	}
	return nil
}

// checkWide is check for codes of more than 32 bits. Most upper halves lie outside of a
// range, or within: only at its ends the lower halves decide.
func (c *codes) checkWide(set []uint64, low, high codec.Packed, seg int, ranges []plan.CodeRange) error {
	n, err := high.Decode(seg, &c.high)
	if err != nil {
		return err
	}
	in, decoded := within(high, seg), false
	for i := range set {
		hi := c.high[64*i : min(64*i+64, n)]
		kept := uint64(0)
		for _, r := range ranges {
			first, last := uint32(r.Lo>>32), uint32(r.Hi>>32)
			inside, ends := uint64(0), in(hi, first, last)
			if last-first > 1 {
				inside = in(hi, first+1, last-1)
				ends &^= inside
			}
			if ends &= set[i] &^ kept; ends != 0 {
				if !decoded {
					if _, err := low.Decode(seg, &c.low); err != nil {
						return err
					}
					decoded = true
				}
				ends = within64(c.low[64*i:], hi, r, ends)
			}
			kept |= inside | ends
		}
		set[i] &= kept
	}
	return nil
}
