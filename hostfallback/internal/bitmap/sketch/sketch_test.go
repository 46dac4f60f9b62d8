package sketch

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// codes draws codes of one size, of all sizes, and of few values.
var codes = rapid.Custom(func(t *rapid.T) []uint64 {
	width := rapid.IntRange(0, 64).Draw(t, "bits")
	one := rapid.Custom(func(t *rapid.T) uint64 { return rapid.Uint64().Draw(t, "code") >> (64 - width) })
	skewed := rapid.Custom(func(t *rapid.T) uint64 {
		return rapid.Uint64().Draw(t, "code") >> rapid.IntRange(0, 63).Draw(t, "shift")
	})
	edge := rapid.SampledFrom([]uint64{0, 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64})
	return rapid.SliceOfN(rapid.OneOf(one, skewed, edge), 0, 300).Draw(t, "codes")
})

// TestFind compares the rows of random ranges with a plain comparison.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample, list := codes.Draw(t, "sample"), codes.Draw(t, "rows")
		if rapid.Bool().Draw(t, "known") {
			sample = list
		}
		m := NewMap(sample)
		ends := append([]uint64{0, math.MaxUint64}, m.first...)
		end := rapid.OneOf(rapid.SampledFrom(ends), rapid.Uint64(), rapid.SampledFrom(append(list, 7)))
		lo, hi := end.Draw(t, "lo"), end.Draw(t, "hi")
		if hi < lo {
			lo, hi = hi, lo
		}
		r := m.Range(plan.CodeRange{Lo: lo, Hi: hi})
		for len(list) > 0 {
			n := min(64, len(list))
			part := list[:n]
			list = list[n:]
			low, high, wide := make([]uint32, n), make([]uint32, n), false
			for i, c := range part {
				low[i], high[i] = uint32(c), uint32(c>>32)
				wide = wide || c > math.MaxUint32
			}
			if !wide {
				high = nil
			}
			var g Group
			m.Put(&g, low, high)
			rows := rapid.Uint64().Draw(t, "set")
			kept, cut := []uint64{0}, []uint64{0}
			r.Find([]Group{g}, []uint64{rows}, kept, cut)
			inside, compare := kept[0], cut[0]&^kept[0]
			if (inside|compare)&^rows != 0 {
				t.Fatal("rows outside of the set")
			}
			for i, c := range part {
				switch in := lo <= c && c <= hi && rows>>i&1 != 0; {
				case inside>>i&1 != 0 && !in, inside>>i&1 == 0 && compare>>i&1 == 0 && in:
					t.Fatalf("code %d, range %d to %d: inside %d", c, lo, hi, inside>>i&1)
				}
			}
		}
	})
}

// TestEqualSlots: few rows need a comparison, for distributions of several forms.
func TestEqualSlots(t *testing.T) {
	const n = 8192
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() uint64{
		"uniform":     func() uint64 { return r.Uint64N(1_000_000) },
		"exponential": func() uint64 { return uint64(r.ExpFloat64() * 1000) },
		"floats":      func() uint64 { return math.Float64bits(r.Float64()) - math.Float64bits(1e-9) },
		"rare large":  func() uint64 { return r.Uint64N(1000) | r.Uint64N(2000)/1999<<60 },
	} {
		list := make([]uint64, n)
		for i := range list {
			list[i] = draw()
		}
		m := NewMap(list)
		rows := make([]int, len(m.first))
		for range n {
			rows[m.slot[m.unit(draw())]]++
		}
		for slot, k := range rows {
			if k > n/25 {
				t.Errorf("%s: slot %d of %d has %d of %d rows", name, slot, len(m.first), k, n)
			}
		}
	}
}

func BenchmarkFind(b *testing.B) {
	const n = 1000
	groups, set, kept, compare := make([]Group, n), make([]uint64, n), make([]uint64, n), make([]uint64, n)
	for i := range set {
		set[i] = ^uint64(0)
	}
	m := NewMap([]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	r := m.Range(plan.CodeRange{Lo: 3, Hi: 5})
	b.SetBytes(64 * n)
	for b.Loop() {
		clear(compare)
		r.Find(groups, set, kept, compare)
	}
}

// TestRangeEnds: a slot is inside of a range only if all its codes are.
func TestRangeEnds(t *testing.T) {
	var sample []uint64
	for c := range uint64(4 * slots) {
		sample = append(sample, 37*c)
	}
	m := NewMap(sample)
	for _, first := range m.first[1:] {
		var g Group
		m.Put(&g, []uint32{uint32(first - 1), uint32(first)}, nil)
		for _, c := range []struct {
			r      plan.CodeRange
			inside uint64 // a bit for each code: some value lies in it
		}{
			{plan.CodeRange{Lo: first, Hi: math.MaxUint64}, 0b10}, {plan.CodeRange{Lo: first + 1, Hi: math.MaxUint64}, 0},
			{plan.CodeRange{Lo: 0, Hi: first - 1}, 0b01}, {plan.CodeRange{Lo: 0, Hi: first - 2}, 0},
		} {
			r, kept, cut := m.Range(c.r), []uint64{0}, []uint64{0}
			if r.Find([]Group{g}, []uint64{0b11}, kept, cut); kept[0] != c.inside {
				t.Fatalf("codes %d and %d in %+v: %b, want %b", first-1, first, c.r, kept[0], c.inside)
			}
		}
	}
}
