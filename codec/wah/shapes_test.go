package wah

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// tile is the number of groups of one call in tests.
const tile = 64

// sizes returns numbers of rows around the ends of groups, words and tiles.
func sizes[W Word]() []uint64 {
	g := GroupBits[W]()
	var all []uint64
	for _, n := range []uint64{0, g, 2 * g, tile * g} {
		if n > 0 {
			all = append(all, n-1)
		}
		all = append(all, n, n+1)
	}
	return append(all, 3*tile*g+7)
}

// shape makes plain bitsets of one shape.
type shape struct {
	name string
	row  func(r *rand.Rand, rows uint64) func(row uint64) bool
}

// shapes has every shape that could break the code or a loop over it.
var shapes = []shape{
	{"zeros", func(*rand.Rand, uint64) func(uint64) bool { return func(uint64) bool { return false } }},
	{"ones", func(*rand.Rand, uint64) func(uint64) bool { return func(uint64) bool { return true } }},
	{"alternating", func(*rand.Rand, uint64) func(uint64) bool { return func(row uint64) bool { return row%2 == 0 } }},
	{"first", func(*rand.Rand, uint64) func(uint64) bool { return func(row uint64) bool { return row == 0 } }},
	{"last", func(_ *rand.Rand, rows uint64) func(uint64) bool {
		return func(row uint64) bool { return row == rows-1 }
	}},
	{"one-fill", func(r *rand.Rand, rows uint64) func(uint64) bool {
		from := r.Uint64N(rows + 1)
		to := from + r.Uint64N(rows+1-from)
		return func(row uint64) bool { return from <= row && row < to }
	}},
	{"literals", func(r *rand.Rand, rows uint64) func(uint64) bool { // every group of either size has ones and zeros
		return func(row uint64) bool { return row%5 == 0 || row%5 != 1 && r.IntN(2) == 0 }
	}},
	{"groups", func(*rand.Rand, uint64) func(uint64) bool {
		return func(row uint64) bool { return row/31%2 == row/63%2 }
	}},
	{"runs", func(r *rand.Rand, _ uint64) func(uint64) bool {
		end, on := uint64(0), false
		return func(row uint64) bool {
			for row >= end {
				end, on = end+1+uint64(r.ExpFloat64()*200), !on
			}
			return on
		}
	}},
	{"p=0.0065", density(0.0065)},
	{"p=0.1", density(0.1)},
	{"p=0.5", density(0.5)},
	{"p=0.645", density(0.645)},
	{"p=0.99", density(0.99)},
}

// density sets each row with probability p.
func density(p float64) func(*rand.Rand, uint64) func(uint64) bool {
	return func(r *rand.Rand, _ uint64) func(uint64) bool {
		return func(uint64) bool { return r.Float64() < p }
	}
}

// plain returns the bitset of the shape, the same for the same seed.
func (s shape) plain(seed, rows uint64) []uint64 {
	set := make([]uint64, Bitset(rows))
	is := s.row(rand.New(rand.NewPCG(seed, rows)), rows)
	for row := range rows {
		if is(row) {
			set[row/64] |= 1 << (row % 64)
		}
	}
	return set
}

// both runs a test for both sizes of words.
func both(t *testing.T, test32, test64 func(t *testing.T)) {
	t.Run("wah32", test32)
	t.Run("wah64", test64)
}

// build returns the code of a plain bitset by a Builder, row by row.
func build[W Word](set []uint64, rows uint64) []W {
	var b Builder[W]
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			b.Add(64*uint64(i) + uint64(bits.TrailingZeros64(w)))
		}
	}
	return b.AppendTo(nil, rows)
}

// every runs a test of each shape and size, with the code of the vector.
func every[W Word](t *testing.T, test func(t *testing.T, rows uint64, set []uint64, words []W)) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for _, rows := range sizes[W]() {
				set := s.plain(1, rows)
				test(t, rows, set, build[W](set, rows))
			}
		})
	}
}

// group returns group g of a plain bitset, bit by bit.
func group[W Word](set []uint64, rows, g uint64) (group W) {
	n := GroupBits[W]()
	for row := g * n; row < min((g+1)*n, rows); row++ {
		group |= W(set[row/64]>>(row%64)&1) << (row % n)
	}
	return group
}
