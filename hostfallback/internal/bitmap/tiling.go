package bitmap

import (
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// tiling divides the rows of a table into tiles, ranges whose sets stay in the
// first-level cache.
type tiling struct {
	rows       uint32 // number of rows of the table
	tileGroups uint32 // groups in a tile, a multiple of 64: a tile starts at a word of a plain bitset
	tileRows   uint32 // rows in a tile, a multiple of codec.SegmentLen
	tiles      int
}

// Groups in a tile of vectors with words of 32 and 64 bits.
const (
	tileGroups32 = 2048
	tileGroups64 = 1024
)

func tilingOf(t *plan.Table) tiling {
	x := tiling{rows: t.Rows, tileGroups: tileGroups32}
	if t.Word() == 64 {
		x.tileGroups = tileGroups64
	}
	x.tileRows = x.tileGroups * t.GroupBits()
	x.tiles = int((uint64(t.Rows) + uint64(x.tileRows) - 1) / uint64(x.tileRows))
	return x
}

// rowsOf returns the number of rows in a tile.
func (x *tiling) rowsOf(tile int) uint64 {
	return min(uint64(x.tileRows), uint64(x.rows)-uint64(tile)*uint64(x.tileRows))
}

// words returns the number of words in the set of a tile.
func (x *tiling) words(tile int) int { return wah.Bitset(x.rowsOf(tile)) }

// groupsOf returns the number of groups in a tile.
func (x *tiling) groupsOf(tile int) uint64 {
	size := uint64(x.tileRows / x.tileGroups)
	return (x.rowsOf(tile) + size - 1) / size
}

// last returns a mask of the bits that are rows in the last word of a tile.
func (x *tiling) lastMask(tile int) uint64 {
	if r := x.rows % 64; r != 0 && tile == x.tiles-1 {
		return 1<<r - 1
	}
	return ^uint64(0)
}
