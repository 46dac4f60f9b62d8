package hdb

import (
	"heddle/codec/bitslice"
	"heddle/engine/file/container"
)

// tileWriter encodes the codes of a column tile by tile.
type tileWriter struct {
	slices, tiles *container.Spool
	codes         []uint64     // codes of the current tile
	has           bitslice.Set // likewise: rows with a value
	words         []uint32     // words of an encoded tile
	bytes         []byte       // bytes of a descriptor
}

// add takes the code of the next row.
func (t *tileWriter) add(code uint64, has bool) error {
	if n := len(t.codes); has {
		t.has[n/64] |= 1 << (n % 64)
	}
	if t.codes = append(t.codes, code); len(t.codes) == bitslice.TileRows {
		return t.write()
	}
	return nil
}

// write writes the rows that were added as a tile, if there are any.
func (t *tileWriter) write() error {
	if len(t.codes) == 0 {
		return nil
	}
	var tile bitslice.Tile
	t.words, tile = bitslice.Append(t.words[:0], t.codes, t.has[:])
	tile.Off = t.slices.Length() / 4
	t.codes, t.has = t.codes[:0], bitslice.Set{}
	if err := t.slices.Append(container.LittleBytes(t.words)); err != nil {
		return err
	}
	t.bytes = appendTile(t.bytes[:0], &tile)
	return t.tiles.Append(t.bytes)
}
