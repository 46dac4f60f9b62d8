package bitmap

import (
	"math/bits"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/bitmap/codeset"
)

// check removes the rows from the top of the stack that have no value in a column, or a code that lies in none of
// ranges. set has the codes of more than bitslice.FewRanges ranges. The tiles of slices and of the table differ in size; both
// begin at a word of a bitset.
func (w *worker) check(t *Table, column uint32, ranges []plan.CodeRange, set *codeset.Set, tile int) error {
	if len(ranges) == 0 || w.has[w.top] == none {
		w.has[w.top] = none
		return nil
	}
	tiles := t.data.Columns[column].Tiles
	start := tile * int(t.tile.tileRows/64) // in words of a bitset
	top := w.sets[w.top][:t.tile.words(tile)]
	first, end := start/bitslice.TileWords, (start+len(top)+bitslice.TileWords-1)/bitslice.TileWords
	if zone := zoneOf(tiles[first:end], ranges); zone != bitslice.Some {
		if zone == bitslice.None {
			w.has[w.top] = none
		}
		return nil
	}
	if w.has[w.top] == all {
		fill(top)
		w.has[w.top] = some
	}
	top[len(top)-1] &= t.tile.lastMask(tile)
	left := false
	for i := first; i < end; i++ {
		from := i*bitslice.TileWords - start
		part := top[max(from, 0):min(from+bitslice.TileWords, len(top))]
		switch tiles[i].Zone(ranges) {
		case bitslice.None:
			clear(part)
			continue
		case bitslice.All:
			left = left || anySet(part)
			continue
		}
		c, err := t.data.Tiles(column, i, i+1)
		if err != nil {
			return err
		}
		if len(part) == bitslice.TileWords {
			left = w.codes.within(&c, i, ranges, set, (*bitslice.Set)(part)) || left
			continue
		}
		rows, at := &w.codes.rows, max(-from, 0)
		clear(rows[:])
		copy(rows[at:], part)
		left = w.codes.within(&c, i, ranges, set, rows) || left
		copy(part, rows[at:])
	}
	if !left {
		w.has[w.top] = none
	}
	return nil
}

// compare removes the rows from the top of the stack that lack a value, or whose codes are in another order.
func (w *worker) compare(t *Table, c *plan.Comparison, tile int) error {
	if w.has[w.top] == none {
		return nil
	}
	start := tile * int(t.tile.tileRows/64) // in words of a bitset
	top := w.sets[w.top][:t.tile.words(tile)]
	if w.has[w.top] == all {
		fill(top)
		w.has[w.top] = some
	}
	top[len(top)-1] &= t.tile.lastMask(tile)
	first, end := start/bitslice.TileWords, (start+len(top)+bitslice.TileWords-1)/bitslice.TileWords
	var columns [2]bitslice.Column
	for k := range columns {
		var err error
		if columns[k], err = t.data.Tiles(c.Columns[k], first, end); err != nil {
			return err
		}
	}
	for i := first; i < end; i++ {
		from := i*bitslice.TileWords - start
		part, at := top[max(from, 0):min(from+bitslice.TileWords, len(top))], max(-from, 0)
		if !anySet(part) {
			continue
		}
		var less, greater, other bitslice.Set
		columns[0].Has(i, &w.codes.rows)
		columns[1].Has(i, &other)
		columns[0].Order(columns[1], i, c.Base[0], c.Base[1], &less, &greater)
		for g := range part {
			k, in := at+g, uint64(0)
			if c.Less {
				in |= less[k]
			}
			if c.Equal {
				in |= ^(less[k] | greater[k])
			}
			if c.Greater {
				in |= greater[k]
			}
			part[g] &= in & w.codes.rows[k] & other[k]
		}
	}
	if !anySet(top) {
		w.has[w.top] = none
	}
	return nil
}

// codes is the scratch memory of one goroutine for a tile.
type codes struct {
	rows  bitslice.Set
	codes [bitslice.TileRows]uint64
	at    [rowsPerSegment * fewSegments]uint16
}

// fewSegments is the number of segments of a tile up to which they are decoded one by one: a whole tile takes as
// long as half of its segments.
const fewSegments = bitslice.TileRows / bitslice.SegmentRows / 2

// within keeps the rows of a tile whose code lies in ranges, and reports whether any is left.
func (x *codes) within(c *bitslice.Column, tile int, ranges []plan.CodeRange, set *codeset.Set, rows *bitslice.Set) bool {
	if len(ranges) <= bitslice.FewRanges {
		return c.Within(tile, ranges, rows)
	}
	if !c.Within(tile, []plan.CodeRange{{Lo: ranges[0].Lo, Hi: ranges[len(ranges)-1].Hi}}, rows) { // and rows without a value go
		return false
	}
	left, segments, n := uint64(0), 0, 0
	for i := 0; i < bitslice.TileWords; i += bitslice.SegmentRows / 64 {
		if rows[i]|rows[i+1] != 0 {
			segments++
			n += bits.OnesCount64(rows[i]) + bits.OnesCount64(rows[i+1])
		}
	}
	if n <= rowsPerSegment*min(segments, fewSegments) {
		return x.some(c, tile, set, rows)
	}
	if segments > fewSegments {
		c.Decode(tile, &x.codes)
	}
	for i := 0; i < bitslice.TileWords; i += bitslice.SegmentRows / 64 {
		if rows[i]|rows[i+1] == 0 {
			continue
		}
		codes := (*[bitslice.SegmentRows]uint64)(x.codes[64*i:])
		if segments <= fewSegments {
			c.Segment((tile*bitslice.TileWords+i)*64/bitslice.SegmentRows, codes)
		}
		rows[i] = set.Keep(rows[i], (*[64]uint64)(codes[:64]))
		rows[i+1] = set.Keep(rows[i+1], (*[64]uint64)(codes[64:]))
		left |= rows[i] | rows[i+1]
	}
	return left != 0
}

// rowsPerSegment is the number of rows whose codes are read one by one as fast as a segment is decoded.
const rowsPerSegment = 12

// some is within for few rows.
func (x *codes) some(c *bitslice.Column, tile int, set *codeset.Set, rows *bitslice.Set) bool {
	at := x.at[:0]
	for g, w := range rows {
		for ; w != 0; w &= w - 1 {
			at = append(at, uint16(64*g+bits.TrailingZeros64(w)))
		}
	}
	codes := x.codes[:len(at)]
	c.Some(tile, at, codes)
	for i, row := range at {
		if !set.Has(codes[i]) {
			rows[row/64] &^= 1 << (row % 64)
		}
	}
	return anySet(rows[:])
}

// zoneOf tells whether the codes of all rows of tiles, or of none, lie in ranges, by their bounds alone.
func zoneOf(tiles []bitslice.Tile, ranges []plan.CodeRange) bitslice.Zone {
	zone := tiles[0].Zone(ranges)
	for i := range tiles {
		if zone == bitslice.Some || tiles[i].Zone(ranges) != zone {
			return bitslice.Some
		}
	}
	return zone
}

// anySet tells whether a set has a row.
func anySet(x []uint64) bool {
	left := uint64(0)
	for _, w := range x {
		left |= w
	}
	return left != 0
}
