// Package bitslice stores integers of up to 64 bits as bit slices in tiles of 4,096 rows (O'Neil and
// Quass, SIGMOD 1997; Li and Patel, SIGMOD 2013): bit i of the codes of a tile lies in one slice, a
// bit a row. A range is evaluated on 64 rows at a time, from the most significant slice on, and stops
// where no row is undecided.
//
// A tile stores code - Min in as many slices as its greatest code needs. Unless it has FlagPlain, it
// begins with a directory, a u16 for each slice: the slice of existence first if the tile has
// FlagMissing, then the bits from the most significant to the least significant. The directory is
// padded to 16 bytes. Bits 14 and 15 of an entry are the form of the slice, bits 0 to 13 its offset
// in units of 16 bytes from the start of the tile:
//
//	0  plain: a bit a row, 32 rows a word, the lowest bit first, padded to 16 bytes
//	1  all rows 0, 2 all rows 1: no words
//	3  sparse: a u16 with the rarer bit in bit 15 and the number n of its rows in bits 0 to 14, then
//	   n positions as u16, ascending, padded to 16 bytes
//
// A slice is sparse if that takes at most half of the room of a plain one. With FlagPlain there is no
// directory, and slice i lies i times the room of a plain slice behind the start of the tile. A row
// without a value has 0 in every slice. Bits behind the last row are 0. Words are little-endian in
// files.
package bitslice

import "math"

const (
	TileRows  = 4096          // rows of a tile; the last tile of a column may be shorter
	TileWords = TileRows / 64 // words of the rows of a tile
	Align     = 4             // alignment of tiles and of their slices, in words of 4 bytes

	SegmentRows = 128 // rows of Align words of a plain slice
)

// Flags of a tile.
const (
	FlagMissing = 1 // the tile has a slice of existence
	FlagPlain   = 2 // the tile has no directory, all slices are plain
)

// Tile describes a tile in 32 bytes, the same in files, in memory and on devices. Min and Width bound
// its codes: they lie in [Min, Min + 2^Width - 1].
type Tile struct {
	Off   uint64 // first word, a multiple of Align
	Min   uint64 // least code of the rows with a value, 0 without such rows
	Width uint8  // bits of the greatest code - Min, 0 to 64
	Flags uint8
	Last  uint16 // rows - 1
	Words uint32 // words of the tile
	Valid uint32 // rows with a value
	_     uint32
}

// Column is a view of a column. It is safe for concurrent use while the words do not change. Its
// methods need valid tiles (Validate).
type Column struct {
	Rows  uint32
	Tiles []Tile
	Words []uint32 // shared by the columns of a table
}

// Range is a range of codes, both ends included.
type Range struct{ Lo, Hi uint64 }

// Tiles is the number of tiles of a column.
func Tiles(rows uint32) int { return (int(rows) + TileRows - 1) / TileRows }

// Rows is the number of rows of t.
func (t *Tile) Rows() int { return int(t.Last) + 1 }

// Max bounds the codes of t from above.
func (t *Tile) Max() uint64 {
	if top := t.Min + mask(t.Width); top >= t.Min {
		return top
	}
	return math.MaxUint64
}

// mask is the greatest number of the given bits.
func mask(bits uint8) uint64 { return 1<<bits - 1 }

// slices is the number of slices of t.
func (t *Tile) slices() int { return int(t.Width) + int(t.Flags&FlagMissing) }

// plainWords is the number of words of a plain slice of t.
func (t *Tile) plainWords() int { return (t.Rows() + 127) / 128 * Align }

type form uint8

const (
	plain form = iota
	zeros
	ones
	sparse
)

// Parts of the first u16 of a sparse slice.
const (
	sparseBit   = 1 << 15
	sparseCount = sparseBit - 1
)

// entry reads the entry of slice i of the directory of a tile: its form and its first word, from the
// start of the tile.
func (t *Tile) entry(words []uint32, i int) (form, int) {
	if t.Flags&FlagPlain != 0 {
		return plain, i * t.plainWords()
	}
	e := half(words, i)
	return form(e >> 14), int(e&(1<<14-1)) * Align
}

// half reads u16 number i of words.
func half(words []uint32, i int) uint16 { return uint16(words[i/2] >> (i % 2 * 16)) }

// directoryWords is the size of a directory, in words.
func directoryWords(slices int) int { return (slices + 7) / 8 * Align }

// sparseWords is the size of a sparse slice with n positions, in words.
func sparseWords(n int) int { return (n + 8) / 8 * Align }
