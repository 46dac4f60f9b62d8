package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/rowset"
)

// TestSelectIn restricts every predicate to random rows, to none, and to a bitset that ends early,
// alone and in batches with unrestricted predicates.
func TestSelectIn(t *testing.T) {
	testneeds.OneCaller(t)
	x := openTable(t, backendOptions(t))
	want := wanted()
	random := make([]uint64, want.Stride)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = r.Uint64() & r.Uint64()
	}
	rows := tableRows(t, x)
	random[rows/64] &= 1<<(rows%64) - 1
	expect := func(i int, in []uint64) (set []uint64, n int) {
		set = slices.Clone(want.Selection(i))
		for k := range set {
			if in != nil && k < len(in) {
				set[k] &= in[k]
			} else if in != nil {
				set[k] = 0
			}
		}
		return set, len(rowset.AppendIDs(nil, set))
	}
	sets := [][]uint64{random, {}, random[:len(random)/2], nil}
	for _, output := range []plan.Output{plan.OutputBits, plan.OutputCounts} {
		var all []Selection
		for i, where := range wheres {
			s := Selection{Where: where, Output: output, In: sets[i%len(sets)]}
			all = append(all, s)
			set, n := expect(i, s.In)
			got, err := x.Select(t.Context(), s)
			if err != nil || got.Count != uint64(n) || output == plan.OutputBits && !slices.Equal(got.Bits, set) || output == plan.OutputCounts && got.Bits != nil {
				t.Errorf("%s: %d rows, want %d, %v", where, got.Count, n, err)
			}
		}
		err := x.SelectAll(t.Context(), all, func(first int, rows []Rows) error {
			for k, got := range rows {
				if set, n := expect(first+k, all[first+k].In); got.Count != uint64(n) || output == plan.OutputBits && !slices.Equal(got.Bits, set) {
					t.Errorf("%s in a batch: %d rows, want %d", all[first+k].Where, got.Count, n)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, in := range [][]uint64{append(make([]uint64, rows/64), 1<<(rows%64)), append(make([]uint64, rows/64+1), 1)} {
		if _, err := x.Select(t.Context(), Selection{Where: "TRUE", In: in}); CodeOf(err) != InvalidOption || !strings.Contains(err.Error(), "In has row ") {
			t.Errorf("a row too many: %v", err)
		}
	}
}

func tableRows(t *testing.T, x *Table) uint32 {
	t.Helper()
	info, err := x.Info()
	if err != nil {
		t.Fatal(err)
	}
	return info.Rows
}
