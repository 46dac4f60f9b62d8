package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
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
