package lists

import (
	"bytes"
	"context"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/workload"
)

var update = flag.Bool("update", false, "write testdata/report.golden.md")

// TestReportGolden compares the report of tables that are the same on every machine
// with a file. It replaces the line that names the machine.
func TestReportGolden(t *testing.T) {
	opt := harnesstest.Tiny()
	opt.Orders, opt.Tables = []workload.Order{workload.Uniform, workload.Clustered}, []string{"ao-table1", "ao-table4"}
	opt.Report = filepath.Join(t.TempDir(), "report.md")
	if err := Family.Run(context.Background(), opt, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(opt.Report)
	if err != nil {
		t.Fatal(err)
	}
	got = regexp.MustCompile(`(?m)^- host: .*$`).ReplaceAll(got, []byte("- host: some processor"))
	golden := filepath.Join("testdata", "report.golden.md")
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("report:\n%s\nwant:\n%s", got, want)
	}
}

func TestDetermination(t *testing.T) {
	for _, c := range []struct {
		docs []uint32
		want float64
	}{{[]uint32{3, 5, 7, 9}, 1}, {[]uint32{7}, 1}, {[]uint32{0, 1, 5}, 25.0 / 28}} {
		if got := determination(c.docs); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.docs, got, c.want)
		}
	}
}
