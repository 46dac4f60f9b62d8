package bitslice

import (
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// selections are sets of rows of a tile, of those that have a value.
func selections(r *rand.Rand, c Column, tile int) (all []Set) {
	var has Set
	c.Has(tile, &has)
	half, few := has, Set{}
	for g := range half {
		half[g] &= r.Uint64()
	}
	few[r.IntN(TileWords)] = r.Uint64()
	for g := range few {
		few[g] &= has[g]
	}
	return append(all, has, half, few, Set{})
}

// TestAggregates compares sums, extremes and orders of tiles with loops over plain codes.
func TestAggregates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	names := slices.Sorted(maps.Keys(shapes))
	for _, name := range names {
		n := 2*TileRows + 1000
		codes, has := shapes[name](r, n)
		c := column(codes, has)
		for tile := range c.Tiles {
			from := codes[tile*TileRows:]
			for _, rows := range selections(r, c, tile) {
				sum, least, greatest, any := new(big.Int), uint64(1<<64-1), uint64(0), false
				for row := range min(TileRows, len(from)) {
					if rows[row/64]>>(row%64)&1 != 0 {
						sum.Add(sum, new(big.Int).SetUint64(from[row]))
						least, greatest, any = min(least, from[row]), max(greatest, from[row]), true
					}
				}
				high, low := c.Sum(tile, &rows)
				got := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
				if got.Add(got, new(big.Int).SetUint64(low)); got.Cmp(sum) != 0 {
					t.Fatalf("%s, tile %d: sum %v, want %v", name, tile, got, sum)
				}
				for _, bound := range []uint64{0, least, greatest, codes[0], least + 1, greatest - 1, 1<<64 - 1} {
					if got, ok := c.Greatest(tile, &rows, bound); ok != (any && greatest > bound) || ok && got != greatest {
						t.Fatalf("%s, tile %d: greatest %d, %v above %d, want %d", name, tile, got, ok, bound, greatest)
					}
					if got, ok := c.Least(tile, &rows, bound); ok != (any && least < bound) || ok && got != least {
						t.Fatalf("%s, tile %d: least %d, %v below %d, want %d", name, tile, got, ok, bound, least)
					}
				}
			}
		}
		for _, other := range names {
			others, otherHas := shapes[other](r, n)
			d := column(others, otherHas)
			for _, base := range [][2]uint64{{0, 0}, {3, 0}, {0, 1 << 20}} {
				checkOrder(t, name+" and "+other, c, d, codes, others, base)
			}
		}
	}
}

func checkOrder(t *testing.T, name string, c, d Column, codes, others []uint64, base [2]uint64) {
	t.Helper()
	for tile := range c.Tiles {
		var less, greater, has, otherHas Set
		c.Order(d, tile, base[0], base[1], &less, &greater)
		c.Has(tile, &has)
		d.Has(tile, &otherHas)
		for row := range c.Tiles[tile].Rows() {
			x, y := base[0]+codes[tile*TileRows+row], base[1]+others[tile*TileRows+row]
			if (has[row/64]&otherHas[row/64])>>(row%64)&1 == 0 || x < base[0] || y < base[1] {
				continue
			}
			isLess, isGreater := less[row/64]>>(row%64)&1 != 0, greater[row/64]>>(row%64)&1 != 0
			if isLess != (x < y) || isGreater != (x > y) {
				t.Fatalf("%s, bases %v, tile %d, row %d: %d and %d are less %v, greater %v", name, base, tile, row, x, y, isLess, isGreater)
			}
		}
	}
}
