package bitslice

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// ErrCorrupt is the reason of errors of Validate.
var ErrCorrupt = errors.New("corrupt bit slices")

func corrupt(tile int, format string, a ...any) error {
	return fmt.Errorf("%w: tile %d: %s", ErrCorrupt, tile, fmt.Sprintf(format, a...))
}

// Validate checks all tiles. Behind it, the methods of c are in bounds for any words.
func (c Column) Validate() error {
	if err := c.ValidateTiles(); err != nil {
		return err
	}
	for i := range c.Tiles {
		if err := c.ValidateWords(i); err != nil {
			return err
		}
	}
	return nil
}

// ValidateTiles checks the descriptions of the tiles, not their words.
func (c Column) ValidateTiles() error {
	if len(c.Tiles) != Tiles(c.Rows) {
		return fmt.Errorf("%w: %d tiles for %d rows", ErrCorrupt, len(c.Tiles), c.Rows)
	}
	for i := range c.Tiles {
		t := &c.Tiles[i]
		rows := min(TileRows, int(c.Rows)-i*TileRows)
		size := directoryWords(t.slices())
		if t.Flags&FlagPlain != 0 {
			size = t.slices() * t.plainWords()
		}
		switch {
		case t.Rows() != rows:
			return corrupt(i, "%d rows instead of %d", t.Rows(), rows)
		case t.Width > 64 || t.Flags > FlagMissing|FlagPlain:
			return corrupt(i, "width %d, flags %d", t.Width, t.Flags)
		case t.Off%Align != 0 || t.Off > uint64(len(c.Words)) || uint64(t.Words) > uint64(len(c.Words))-t.Off:
			return corrupt(i, "words %d to %d of %d", t.Off, t.Off+uint64(t.Words), len(c.Words))
		case t.Words%Align != 0 || int(t.Words) < size || t.Flags&FlagPlain != 0 && int(t.Words) != size:
			return corrupt(i, "%d words for %d slices", t.Words, t.slices())
		case int(t.Valid) > rows, (int(t.Valid) < rows) != (t.Flags&FlagMissing != 0):
			return corrupt(i, "%d of %d rows with a value, flags %d", t.Valid, rows, t.Flags)
		case t.Valid == 0 && (t.Width > 0 || t.Min > 0):
			return corrupt(i, "width %d, minimum %d, no values", t.Width, t.Min)
		}
	}
	return nil
}

// ValidateBounds compares the minimum and the width of a valid tile with its codes.
func (c Column) ValidateBounds(tile int) error {
	t := &c.Tiles[tile]
	least, greatest := uint64(math.MaxUint64), uint64(0)
	var codes [SegmentRows]uint64
	first := tile * (TileRows / SegmentRows)
	for i := first; i < first+(t.Rows()+SegmentRows-1)/SegmentRows; i++ {
		has := c.Present(i)
		for k, code := range codes[:c.Segment(i, &codes)] {
			switch {
			case has[k/64]>>(k%64)&1 != 0:
				least, greatest = min(least, code), max(greatest, code)
			case code != t.Min:
				return corrupt(tile, "row %d without a value has bits", k+(i-first)*SegmentRows)
			}
		}
	}
	if t.Valid > 0 && (least != t.Min || bits.Len64(greatest-least) != int(t.Width)) {
		return corrupt(tile, "its codes are %d to %d, its minimum is %d and its width %d", least, greatest, t.Min, t.Width)
	}
	return nil
}

// ValidateWords checks the words of a tile whose description is valid: the directory, positions, and
// the number of rows with a value.
func (c Column) ValidateWords(tile int) error {
	t := &c.Tiles[tile]
	words := c.words(t)
	for i := range t.slices() {
		f, at := t.entry(words, i)
		size := 0
		switch f {
		case plain:
			size = t.plainWords()
		case sparse:
			size = Align
		}
		if at+size > len(words) {
			return corrupt(tile, "slice %d starts at word %d of %d", i, at, len(words))
		}
		if f != sparse {
			continue
		}
		part := words[at:]
		n := int(part[0] & sparseCount)
		if sparseWords(n) > len(part) {
			return corrupt(tile, "slice %d has %d positions in %d words", i, n, len(part))
		}
		before := -1
		for k := range n {
			x := int(half(part, k+1))
			if x <= before || x >= t.Rows() {
				return corrupt(tile, "slice %d: position %d behind %d, of %d rows", i, x, before, t.Rows())
			}
			before = x
		}
	}
	if t.Flags&FlagMissing != 0 {
		n := 0
		var buf Set
		c.Has(tile, &buf)
		for g := range buf {
			n += bits.OnesCount64(buf[g])
		}
		if n != int(t.Valid) {
			return corrupt(tile, "%d rows with a value instead of %d", n, t.Valid)
		}
	}
	return nil
}

// rowsOf returns the rows of t in word g of a set of rows.
func rowsOf(t *Tile, g int) uint64 {
	n := t.Rows() - 64*g
	switch {
	case n >= 64:
		return ^uint64(0)
	case n <= 0:
		return 0
	}
	return 1<<n - 1
}
