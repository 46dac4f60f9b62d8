package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestBitmapWideGroups groups by a column whose greatest code is near the end of 32 bits.
func TestBitmapWideGroups(t *testing.T) {
	inTempDir(t)
	for greatest := uint64(1<<32 - 4); greatest <= 1<<32+1; greatest++ {
		writeFile(t, "t.csv", fmt.Sprintf("n,m\n0,1\n%d,2\n,3\n%d,4\n", greatest, greatest-1))
		must(t, "bitmap", "build", "-o", "x.hdb", "t.csv")
		got := must(t, "bitmap", "query", "x.hdb", "--select", "n, count(*), sum(m)", "--group-by", "n")
		if want := fmt.Sprintf("n,count(*),sum(m)\n0,1,1\n%d,1,4\n%d,1,2\n,1,3\n", greatest-1, greatest); got != want {
			t.Errorf("greatest %d: %q, want %q", greatest, got, want)
		}
		got = must(t, "bitmap", "query", "x.hdb", "--select", "n, m, count(*)", "--group-by", "n, m")
		if want := fmt.Sprintf("n,m,count(*)\n0,1,1\n%d,4,1\n%d,2,1\n,3,1\n", greatest-1, greatest); got != want {
			t.Errorf("greatest %d, two columns: %q, want %q", greatest, got, want)
		}
	}
}

// TestBitmapMissingChecked: rows without a value stay where a condition on few rows comes first.
func TestBitmapMissingChecked(t *testing.T) {
	inTempDir(t)
	const rows = 3000
	var b strings.Builder
	b.WriteString("x,y,z\n")
	want := 0
	for i := range rows {
		x := i * 7919 % rows
		text := fmt.Sprint(x)
		if i%3 == 0 {
			text = ""
		}
		fmt.Fprintf(&b, "%s,%d,%d\n", text, i%10, i/10%10)
		if (i%3 == 0 || x > 1717) && i%10 == 4 && i/10%10 == 7 {
			want++
		}
	}
	writeFile(t, "t.csv", b.String())
	for _, bins := range []string{"1", "7", "64"} {
		must(t, "bitmap", "build", "-o", "x.hdb", "--set", "x:bins="+bins+",binning=width", "t.csv")
		if got := must(t, "bitmap", "query", "x.hdb", "--where", "(x > 1717 OR x IS NULL) AND y = 4 AND z = 7"); got != fmt.Sprintf("1\t%d\n", want) {
			t.Errorf("%s bins: %q, want %d rows", bins, got, want)
		}
	}
}
