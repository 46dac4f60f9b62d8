package plan

import (
	"fmt"

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

// AppendCodes stores the codes of all rows, which have a value, as the next column and returns its number. It fails
// if there are fewer or more codes than rows.
func (t *Table) AppendCodes(codes []uint64) (uint32, error) { return t.AppendTiles(codes, nil) }

// AppendTiles is AppendCodes where rows may lack a value: bit r%64 of word r/64 of has tells whether row r has one; nil
// means that all have.
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
