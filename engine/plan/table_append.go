package plan

import (
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/codec/bitslice"
	"heddle/codec/wah"
)

// The methods of this file are, like Source.Append, for tests, benchmarks and small
// tables; large ones come from files.

// AppendVector32 appends the words of one more vector to a table of 32-bit words and
// returns its number.
func (t *Table) AppendVector32(words []uint32) uint32 {
	t.Words32 = appendVector(t, t.Words32, words)
	return uint32(len(t.Vectors) - 1)
}

// AppendVector64 is AppendVector32 for a table of 64-bit words.
func (t *Table) AppendVector64(words []uint64) uint32 {
	t.Words64 = appendVector(t, t.Words64, words)
	return uint32(len(t.Vectors) - 1)
}

func appendVector[W wah.Word](t *Table, all, words []W) []W {
	align := VectorAlign * 8 / int(wah.GroupBits[W]()+1)
	for len(all)%align != 0 {
		all = append(all, 0)
	}
	t.Vectors = append(t.Vectors, Vector{Off: uint64(len(all)), Words: uint32(len(words))})
	return append(all, words...)
}

// AppendCodes packs the codes of all rows as the next column and returns its number. It
// fails with an error of codec.AppendPacked, or if there are fewer or more codes than rows.
func (t *Table) AppendCodes(codes []uint64) (uint32, error) {
	if uint64(len(codes)) != uint64(t.Rows) {
		return 0, fmt.Errorf("plan: %d codes for %d rows", len(codes), t.Rows)
	}
	low, high := make([]uint32, len(codes)), make([]uint32, len(codes))
	for i, c := range codes {
		low[i], high[i] = uint32(c), uint32(c>>32)
	}
	var d Values
	err := t.pack(&d.Low, low)
	if err == nil && slices.ContainsFunc(high, func(x uint32) bool { return x != 0 }) {
		err = t.pack(&d.High, high)
	}
	if err != nil {
		return 0, err
	}
	t.Columns = append(t.Columns, d)
	return uint32(len(t.Columns) - 1), nil
}

// AppendTiles stores the codes of all rows as bit slices, as the next column, and returns its number. Bit r%64 of
// word r/64 of has tells whether row r has a value; nil means that all have one.
func (t *Table) AppendTiles(codes, has []uint64) (uint32, error) {
	if uint64(len(codes)) != uint64(t.Rows) {
		return 0, fmt.Errorf("plan: %d codes for %d rows", len(codes), t.Rows)
	}
	tiles := make([]bitslice.Tile, 0, bitslice.Tiles(t.Rows))
	for from := 0; from < len(codes); from += bitslice.TileRows {
		var part []uint64
		if has != nil {
			part = has[from/64:]
		}
		var tile bitslice.Tile
		t.Slices, tile = bitslice.Append(t.Slices, codes[from:min(from+bitslice.TileRows, len(codes))], part)
		tiles = append(tiles, tile)
	}
	t.Columns = append(t.Columns, Values{Tiles: tiles})
	return uint32(len(t.Columns) - 1), nil
}

func (t *Table) pack(to *Span, values []uint32) (err error) {
	for len(t.Packed)%ListAlign != 0 {
		t.Packed = append(t.Packed, 0)
	}
	to.Off = uint64(len(t.Packed))
	t.Packed, err = codec.AppendPacked(t.Packed, values, codec.DefaultOptions())
	to.Words = uint64(len(t.Packed)) - to.Off
	return err
}
