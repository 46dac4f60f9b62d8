package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestPreparedBatches compares batches of prepared predicates, in several orders, with the answers to their texts, one by
// one.
func TestPreparedBatches(t *testing.T) {
	testneeds.OneCaller(t)
	x := openTable(t, backendOptions(t))
	r := rand.New(rand.NewPCG(7, 8))
	tests := []func() string{
		func() string { return fmt.Sprintf("delay BETWEEN %d AND %d", r.IntN(90)-30, r.IntN(300)) },
		func() string { return fmt.Sprintf("distance < %d", r.IntN(3000)) },
		func() string { return fmt.Sprintf("NOT delay IN (%d, %d, %d)", r.IntN(30), r.IntN(30), r.IntN(30)) },
		func() string { return fmt.Sprintf("carrier >= '%c'", 'A'+r.IntN(26)) },
		func() string { return "delay < distance" },
		func() string { return "delay IS NULL" },
	}
	type answer struct {
		count uint64
		bits  []uint64
	}
	var prepared []Selection
	want := map[*Prepared]answer{}
	for range 40 {
		where := tests[r.IntN(len(tests))]()
		for range r.IntN(3) {
			where += []string{" AND ", " OR "}[r.IntN(2)] + tests[r.IntN(len(tests))]()
		}
		p, err := x.Prepare(t.Context(), Selection{Where: where})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		rows, err := x.Select(t.Context(), Selection{Where: where})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		want[p] = answer{rows.Count, slices.Clone(rows.Bits)}
		rows.Release()
		prepared = append(prepared, Selection{Prepared: p})
	}
	for _, output := range []plan.Output{plan.OutputBits, plan.OutputCounts, plan.OutputBits} {
		r.Shuffle(len(prepared), func(i, k int) { prepared[i], prepared[k] = prepared[k], prepared[i] })
		for i := range prepared {
			prepared[i].Output = output
		}
		answered := 0
		err := x.SelectAll(t.Context(), prepared, func(first int, rows []Rows) error {
			for i, got := range rows {
				p := prepared[first+i].Prepared
				if w := want[p]; got.Count != w.count || output == plan.OutputBits && !slices.Equal(got.Bits, w.bits) {
					t.Errorf("%s: %d rows in a batch, %d alone, or other rows", p, got.Count, w.count)
				}
				answered++
			}
			return nil
		})
		if err != nil || answered != len(prepared) {
			t.Errorf("%d of %d answers, %v", answered, len(prepared), err)
		}
	}
}
