package cost

import (
	"math"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// TestOf describes queries of no list to five, with lists of no docID to all of uint32.
func TestOf(t *testing.T) {
	src := &plan.Source{Docs: math.MaxUint32}
	for i, n := range []uint32{0, 1, 8, 1000, 1 << 20, math.MaxUint32} {
		id := codec.Raw
		if i >= 4 {
			id = codec.Bitset
		}
		src.Lists = append(src.Lists, plan.List{Len: n, Codec: id})
	}
	for _, c := range []struct {
		lists []plan.Handle
		want  Features
	}{
		{nil, Features{}},
		{[]plan.Handle{0}, Features{Terms: 1}},
		{[]plan.Handle{2}, Features{Terms: 1, Shortest: 8, Sum: 8, Sparse: 8, Common: 8}},
		{[]plan.Handle{0, 2}, Features{Terms: 2, Second: 8, Sum: 8, Sparse: 8}},
		{[]plan.Handle{2, 4}, Features{Terms: 2, Dense: 1, Shortest: 8, Second: 1 << 20, Sum: 8 + 1<<20, Sparse: 8, UBOC: 8 * 20, Common: 8 << 20 / float64(math.MaxUint32)}},
		{[]plan.Handle{1, 2, 3, 4, 5}, Features{Terms: 5, Dense: 2, Shortest: 1, Second: 8, Sum: 1 + 8 + 1000 + 1<<20 + math.MaxUint32,
			Sparse: 1009, UBOC: 3 + math.Log2(1000) + 20 + math.Log2(math.MaxUint32),
			Common: 8 * 1000 * (1 << 20) / math.Pow(math.MaxUint32, 3)}},
	} {
		got := Of(src, c.lists)
		if !near(got.UBOC, c.want.UBOC, 1e-12) || !near(got.Common, c.want.Common, 1e-12) {
			t.Errorf("%v: UBOC %v, %v common, want %v, %v", c.lists, got.UBOC, got.Common, c.want.UBOC, c.want.Common)
		}
		got.UBOC, got.Common = c.want.UBOC, c.want.Common
		if got != c.want {
			t.Errorf("%v: %+v, want %+v", c.lists, got, c.want)
		}
	}
	all := []plan.Handle{1, 2, 3, 4, 5}
	if n := testing.AllocsPerRun(100, func() { Of(src, all) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestValues compares the values of each metric with its definition.
func TestValues(t *testing.T) {
	f := &Features{Terms: 3, Shortest: 10, Second: 20, Sum: 60, UBOC: 95}
	for m, want := range map[Metric][]float64{LOS: {10}, UBOC: {95}, UBOCT: {9.5}, Ding: {10, 20, 60, 3}} {
		if got := m.Values(f, []float64{7})[1:]; !slices.Equal(got, want) || len(m.Names()) != len(want) {
			t.Errorf("%v: %v, want %v", m, got, want)
		}
	}
	if got := UBOCT.Values(&Features{}, nil)[0]; got != 0 {
		t.Errorf("UBOCT of no list is %v", got)
	}
}
