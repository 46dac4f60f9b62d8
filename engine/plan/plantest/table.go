package plantest

import (
	"iter"
	"math/bits"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// Table is a plan.Table together with the plain bitsets and codes that it encodes.
type Table struct {
	plan.Table
	Bits  [][]uint64 // by vector: row r is bit r%64 of word r/64
	Codes [][]uint64 // by column
	Has   [][]uint64 // by column: the rows with a value, nil for all rows
}

// NewTable returns a table without vectors. Its words will have 32 or 64 bits.
func NewTable(rows uint32, word int) *Table {
	t := &Table{Table: plan.Table{Rows: rows}}
	if word == 64 {
		t.Words64 = []uint64{}
	} else {
		t.Words32 = []uint32{}
	}
	return t
}

// AddVector compresses a bitset of wah.Bitset(Rows) words as the next vector and
// returns its number. The table keeps the bitset.
func (t *Table) AddVector(set []uint64) uint32 {
	t.AddRuns(func(yield func(from, to uint64) bool) {
		for i, w := range set {
			for at := uint64(64 * i); w != 0; {
				from := uint64(bits.TrailingZeros64(w))
				n := uint64(bits.TrailingZeros64(^(w >> from)))
				yield(at+from, at+from+n)
				w &^= (1<<n - 1) << from // n of 64 gives a mask of all ones
			}
		}
	})
	t.Bits = append(t.Bits, set)
	return uint32(len(t.Vectors) - 1)
}

// AddRuns adds a vector with ascending runs of ones. A run is from row from to row
// to-1. The table has no plain bitset of the vector.
func (t *Table) AddRuns(runs iter.Seq2[uint64, uint64]) {
	if t.Word() == 64 {
		t.AppendVector64(vectorOf[uint64](t.Rows, runs))
	} else {
		t.AppendVector32(vectorOf[uint32](t.Rows, runs))
	}
}

func vectorOf[W wah.Word](rows uint32, runs iter.Seq2[uint64, uint64]) []W {
	var b wah.Builder[W]
	for from, to := range runs {
		b.AddRun(from, to)
	}
	return b.AppendTo(nil, uint64(rows))
}

// AddCodes stores the codes of all rows as the next column and returns its number.
// The table keeps the codes.
func (t *Table) AddCodes(tb testing.TB, codes []uint64) uint32 {
	tb.Helper()
	c, err := t.AppendCodes(codes)
	if err != nil {
		tb.Fatal(err)
	}
	t.Codes, t.Has = append(t.Codes, codes), append(t.Has, nil)
	return c
}

// AddTiles stores the codes of all rows as bit slices, as the next column, and returns its number. has is the rows
// with a value, nil for all rows. The table keeps both.
func (t *Table) AddTiles(tb testing.TB, codes, has []uint64) uint32 {
	tb.Helper()
	c, err := t.AppendTiles(codes, has)
	if err != nil {
		tb.Fatal(err)
	}
	t.Codes, t.Has = append(t.Codes, codes), append(t.Has, has)
	return c
}

// Lacks tells for each row whether it has no value in column c.
func (t *Table) Lacks(c int) []bool {
	lacks := make([]bool, t.Rows)
	for row := range lacks {
		lacks[row] = t.Has[c] != nil && t.Has[c][row/64]>>(row%64)&1 == 0
	}
	return lacks
}

// Plain returns the table for package reference.
func (t *Table) Plain() *reference.Table {
	return &reference.Table{Rows: t.Rows, Bits: t.Bits, Codes: t.Codes, Has: t.Has}
}

// Scan returns the reference answer to s: a bitset of rows for each selection.
func (t *Table) Scan(s *plan.SelectBatch) [][]uint64 { return t.Plain().Select(s) }
