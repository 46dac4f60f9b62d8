package result_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/group"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
)

// TestQuantilesOfManyValues: quantiles of more different values than the limit have answers, unless these are counted or grouped.
func TestQuantilesOfManyValues(t *testing.T) {
	const rows = 70_000
	r := rand.New(rand.NewPCG(8, 9))
	table, codes, groups := plantest.NewTable(rows, 32), make([]uint64, rows), make([]uint64, rows)
	for i := range codes {
		codes[i], groups[i] = r.Uint64N(1<<30), uint64(i%2)
	}
	table.AddCodes(t, codes)
	table.AddCodes(t, groups)
	columns := []column.Column{
		{Name: "v", Type: column.Int, Base: column.IntKey(-5), Unit: 3, Bins: []column.Bin{{Hi: slices.Max(codes), Rows: rows}}},
		{Name: "g", Type: column.Int, Base: column.IntKey(0), Unit: 1, Bins: []column.Bin{{Hi: 1, Rows: rows}}},
	}
	all := plantest.NewFilter(rows, func(uint32) bool { return true })
	opt := result.Options{Options: group.Options{Codes: 1000}}
	sorted := slices.Sorted(slices.Values(codes))
	value := func(place int) string { return fmt.Sprint(int64(sorted[place])*3 - 5) }
	got, err := run(&table.Table, columns, statement.Clauses{Select: "quantile(v, 0), count(v), quantile(v, 0.5), max(v), quantile(v, 1), quantile(g, 0.5)"}, all, opt)
	want := []string{value(0), "70000", value(rows/2 - 1), value(rows - 1), value(rows - 1), "0"}
	if err != nil || len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, c := range []statement.Clauses{{Select: "quantile(v, 0.5), count(distinct v)"}, {Select: "quantile(v, 0.5)", GroupBy: "g"}} {
		if _, err := run(&table.Table, columns, c, all, opt); !errors.Is(err, group.ErrCodes) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if got, err := run(&table.Table, columns, statement.Clauses{Select: "quantile(v, 0.5), count(distinct v)"}, all, result.Options{}); err != nil || got[0][0] != value(rows/2-1) {
		t.Errorf("%v, %v", got, err)
	}
}
