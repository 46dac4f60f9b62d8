package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate/predicatetest"
)

// comparing are predicates on flights that compare columns.
var comparing = []string{
	"delay < distance",
	"NOT delay < distance AND carrier = 'AA'",
	"(delay >= distance) IS NOT TRUE",
	"carrier < gate OR delay > 100 AND distance <= delay",
	"delay <> distance AND (distance > delay OR cancelled) AND at >= at",
	"gate = carrier",
}

// TestCompareColumns compares columns with values of any number, in each form of the answer.
func TestCompareColumns(t *testing.T) {
	x := openTable(t, backendOptions(t))
	wheres := append([]string{wheres[0]}, append(comparing, wheres[1])...)
	for _, output := range []plan.Output{plan.OutputBits, plan.OutputCounts, plan.OutputResident} {
		out, err := selectAll(t.Context(), x, selections(Selection{Output: output}, wheres...))
		if err != nil {
			t.Fatal(err)
		}
		for i, where := range wheres {
			bits, n := predicatetest.Select(flights(), where)
			if out.Counts[i] != n || output == plan.OutputBits && !slices.Equal(out.Selection(i), bits) {
				t.Errorf("%s: %d rows, want %d, or other ones", where, out.Counts[i], n)
			}
		}
	}
	var e TableExplanation
	if _, err := x.Select(t.Context(), Selection{Where: comparing[3], Explain: &e}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"delay: 101 to", "  carrier < gate: compared in pure Go\n", "  distance <= delay: compared", "ran on ", "selections: 2; columns compared in pure Go"} {
		if !strings.Contains(e.String(), want) {
			t.Errorf("%q is not in\n%v", want, &e)
		}
	}
	if _, n := predicatetest.Select(flights(), comparing[3]); e.Count != uint64(n) || e.Bytes == 0 {
		t.Errorf("%d rows, %d bytes, want %d rows", e.Count, e.Bytes, n)
	}
}

// TestCompareColumnsRandom compares random predicates with the oracle.
func TestCompareColumnsRandom(t *testing.T) {
	engine := tableEngine(t, backendOptions(t))
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SampledFrom([]int{0, 1, 64, 129, 300}).Draw(rt, "rows")
		columns := predicatetest.Draw(rt, rows)
		tab, described := predicatetest.Table(t, 32, columns...)
		x, err := engine.NewTable(t.Context(), &tab.Table, described, TableOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		defer x.Close()
		var wheres []string
		for range 3 {
			a, b := rapid.SampledFrom(columns).Draw(rt, "a"), rapid.SampledFrom(columns).Draw(rt, "b")
			form := rapid.SampledFrom([]string{"%q >= %q", "NOT %q = %q", "(%q < %q) IS NOT TRUE", "(%q <> %q) IS FALSE"}).Draw(rt, "form")
			if where := fmt.Sprintf(form, a.Name, b.Name); a.Type.ComparesWith(b.Type) {
				wheres = append(wheres, where, where+rapid.SampledFrom([]string{" AND ", " OR "}).Draw(rt, "op")+"("+predicatetest.Predicate(rt, columns, 2)+")")
			}
		}
		for _, where := range wheres {
			bits, n := predicatetest.Select(columns, where)
			got, err := x.Select(t.Context(), Selection{Where: where})
			if err != nil || got.Count != uint64(n) || !slices.Equal(got.Bits, bits) {
				rt.Fatalf("%s: %d rows, %v, error %v, want %d, %v", where, got.Count, got.Bits, err, n, bits)
			}
		}
	})
}

// TestCompareSliced compares pairs of columns with codes of one unit, in several tiles, by all operators, under NOT and beside
// other tests, with the oracle.
func TestCompareSliced(t *testing.T) {
	const rows = 2*bitslice.TileRows + 77
	e := tableEngine(t, backendOptions(t))
	ends := func(r *rand.Rand) int64 {
		return []int64{math.MinInt64, -1, 0, math.MaxInt64 - 2}[r.IntN(4)] + r.Int64N(3)
	}
	for name, of := range map[string]struct {
		coding predicatetest.Coding
		values func(r *rand.Rand, row int) (a, b int64)
		sliced bool
	}{
		"near":        {values: func(r *rand.Rand, _ int) (a, b int64) { return r.Int64N(1000), r.Int64N(1000) - 300 }, sliced: true},
		"neighbours":  {values: func(r *rand.Rand, row int) (a, b int64) { return int64(row), int64(row) + r.Int64N(3) - 1 }, sliced: true},
		"least, most": {values: func(r *rand.Rand, _ int) (a, b int64) { return ends(r), ends(r) }, sliced: true},
		"apart":       {values: func(r *rand.Rand, _ int) (a, b int64) { return r.Int64N(9), 1<<40 + r.Int64N(9) }, sliced: true},
		"one value":   {values: func(r *rand.Rand, _ int) (a, b int64) { return 7, r.Int64N(15) }, sliced: true},
		"unit of 100": {predicatetest.Units, func(r *rand.Rand, _ int) (a, b int64) { return 100 * r.Int64N(50), 100*r.Int64N(50) - 700 }, true},
		"half a unit": {predicatetest.Units, func(r *rand.Rand, _ int) (a, b int64) { return 100 * r.Int64N(50), 100*r.Int64N(50) + 50 }, false},
		"other widths": {values: func(r *rand.Rand, row int) (a, b int64) {
			return r.Int64N(1 << (row / 2000)), r.Int64N(1 << (5 - row/2000))
		}, sliced: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(39, uint64(len(name))))
			in := []predicatetest.Column{{Name: "a", Type: column.Int}, {Name: "b", Type: column.Int}}
			var values [2][]any
			for row := range rows {
				a, b := of.values(r, row)
				values[0], values[1] = append(values[0], a), append(values[1], b)
				if k := r.IntN(14); k < 2 {
					values[k][row] = nil
				}
			}
			for k := range in {
				in[k].Values, in[k].Coding, in[k].Bin = values[k], of.coding, func(int, int) int { return 0 }
			}
			tab, columns := predicatetest.Table(t, 32, in...)
			x, err := e.NewTable(t.Context(), &tab.Table, columns, TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			for _, by := range []string{"=", "<>", "<", "<=", ">", ">="} {
				for _, form := range []string{"a %s b", "NOT b %s a", "(a %s b) IS NOT TRUE", "(a %s b OR a IS NULL) AND b > 3", "a > 5 AND a %s b"} {
					where := fmt.Sprintf(form, by)
					p, err := x.Prepare(t.Context(), Selection{Where: where})
					if err != nil {
						t.Fatal(err)
					}
					got, err := x.Select(t.Context(), Selection{Prepared: p})
					if err != nil {
						t.Fatal(err)
					}
					if bits, n := predicatetest.Select(in, where); got.Count != uint64(n) || !slices.Equal(got.Bits, bits) {
						t.Errorf("%s: %d rows, want %d, or other ones", where, got.Count, n)
					}
					if sliced := len(p.Plan().Sliced) == 1; sliced != of.sliced || sliced == (len(p.Plan().Compared) == 1) {
						t.Errorf("%s: by slices %v, by values %v", where, p.Plan().Sliced, p.Plan().Compared)
					}
					got.Release()
				}
			}
		})
	}
}
