package plan

import (
	"fmt"

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
	// Tiles verifies the words of tiles from to end-1 of column c: their bytes, and that readers of them stay in
	// bounds (bitslice.Column.ValidateWords).
	Tiles(c uint32, from, end int) error
}

// VectorAlign is the alignment of a vector's first word, in bytes.
const VectorAlign = 4 * ListAlign

// Vector is the place of the words of a vector.
type Vector struct {
	Off   uint64 // offset in Words32 or Words64, in words; a multiple of VectorAlign bytes
	Words uint32
}

// Values is the stored codes of a column. The code of a row is an integer; codes are ordered like the values of
// the column. The words of the tiles are in Slices.
type Values struct{ Tiles []bitslice.Tile }

// Valid is the number of rows with a value.
func (v *Values) Valid() (n uint64) {
	for i := range v.Tiles {
		n += uint64(v.Tiles[i].Valid)
	}
	return n
}

// Bytes is the size of the slices.
func (v *Values) Bytes() (n uint64) {
	for i := range v.Tiles {
		n += 4 * uint64(v.Tiles[i].Words)
	}
	return n
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

// Codes returns the codes of column c.
func (t *Table) Codes(c uint32) (bitslice.Column, error) {
	return t.Tiles(c, 0, len(t.Columns[c].Tiles))
}

// Tiles is Codes for a reader of tiles from to end-1 alone.
func (t *Table) Tiles(c uint32, from, end int) (bitslice.Column, error) {
	if t.Check != nil {
		if err := t.Check.Tiles(c, from, end); err != nil {
			return bitslice.Column{}, err
		}
	}
	return t.column(c), nil
}

func (t *Table) column(c uint32) bitslice.Column {
	return bitslice.Column{Rows: t.Rows, Tiles: t.Columns[c].Tiles, Words: t.Slices}
}

// Validate checks that all vectors and stored values lie inside the words and are aligned. It reads only the words of
// stored values, if there is no Check of them.
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
	for c := range t.Columns {
		column := t.column(uint32(c))
		err := column.ValidateTiles()
		if err == nil && t.Check == nil {
			err = column.Validate()
		}
		if err != nil {
			return fmt.Errorf("plan: values of column %d: %w", c, err)
		}
	}
	return nil
}
