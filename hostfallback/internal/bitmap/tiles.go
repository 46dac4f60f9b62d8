package bitmap

import (
	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/bitmap/codeset"
)

// sliced is the scratch memory of one goroutine for tiles of bit slices.
type sliced struct {
	rows  bitslice.Set
	codes [bitslice.TileRows]uint64
}

// checkTiles is check for a column of bit slices. The tiles of the slices and of the table differ in size; both begin
// at a word of a bitset.
func (w *worker) checkTiles(t *Table, column uint32, ranges []plan.CodeRange, set *codeset.Set, tile int) error {
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
		column, err := t.data.Tiles(column, i, i+1)
		if err != nil {
			return err
		}
		if len(part) == bitslice.TileWords {
			left = w.sliced.within(&column, i, ranges, set, (*bitslice.Set)(part)) || left
			continue
		}
		clear(w.sliced.rows[:])
		copy(w.sliced.rows[max(-from, 0):], part)
		left = w.sliced.within(&column, i, ranges, set, &w.sliced.rows) || left
		copy(part, w.sliced.rows[max(-from, 0):])
	}
	if !left {
		w.has[w.top] = none
	}
	return nil
}

// within keeps the rows of a tile whose code lies in ranges, and reports whether any is left.
func (s *sliced) within(c *bitslice.Column, tile int, ranges []plan.CodeRange, set *codeset.Set, rows *bitslice.Set) bool {
	if len(ranges) <= fewRanges {
		return c.Within(tile, ranges, rows)
	}
	bounds := []plan.CodeRange{{Lo: ranges[0].Lo, Hi: ranges[len(ranges)-1].Hi}}
	if !c.Within(tile, bounds, rows) {
		return false
	}
	c.Decode(tile, &s.codes)
	left := uint64(0)
	for i, w := range rows {
		rows[i] = set.Among(w, (*[64]uint64)(s.codes[64*i:]))
		left |= rows[i]
	}
	return left != 0
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
