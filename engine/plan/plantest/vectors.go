package plantest

import (
	"math/rand/v2"

	"heddle/codec/wah"
)

// VectorKind draws bit vectors of one kind.
type VectorKind struct {
	Name string
	Gen  func(r *rand.Rand, rows uint32) []uint64 // a bitset of wah.Bitset(rows) words
}

// VectorKinds returns all kinds. The names are fit for subtests.
func VectorKinds() []VectorKind {
	const both = 31 * 63 // whole groups of 31 rows and of 63 rows
	kinds := []VectorKind{
		RowByRow("zeros", func(*rand.Rand, uint32, uint32) bool { return false }),
		RowByRow("ones", func(*rand.Rand, uint32, uint32) bool { return true }),
		RowByRow("alternating", func(_ *rand.Rand, _, row uint32) bool { return row%2 == 0 }),
		RowByRow("first", func(_ *rand.Rand, _, row uint32) bool { return row == 0 }),
		RowByRow("last", func(_ *rand.Rand, rows, row uint32) bool { return row == rows-1 }),
		RowByRow("hole", func(_ *rand.Rand, rows, row uint32) bool { return row != rows/2 }),
		RowByRow("long fill", func(_ *rand.Rand, rows, row uint32) bool { return row > rows/5 && row < rows-rows/7 }),
		RowByRow("fills", func(_ *rand.Rand, _, row uint32) bool { return row/both%2 == 0 }),
		// Every group has a row that is set and a row that is not.
		RowByRow("literals", func(r *rand.Rand, _, row uint32) bool { return row%2 == 0 && (row%16 == 0 || r.IntN(2) == 0) }),
		{"runs", func(r *rand.Rand, rows uint32) []uint64 { return runs(r, rows, 700) }},
		{"short fills", func(r *rand.Rand, rows uint32) []uint64 { return runs(r, rows, 60) }},
	}
	for _, d := range []struct {
		name string
		p    float64
	}{{"rare", 0.001}, {"tenth", 0.1}, {"half", 0.5}, {"most", 0.97}} {
		kinds = append(kinds, RowByRow(d.name, func(r *rand.Rand, _, _ uint32) bool { return r.Float64() < d.p }))
	}
	return kinds
}

// RowByRow returns a kind that decides for each row alone.
func RowByRow(name string, set func(r *rand.Rand, rows, row uint32) bool) VectorKind {
	return VectorKind{name, func(r *rand.Rand, rows uint32) []uint64 {
		v := make([]uint64, wah.Bitset(uint64(rows)))
		for row := range rows {
			if set(r, rows, row) {
				v[row/64] |= 1 << (row % 64)
			}
		}
		return v
	}}
}

// runs alternates zeros and ones in runs of mean rows on average.
func runs(r *rand.Rand, rows, mean uint32) []uint64 {
	v := make([]uint64, wah.Bitset(uint64(rows)))
	one, left := r.IntN(2) == 0, uint32(0)
	for row := range rows {
		if left == 0 {
			one, left = !one, 1+uint32(r.ExpFloat64()*float64(mean))
		}
		if left--; one {
			v[row/64] |= 1 << (row % 64)
		}
	}
	return v
}
