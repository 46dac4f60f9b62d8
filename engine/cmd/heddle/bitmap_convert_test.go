package main

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
)

// former returns a table of version 4.
func former(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/version4.hdb.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBitmapConvert rewrites a table of version 4, whose rows are a build of the same rows, and compares the files.
func TestBitmapConvert(t *testing.T) {
	old := former(t)
	inTempDir(t)
	writeFile(t, "old.hdb", old)
	writeFile(t, "old.csv", "n,seen,city,price,tags\n1,2024-01-01,Rome,1.25,\"[1,2]\"\n,2024-01-02,Oslo,,[]\n70000,2024-01-05,,3.5,[3]\n-4,,Rome,2,\n")
	must(t, "bitmap", "convert", "old.hdb", "-o", "x.hdb")
	must(t, "bitmap", "verify", "x.hdb")
	must(t, "bitmap", "build", "-o", "built.hdb", "--type", "tags=int[]", "--set", "city:binning=distinct,encoding=range", "old.csv")
	if a, b := must(t, "bitmap", "query", "x.hdb", "--select", "*"), must(t, "bitmap", "query", "built.hdb", "--select", "*"); a != b || !strings.Contains(a, "70000,2024-01-05T00:00:00Z,,3.5,[3]\n") {
		t.Errorf("the rows are\n%s, want\n%s", a, b)
	}
	for _, args := range [][]string{{"verify", "old.hdb"}, {"convert", "x.hdb", "-o", "y.hdb"}} {
		if got := heddle(t, append([]string{"bitmap"}, args...)...); got.code == 0 || !strings.Contains(got.stderr, "unsupported format version") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	wantFailure(t, heddle(t, "bitmap", "convert", "old.hdb", "-o", "old.hdb"), exitUsage, "old.hdb is both an input and the output: choose another output\n")
}
