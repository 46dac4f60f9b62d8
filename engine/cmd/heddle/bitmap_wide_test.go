package main

import (
	"fmt"
	"strings"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestBitmapWide builds a table of 10,000 columns within the default memory limit. Its peak is about 110 MB.
func TestBitmapWide(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	const columns, rows = 10_000, 20
	lines := make([][]string, rows+1)
	want := 0
	for i := range columns {
		lines[0] = append(lines[0], fmt.Sprint("c", i))
		for r := range rows {
			v := (i*7 + r*13) % 1000
			text := fmt.Sprint(v)
			if i%3 == 0 {
				text = fmt.Sprint("t", v%50)
			}
			lines[r+1] = append(lines[r+1], text)
			if i == columns-2 {
				want += v
			}
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.Join(line, ",") + "\n")
	}
	writeFile(t, "wide.csv", b.String())
	// The limit counts the memory of the whole process, so the build is one of its own.
	if said, err := process(t.Context(), "bitmap", "build", "-o", "x.hdb", "wide.csv").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if got := must(t, "bitmap", "query", "x.hdb", "--select", fmt.Sprintf("sum(c%d), count(c0)", columns-2)); !strings.HasSuffix(got, fmt.Sprintf("\n%d,%d\n", want, rows)) {
		t.Errorf("%q, want the sum %d of %d rows", got, want, rows)
	}
}
