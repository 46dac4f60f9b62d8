package engine

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tablebuild "heddle/engine/table/build"
	read "heddle/engine/table/read/csv"
)

// groupedRow is a row of TestGroups: four columns that form groups, and values.
type groupedRow struct {
	by          [4]string // empty: no value
	large, rank string
}

// TestGroups compares groups by one to four columns with a loop over the rows. One group has 57 % of the rows, and sums of
// large numbers and of ranks need more than 64 bits.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 4))
	var rows []groupedRow
	text := "a,b,c,d,large,rank\n"
	for range 9000 {
		row := groupedRow{by: [4]string{"1", "x", "1000000000000", "true"}, large: fmt.Sprint(9e18 - r.Int64N(1e17)), rank: fmt.Sprint(9_000_000_000_000_000_000 - r.Int64N(3)*4e18)}
		if r.IntN(100) >= 57 {
			row.by = [4]string{fmt.Sprint(r.IntN(5)), []string{"", "x", "y y"}[r.IntN(3)], fmt.Sprint(r.Int64N(40) * 1e12), []string{"", "false", "true"}[r.IntN(3)]}
			row.large = []string{"", fmt.Sprint(r.Int64N(1e18)), fmt.Sprint(-r.Int64N(9e18))}[r.IntN(3)]
		}
		rows = append(rows, row)
		text += strings.Join(append(row.by[:], row.large, row.rank), ",") + "\n"
	}
	src, err := read.Open(t.Context(), []string{"-"}, read.Options{Stdin: strings.NewReader(text), Null: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(t.TempDir(), "groups.hdb")
	if _, err := tablebuild.Build(t.Context(), src, path, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := tableEngine(t, backendOptions(t)).OpenTable(t.Context(), path, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range [][]int{{}, {0}, {1, 2}, {0, 1, 3}, {3, 2, 1, 0}, {0, 1, 2, 3}} {
		var names []string
		for _, k := range by {
			names = append(names, "abcd"[k:k+1])
		}
		a := Aggregation{Select: strings.Join(append(names, "count(*), count(large), sum(large), sum(rank), min(large), max(large), max(rank), count(DISTINCT large), quantile(large, 0.5)"), ", "),
			GroupBy: strings.Join(names, ", "), OrderBy: "1"}
		var told TableExplanation
		a.Rows.Explain = &told
		got, err := lines(t.Context(), x, a)
		if err != nil {
			t.Fatalf("%v: %v", names, err)
		}
		have := strings.Split(strings.TrimSuffix(got, "\n"), "\n")[1:]
		want := groupLines(rows, by)
		slices.Sort(have)
		if slices.Sort(want); !slices.Equal(have, want) {
			t.Errorf("%v: %d groups, want %d:\n%v\n%v", names, len(have), len(want), have[0], want[0])
		}
		if !strings.Contains(told.String(), "values in pure Go: ") {
			t.Errorf("%v: sums of more than 64 bits: %s", names, told.String())
		}
	}
}

// groupLines are the lines of the answer to TestGroups.
func groupLines(rows []groupedRow, by []int) (all []string) {
	groups := map[string][]groupedRow{}
	for _, row := range rows {
		key := ""
		for _, k := range by {
			key += row.by[k] + ","
		}
		groups[key] = append(groups[key], row)
	}
	for key, rows := range groups {
		sum, ranks, most := new(big.Int), new(big.Int), new(big.Int)
		var large []*big.Int
		for _, row := range rows {
			n, _ := new(big.Int).SetString(row.rank, 10)
			if ranks.Add(ranks, n); n.Cmp(most) > 0 {
				most = n
			}
			if n, ok := new(big.Int).SetString(row.large, 10); ok {
				sum.Add(sum, n)
				large = append(large, n)
			}
		}
		slices.SortFunc(large, func(a, b *big.Int) int { return a.Cmp(b) })
		different := len(slices.CompactFunc(slices.Clone(large), func(a, b *big.Int) bool { return a.Cmp(b) == 0 }))
		values := [4]string{}
		if n := len(large); n > 0 {
			values = [4]string{sum.String(), large[0].String(), large[n-1].String(), large[(n+1)/2-1].String()}
		}
		all = append(all, fmt.Sprintf("%s%d,%d,%s,%v,%s,%s,%v,%d,%s", key, len(rows), len(large), values[0], ranks, values[1], values[2], most, different, values[3]))
	}
	return all
}
