package engine

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	tablebuild "heddle/engine/table/build"
	read "heddle/engine/table/read/csv"
)

// TestFirstRows compares the first rows of orders by one and two columns, of all rows and of some, with the rows of the whole
// order. A device finds them.
func TestFirstRows(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 7))
	var text strings.Builder
	text.WriteString("year,amount,city,n\n")
	for n := range 20_000 {
		year, city := fmt.Sprint(1990+r.IntN(30)), []string{"", "Oslo", "Bergen", "Vardø"}[r.IntN(4)]
		if r.IntN(5) == 0 {
			year = ""
		}
		fmt.Fprintf(&text, "%s,%.2f,%s,%d\n", year, 100*r.NormFloat64(), city, n/3)
	}
	src, err := read.Open(t.Context(), []string{"-"}, read.Options{Stdin: strings.NewReader(text.String()), Null: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(t.TempDir(), "first.hdb")
	if _, err := tablebuild.Build(t.Context(), src, path, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := tableEngine(t, backendOptions(t)).OpenTable(t.Context(), path, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"", "amount > 100", "city = 'Oslo' AND year IS NOT NULL", "n < 4", "year = 1800",
		"year NOT IN (1990, 1993, 1996, 1999, 2002, 2005, 2008)"} {
		for _, order := range []string{"amount DESC", "amount", "year DESC, amount", "year NULLS FIRST, city DESC", "city, year DESC, n", "n DESC"} {
			a := Aggregation{Select: "*", OrderBy: order, Rows: Selection{Where: where}}
			whole, err := lines(t.Context(), x, a)
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Split(strings.TrimSuffix(whole, "\n"), "\n")
			for _, page := range [][2]uint64{{0, 1}, {0, 10}, {20, 300}, {5, 3000}} {
				var told TableExplanation
				a.Offset, a.Limit, a.Rows.Explain = page[0], page[1], &told
				got, err := lines(t.Context(), x, a)
				if err != nil {
					t.Fatal(err)
				}
				rows := all[1:]
				rows = rows[min(int(page[0]), len(rows)):]
				rows = rows[:min(int(page[1]), len(rows))]
				if want := strings.Join(append([]string{all[0]}, rows...), "\n") + "\n"; got != want {
					t.Fatalf("%q by %s, %v:\n%.500s\nwant\n%.500s", where, order, page, got, want)
				}
				if told.Sorted != !onHost() {
					t.Errorf("%q by %s: a device found the rows: %t", where, order, told.Sorted)
				}
			}
		}
	}
}
