package plan

import (
	"fmt"

	"heddle/codec"
	"heddle/codec/bitslice"
	"heddle/codec/wah"
)

// Table is a set of compressed bit vectors over the same rows, and the stored values
// of columns. It is read-only and safe for concurrent use. Its owner keeps the words
// valid until every TableStore loaded from it is closed.
type Table struct {
	Rows uint32 // every vector has so many bits

	// Words32 or Words64 holds the vectors, in groups of 31 or 63 rows (package wah).
	// The unused slice is nil.
	Words32 []uint32
	Words64 []uint64
	Vectors []Vector

	Packed  []uint32 // stored values (codec.Packed), column after column
	Slices  []uint32 // stored values (package bitslice), column after column
	Columns []Values

	// Check verifies words before their first use; nil: all words are intact. The methods
	// below call it. A copy of all words to a device needs a check of all words before.
	Check Checker
}

// Checker verifies words of a Table before their first use. It is safe for concurrent use.
type Checker interface {
	// Vector verifies the words of vector v. Damage is a panic with a *mapped.Fault, which
	// readers of the words catch.
	Vector(v uint32)
	// Segments verifies the stored codes of column c in segments from to end-1, or in such tiles if the column has
	// tiles.
	Segments(c uint32, from, end int) error
}

// VectorAlign is the alignment of a vector's first word, in bytes.
const VectorAlign = 4 * ListAlign

// Vector is the place of the words of a vector.
type Vector struct {
	Off   uint64 // offset in Words32 or Words64, in words; a multiple of VectorAlign bytes
	Words uint32
}

// Values is the place of the stored codes of a column. The code of a row is an integer; codes are ordered like
// the values of the column. Either the column has tiles, whose words are in Slices, or its codes are in Packed:
// the lower 32 bits are one packed list; a second packed list has the upper bits if a code has more than 32. There
// a row without a value has an arbitrary code.
type Values struct {
	Low, High Span // High has no words where codes have 32 bits
	Tiles     []bitslice.Tile
}

// Span is a range of Packed: one codec.Packed of Rows values. Off is a multiple of
// ListAlign.
type Span struct {
	Off   uint64
	Words uint64
}

// Word is the size of a word of the vectors, in bits: 32 or 64.
func (t *Table) Word() int {
	if t.Words64 != nil {
		return 64
	}
	return 32
}

// GroupBits is the number of rows of a group: 31 or 63.
func (t *Table) GroupBits() uint32 { return uint32(t.Word() - 1) }

// Groups is the number of groups of a vector.
func (t *Table) Groups() uint32 {
	if t.Words64 != nil {
		return uint32(wah.Groups[uint64](uint64(t.Rows)))
	}
	return uint32(wah.Groups[uint32](uint64(t.Rows)))
}

// Vector32 returns the words of vector v of a table of 32-bit words.
func (t *Table) Vector32(v uint32) []uint32 {
	if t.Check != nil {
		t.Check.Vector(v)
	}
	d := t.Vectors[v]
	return t.Words32[d.Off : d.Off+uint64(d.Words) : d.Off+uint64(d.Words)]
}

// Vector64 returns the words of vector v of a table of 64-bit words.
func (t *Table) Vector64(v uint32) []uint64 {
	if t.Check != nil {
		t.Check.Vector(v)
	}
	d := t.Vectors[v]
	return t.Words64[d.Off : d.Off+uint64(d.Words) : d.Off+uint64(d.Words)]
}

// Bitset decompresses vector v: row r is bit r%64 of word r/64. Damage is a wah.ErrCorrupt.
func (t *Table) Bitset(v uint32) ([]uint64, error) {
	set := make([]uint64, wah.Bitset(uint64(t.Rows)))
	if t.Word() == 64 {
		return set, wah.Decompress(set, t.Vector64(v), uint64(t.Rows))
	}
	return set, wah.Decompress(set, t.Vector32(v), uint64(t.Rows))
}

