package build_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// A table of a CSV text. Its columns are told by the header, their types by the values.
func Example() {
	const text = `delay,carrier,departure
-3,AA,2001-01-01 06:00
75,UA,2001-01-01 06:20
,AA,2001-01-01 07:05
`
	ctx := context.Background()
	src, err := csv.Open(ctx, []string{"-"}, csv.Options{Stdin: strings.NewReader(text)})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	report, err := tablebuild.Build(ctx, src, filepath.Join(dir, "flights.hdb"), tablebuild.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Rows, "rows")
	for _, c := range report.Columns {
		fmt.Println(c.Name, c.Type, c.Bins, "bins,", c.Missing, "missing")
	}
	// Output:
	// 3 rows
	// delay int 2 bins, 1 missing
	// carrier string 2 bins, 0 missing
	// departure timestamp 3 bins, 0 missing
}
