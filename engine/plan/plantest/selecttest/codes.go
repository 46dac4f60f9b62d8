package selecttest

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// codes counts random rows by the codes of columns of few codes, of many, of 64 bits, of columns
// where rows without a value exist, and by random bins of these.
func (su suite) codes(t *testing.T) {
	rows := uint32(su.Pick(150_000, 9_000))
	tab, inputs := randomColumns(t, rows, []uint64{0, 1, 9, 4093, 4094, 70_000, 1 << 33})
	counter, ok := su.load(t, tab).(plan.CodeCounter)
	if !ok {
		t.Skip("the backend does not count codes")
	}
	su.Check(t, func(rt *rapid.T) {
		set := plantest.DrawFilter(rt, rows)
		if set == nil {
			set = make([]uint64, plan.FilterWords(rows))
		}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(inputs), 0, len(inputs), func(in plan.Input) uint32 { return in.Column }).Draw(rt, "columns")
		for i := range some {
			if in := &some[i]; rapid.Bool().Draw(rt, "bins") {
				in.Bounds = rapid.SliceOfNDistinct(rapid.Uint64Range(0, in.Last), 0, 5, rapid.ID[uint64]).Draw(rt, "bounds")
				slices.Sort(in.Bounds)
			}
		}
		got, err := counter.CountCodes(rt.Context(), set, some)
		if err != nil || len(got) != len(some) {
			rt.Fatalf("%d results for %d columns, %v", len(got), len(some), err)
		}
		for i, in := range some {
			if in.Bounds == nil && got[i] == nil && in.Last > 1<<20 {
				continue
			}
			want := make([]uint64, in.Top()+2)
			for row := range rows {
				switch {
				case set[row/64]>>(row%64)&1 == 0:
				case in.Missing && tab.Bits[in.Vector][row/64]>>(row%64)&1 != 0:
					want[0]++
				case in.Bounds != nil:
					bin := 0
					for bin < len(in.Bounds) && in.Bounds[bin] <= tab.Codes[in.Column][row] {
						bin++
					}
					want[bin+1]++
				default:
					want[tab.Codes[in.Column][row]+1]++
				}
			}
			if !slices.Equal(got[i], want) {
				rt.Errorf("column %d with codes up to %d: wrong counts", in.Column, in.Last)
			}
		}
	})
	in := inputs[2]
	in.Last-- // the column has a greater code then
	all := plantest.NewFilter(rows, func(uint32) bool { return true })
	if _, err := counter.CountCodes(t.Context(), all, []plan.Input{in}); !errors.Is(err, codec.ErrCorrupt) {
		t.Errorf("a code above the last one: %v", err)
	}
}

// randomColumns makes a table with a column of random codes up to each last one, which occurs. Every other
// column has rows without a value.
func randomColumns(t *testing.T, rows uint32, lasts []uint64) (*plantest.Table, []plan.Input) {
	r := plantest.RNG(t)
	tab := plantest.NewTable(rows, 32)
	var inputs []plan.Input
	for i, last := range lasts {
		codes := make([]uint64, rows)
		for k := range codes {
			codes[k] = r.Uint64N(last + 1)
		}
		codes[r.IntN(int(rows))] = last
		in := plan.Input{Column: uint32(i), Last: last, Missing: i%2 == 1}
		lacks := plantest.NewFilter(rows, func(uint32) bool { return r.IntN(1+i) == 1 })
		in.Vector = tab.AddVector(lacks)
		var has []uint64
		if in.Missing {
			has = plantest.NewFilter(rows, func(row uint32) bool { return lacks[row/64]>>(row%64)&1 == 0 })
		}
		tab.AddTiles(t, codes, has)
		inputs = append(inputs, in)
	}
	return tab, inputs
}