// VectorBytes is the size of the words of vectors, each as often as it is named.
func (t *Table) VectorBytes(vectors []uint32) (n uint64) {
	for _, v := range vectors {
		n += uint64(t.Vectors[v].Words) * uint64(t.Word()/8)
	}
	return n
}

// Codes returns views of the packed codes of column c: the lower and the upper
// halves. The upper list is empty if no code has more than 32 bits.
func (t *Table) Codes(c uint32) (low, high codec.Packed, err error) {
	return t.Segments(c, 0, (int(t.Rows)+codec.SegmentLen-1)/codec.SegmentLen)
}

// Segments is Codes for a reader of segments from to end-1 alone.
func (t *Table) Segments(c uint32, from, end int) (low, high codec.Packed, err error) {
	if t.Check != nil {
		if err := t.Check.Segments(c, from, end); err != nil {
			return low, high, err
		}
	}
	return t.codes(c)
}

// Tiles returns column c, which has tiles, for a reader of the tiles from to end-1 alone.
func (t *Table) Tiles(c uint32, from, end int) (bitslice.Column, error) {
	if t.Check != nil {
		if err := t.Check.Segments(c, from, end); err != nil {
			return bitslice.Column{}, err
		}
	}
	return t.sliced(c), nil
}

func (t *Table) sliced(c uint32) bitslice.Column {
	return bitslice.Column{Rows: t.Rows, Tiles: t.Columns[c].Tiles, Words: t.Slices}
}

func (t *Table) codes(c uint32) (low, high codec.Packed, err error) {
	d := t.Columns[c]
	if low, err = codec.NewPacked(t.Rows, t.Packed[d.Low.Off:d.Low.Off+d.Low.Words]); err != nil || d.High.Words == 0 {
		return low, codec.Packed{}, err
	}
	high, err = codec.NewPacked(t.Rows, t.Packed[d.High.Off:d.High.Off+d.High.Words])
	return low, high, err
}

// Validate checks that all vectors and stored values lie inside the words and are aligned.
// It does not decode.
func (t *Table) Validate() error {
	if t.Words32 != nil && t.Words64 != nil {
		return fmt.Errorf("plan: a table with words of 32 and of 64 bits")
	}
	size := uint64(t.Word() / 8)
	words := uint64(len(t.Words32) + len(t.Words64))
	for v, d := range t.Vectors {
		switch {
		case d.Off*size%VectorAlign != 0:
			return fmt.Errorf("plan: vector %d starts at word %d, not a multiple of %d bytes", v, d.Off, VectorAlign)
		case d.Off > words || uint64(d.Words) > words-d.Off:
			return fmt.Errorf("plan: vector %d (words %d to %d) lies outside the %d words of its table", v, d.Off, d.Off+uint64(d.Words), words)
		case d.Words == 0 && t.Rows > 0 || d.Words > t.Groups():
			return fmt.Errorf("plan: vector %d has %d words for %d groups", v, d.Words, t.Groups())
		}
	}
	for c, d := range t.Columns {
		if len(d.Tiles) > 0 {
			if err := t.sliced(uint32(c)).ValidateTiles(); err != nil {
				return fmt.Errorf("plan: values of column %d: %w", c, err)
			}
			continue
		}
		for _, s := range []Span{d.Low, d.High} {
			switch {
			case s.Off%ListAlign != 0:
				return fmt.Errorf("plan: values of column %d start at word %d, not a multiple of %d", c, s.Off, ListAlign)
			case s.Off > uint64(len(t.Packed)) || s.Words > uint64(len(t.Packed))-s.Off:
				return fmt.Errorf("plan: values of column %d (words %d to %d) lie outside the %d words of the table", c, s.Off, s.Off+s.Words, len(t.Packed))
			}
		}
		if _, _, err := t.codes(uint32(c)); err != nil {
			return fmt.Errorf("plan: values of column %d: %w", c, err)
		}
	}
	return nil
}
