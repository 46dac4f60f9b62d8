package plantest

import (
	"math"
	"math/rand/v2"

	"heddle/codec/wah"
)

// VectorKind makes bit vectors of one kind.
type VectorKind struct {
	Name string
	Gen  func(r *rand.Rand, rows uint32) []uint64 // a bitset of wah.Bitset(rows) words
}

// VectorKinds returns all kinds.
func VectorKinds() []VectorKind {
	const both = 31 * 63 // rows of whole groups of either size
	kinds := []VectorKind{
		each("zeros", func(*rand.Rand, uint32, uint32) bool { return false }),
		each("ones", func(*rand.Rand, uint32, uint32) bool { return true }),
		each("alternating", func(_ *rand.Rand, _, row uint32) bool { return row%2 == 0 }),
		each("first", func(_ *rand.Rand, _, row uint32) bool { return row == 0 }),
		each("last", func(_ *rand.Rand, rows, row uint32) bool { return row == rows-1 }),
		each("hole", func(_ *rand.Rand, rows, row uint32) bool { return row != rows/2 }),
		each("long fill", func(_ *rand.Rand, rows, row uint32) bool { return row > rows/5 && row < rows-rows/7 }),
		each("fills", func(_ *rand.Rand, _, row uint32) bool { return row/both%2 == 0 }),
		// One row of every group is set and one is not, whatever the size of a group.
		each("literals", func(r *rand.Rand, _, row uint32) bool { return row%2 == 0 && (row%16 == 0 || r.IntN(2) == 0) }),
		{"runs", func(r *rand.Rand, rows uint32) []uint64 { return runs(r, rows, 700) }},
		{"short fills", func(r *rand.Rand, rows uint32) []uint64 { return runs(r, rows, 60) }},
	}
	for _, d := range []struct {
		name string
		p    float64
	}{{"rare", 0.001}, {"tenth", 0.1}, {"half", 0.5}, {"most", 0.97}} {
		kinds = append(kinds, each(d.name, func(r *rand.Rand, _, _ uint32) bool { return r.Float64() < d.p }))
	}
	return kinds
}

// each is a kind that decides row by row.
func each(name string, set func(r *rand.Rand, rows, row uint32) bool) VectorKind {
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

// runs has zeros and ones in turn, in runs of mean rows on average.
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

// codeKinds are kinds of codes of a column, by row.
var codeKinds = []struct {
	name string
	code func(r *rand.Rand, row uint32) uint64
}{
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
