// Package gather reads the stored codes of selected rows, some hundred rows at a time.
package gather

import (
	"fmt"
	"math/bits"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/table/hdb"
	"heddle/engine/table/multivalue"
)

// BatchLen is the greatest number of rows of a batch: codes of several columns fit the nearest
// cache.
const BatchLen = 4 * bitslice.SegmentRows

// Column reads the codes of a column. It is safe for concurrent use by Readers.
type Column struct {
	in      plan.Input
	tiles   bitslice.Column
	missing []uint64         // rows without a value; nil: none
	join    *multivalue.Join // from the rows to the stored codes of a multi-valued column; nil for other columns
	bins    []uint16         // bin of each stored code, if the input has bounds and stored codes are small
}

// smallCodes bounds the stored codes of a table of bins.
const smallCodes = 1 << 16

// Unread returns a column that is not read: it has the methods Last and HasMissing alone.
func Unread(in plan.Input) *Column { return &Column{in: in} }

// Open returns the column of an input.
func Open(t *plan.Table, in plan.Input) (c *Column, err error) {
	c = Unread(in)
	c.makeBins()
	if c.tiles, err = t.Codes(in.Column); err != nil || !in.Missing {
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

// Tiles are the stored codes.
func (c *Column) Tiles() bitslice.Column { return c.tiles }

// Tile describes a tile of the stored codes.
func (c *Column) Tile(tile int) *bitslice.Tile { return &c.tiles.Tiles[tile] }

// Lanes writes the stored codes of a tile, less its minimum. It returns false if they do not fit or one is above the
// last code. Counts must hold for the column.
func (c *Column) Lanes(tile int, to *bitslice.Lanes) bool { return c.tiles.Lanes(tile, c.in.Last, to) }

// MissingRows are the rows without a value; nil: none.
func (c *Column) MissingRows() []uint64 { return c.missing }

// WithValue keeps the rows of a tile that have a value.
func (c *Column) WithValue(tile int, rows *bitslice.Set) {
	if c.missing != nil {
		for g, w := range c.missing[tile*bitslice.TileWords : min((tile+1)*bitslice.TileWords, len(c.missing))] {
			rows[g] &^= w
		}
	}
}

// Batch is some ascending rows of a table, segment by segment, or of one tile.
type Batch struct {
	Rows  []uint32
	spans []span
	tile  int // number of the tile plus 1; 0: segments
}

// FillTile makes b the rows of a bitset in a tile, which must be many or at most FewRows: Read decodes all codes of the tile or reads
// them bit by bit.
func (b *Batch) FillTile(set []uint64, tile int) {
	b.Rows, b.spans, b.tile = b.Rows[:0], b.spans[:0], tile+1
	first := tile * bitslice.TileWords
	b.appendRows(set, first, min(first+bitslice.TileWords, len(set)))
}

// appendRows appends the rows of words from first to end-1 of a bitset.
func (b *Batch) appendRows(set []uint64, first, end int) {
	for at := first; at < end; at++ {
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
}

// span is the rows of one segment, up to end in Rows.
type span struct{ segment, end int }

// Fill makes b the first rows of a bitset from a segment on, at most BatchLen, before segment
// end. It returns the segment behind them.
func (b *Batch) Fill(set []uint64, segment, end int) (next int) {
	const words = bitslice.SegmentRows / 64
	b.Rows, b.spans, b.tile = b.Rows[:0], b.spans[:0], 0
	for ; segment < end && len(b.Rows) <= BatchLen-bitslice.SegmentRows; segment++ {
		before := len(b.Rows)
		b.appendRows(set, segment*words, min((segment+1)*words, len(set)))
		if len(b.Rows) > before {
			b.spans = append(b.spans, span{segment, len(b.Rows)})
		}
	}
	return segment
}

// Segments is the number of segments of a bitset.
func Segments(set []uint64) int {
	return (64*len(set) + bitslice.SegmentRows - 1) / bitslice.SegmentRows
}

// Reader has the memory of one goroutine that reads.
type Reader struct {
	codes [bitslice.SegmentRows]uint64
	tile  *[bitslice.TileRows]uint64 // nil before the first batch of a tile
	few   [FewRows]uint16
}

// FewRows is the number of rows of a tile up to which a batch of the tile is read bit by bit.
const FewRows = 192

// few is the number of rows of a segment up to which single values are read.
const few = 4

// Read returns the codes of the rows of a batch in codes, which is as long. All codes are at
// most Last; rows without a value have any of them. A greater code is an hdb.ErrCorrupt.
func (r *Reader) Read(c *Column, b *Batch, codes []uint64) error {
	first, greatest := 0, uint64(0)
	if b.tile > 0 {
		greatest = r.readTile(c, b.tile-1, b.Rows, codes)
	}
	for _, s := range b.spans {
		if rows, to := b.Rows[first:s.end], codes[first:s.end]; len(rows) <= few {
			greatest = max(greatest, single(c, rows, to))
		} else {
			greatest = max(greatest, r.segment(c, s.segment, rows, to))
		}
		first = s.end
	}
	return c.finish(b.Rows, codes, greatest)
}

// At is Read for any rows, in any order, one by one.
func (c *Column) At(rows []uint32, codes []uint64) error {
	return c.finish(rows, codes, single(c, rows, codes))
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

// readTile reads rows of one tile, a few from its slices, else by decoding it, and returns a bound of their codes.
func (r *Reader) readTile(c *Column, tile int, rows []uint32, codes []uint64) (greatest uint64) {
	if len(rows) <= FewRows {
		at := r.few[:len(rows)]
		for i, row := range rows {
			at[i] = uint16(row % bitslice.TileRows)
		}
		c.tiles.Some(tile, at, codes)
	} else if len(rows) == len(codes) && len(rows) == bitslice.TileRows {
		c.tiles.Decode(tile, (*[bitslice.TileRows]uint64)(codes))
	} else {
		if r.tile == nil {
			r.tile = new([bitslice.TileRows]uint64)
		}
		c.tiles.Decode(tile, r.tile)
		for i, row := range rows {
			codes[i] = r.tile[row%bitslice.TileRows]
		}
	}
	if most := c.tiles.Tiles[tile].Max(); most <= c.in.Last {
		return most
	}
	return greatestOf(codes[:len(rows)])
}

// greatestOf is the greatest of codes, from four chains of comparisons.
func greatestOf(codes []uint64) uint64 {
	var a, b, c, d uint64
	for len(codes) >= 4 {
		a, b, c, d = max(a, codes[0]), max(b, codes[1]), max(c, codes[2]), max(d, codes[3])
		codes = codes[4:]
	}
	for _, code := range codes {
		a = max(a, code)
	}
	return max(a, b, c, d)
}

// segment reads rows of one segment by decoding it, and returns the greatest code.
func (r *Reader) segment(c *Column, segment int, rows []uint32, codes []uint64) (greatest uint64) {
	codes = codes[:len(rows)]
	c.tiles.Segment(segment, &r.codes)
	if len(rows) == bitslice.SegmentRows {
		for i, code := range r.codes {
			codes[i] = code
			greatest = max(greatest, code)
		}
		return greatest
	}
	for i, row := range rows {
		code := r.codes[row%bitslice.SegmentRows]
		codes[i] = code
		greatest = max(greatest, code)
	}
	return greatest
}

// single reads rows one by one, and returns the greatest code.
func single(c *Column, rows []uint32, codes []uint64) (greatest uint64) {
	for i, row := range rows {
		codes[i], _ = c.tiles.At(row)
		greatest = max(greatest, codes[i])
	}
	return greatest
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
