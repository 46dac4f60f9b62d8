package wah_test

import (
	"fmt"

	"heddle/codec/wah"
)

func Example() {
	const rows = 1000
	var b wah.Builder[uint32]
	b.AddRun(100, 900)
	middle := b.AppendTo(nil, rows)
	b.Add(5)
	b.Add(500)
	some := b.AppendTo(nil, rows)

	fmt.Println(len(middle), "words,", wah.Count(middle), "rows")
	for row := range wah.Rows(wah.AndNot(nil, some, middle), rows) {
		fmt.Println("row", row)
	}
	for from, to := range wah.Runs(wah.Not(nil, wah.Or(nil, some, middle), rows), rows) {
		fmt.Println("rows", from, "to", to-1)
	}
	// Output:
	// 5 words, 800 rows
	// row 5
	// rows 0 to 4
	// rows 6 to 99
	// rows 900 to 999
}
