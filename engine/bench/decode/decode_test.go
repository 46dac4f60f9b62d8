package decode

import (
	"bytes"
	"context"
	"io"
	"math"
	"path/filepath"
	"testing"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/plan/testneeds"
)

// TestBound compares the bound with Table 5 of the paper, and the second moment with
// its closed form.
func TestBound(t *testing.T) {
	for i, n := range widthLengths {
		if got := boundedWidth(n, widthDocs, widthError); float64(got) != paperBound[i] {
			t.Errorf("%d docIDs: %d bits, the paper has %v", n, got, paperBound[i])
		}
	}
	for _, c := range [][2]int{{1, 1}, {3, 10}, {10, 11}, {999, 4096}} {
		n, m := float64(c[0]), float64(c[1])
		i := math.Floor((n + 1) / 2)
		want := i * (1 + m) * (1 - i + n) * (m - n) / ((1 + n) * (1 + n) * (2 + n))
		if got, _ := centralMoment(c[0], c[1], 2).Float64(); math.Abs(got-want) > 1e-9*(want+1) {
			t.Errorf("variance of the middle of %v among %v: %v, want %v", n, m, got, want)
		}
	}
}

func TestTakesExceptions(t *testing.T) {
	if !takesExceptions(codec.ParaPFor) || !takesExceptions(codec.LRCPFor) || takesExceptions(codec.Rice) || takesExceptions(codec.LRC) {
		t.Error("parapfor and lrcpfor have a share of exceptions, rice and lrc have not")
	}
}

func TestInts(t *testing.T) {
	testneeds.Long(t)
	opt := harnesstest.Tiny()
	opt.Tables = []string{"ints"}
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
	var out bytes.Buffer
	if err := Family.Run(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	codecs := len(harness.Encoders()) - 1 // without bitset
	rows := harnesstest.ReadRows(t, opt.JSON)
	if len(rows) != 2*codecs {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Bench != "decode" || r.Unit != "G ints/s" || r.Median <= 0 || r.Bytes == 0 || r.PeakFraction <= 0 {
			t.Errorf("row %+v", r)
		}
	}
}
