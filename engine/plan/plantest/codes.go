package plantest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
)

// CodeKind draws the code of a row, for columns of one kind.
type CodeKind struct {
	Name string
	Code func(r *rand.Rand, row uint32) uint64
}

// CodeKinds are the kinds of columns.
var CodeKinds = []CodeKind{
	{"all zero", func(*rand.Rand, uint32) uint64 { return 0 }},
	{"row", func(_ *rand.Rand, row uint32) uint64 { return uint64(row) }},
	{"small", func(r *rand.Rand, _ uint32) uint64 { return r.Uint64N(10) }},
	{"exceptions", func(r *rand.Rand, row uint32) uint64 {
		if r.IntN(20) == 0 {
			return uint64(r.Uint32())
		}
		return r.Uint64N(8)
	}},
	{"32 bits", func(r *rand.Rand, _ uint32) uint64 { return uint64(r.Uint32()) }},
	{"all ones", func(*rand.Rand, uint32) uint64 { return math.MaxUint32 }},
	{"64 bits", func(r *rand.Rand, _ uint32) uint64 { return r.Uint64() }},
	{"about 2^32", func(r *rand.Rand, _ uint32) uint64 { return 1<<32 - 4 + r.Uint64N(8) }},
	{"few above 2^32", func(r *rand.Rand, _ uint32) uint64 {
		if r.IntN(300) == 0 {
			return 1<<40 + r.Uint64N(3)
		}
		return r.Uint64N(100)
	}},
	{"greatest", func(*rand.Rand, uint32) uint64 { return math.MaxUint64 }},
}

// AddColumn adds a column of a kind and returns its number.
func (t *Table) AddColumn(tb testing.TB, kind CodeKind, r *rand.Rand) uint32 {
	tb.Helper()
	codes := make([]uint64, t.Rows)
	for row := range codes {
		codes[row] = kind.Code(r, uint32(row))
	}
	return t.AddCodes(tb, codes)
}

// EveryVector returns a table with one vector of each kind, and with columns of
// three kinds: small codes, exceptions, about 2^32.
func EveryVector(t *testing.T, rows uint32, word int) *Table {
	r := RNG(t)
	tab := NewTable(rows, word)
	for _, k := range VectorKinds() {
		tab.AddVector(k.Gen(r, rows))
	}
	for _, k := range []int{2, 3, 7} {
		tab.AddColumn(t, CodeKinds[k], r)
	}
	return tab
}

// RandomComparison compares two columns, whose numbers are near each other in some rows.
func RandomComparison(r *rand.Rand, t *Table) plan.Comparison {
	n := uint32(len(t.Columns))
	c := plan.Comparison{Columns: [2]uint32{r.Uint32N(n), r.Uint32N(n)}, Less: r.IntN(2) == 0, Equal: r.IntN(2) == 0, Greater: r.IntN(2) == 0}
	if t.Rows == 0 {
		return c
	}
	var code [2]uint64
	for k := range code {
		code[k] = t.Codes[c.Columns[k]][r.Uint32N(t.Rows)]
	}
	k := 0
	if code[0] > code[1] {
		k = 1
	}
	by := code[1-k] - code[k]
	by += min(r.Uint64N(3), math.MaxUint64-by) // and one or two more
	if by <= math.MaxUint64-slices.Max(t.Codes[c.Columns[k]]) {
		c.Base[k] = by
	}
	return c
}

// RandomRanges returns up to three ranges. Some of codes lie in them or beside
// them.
func RandomRanges(r *rand.Rand, codes []uint64) []plan.CodeRange {
	ends := make([]uint64, 2*r.IntN(4))
	for i := range ends {
		if ends[i] = r.Uint64() >> r.IntN(64); len(codes) > 0 {
			ends[i] = codes[r.IntN(len(codes))] + r.Uint64N(3) - 1
		}
	}
	return RangesBetween(ends)
}

// RangesBetween returns ascending, disjoint ranges that begin and end at elements
// of ends. It sorts ends.
func RangesBetween(ends []uint64) (ranges []plan.CodeRange) {
	slices.Sort(ends)
	for i := 0; i+1 < len(ends); i += 2 {
		if i == 0 || ends[i] > ranges[len(ranges)-1].Hi {
			ranges = append(ranges, plan.CodeRange{Lo: ends[i], Hi: ends[i+1]})
		}
	}
	return ranges
}
