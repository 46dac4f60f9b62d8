package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestNoProgress checks that a bar stays invisible without a terminal.
func TestNoProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := os.Create("err")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := NewProgress(f, "working", UnitBytes, 100)
	p.To(50)
	p.End()
	if st, err := f.Stat(); err != nil || st.Size() != 0 {
		t.Errorf("a bar was drawn into a file (%v)", err)
	}
}

// TestProgressUnit checks that a bar shows its unit.
func TestProgressUnit(t *testing.T) {
	for unit, want := range map[Unit]bool{UnitValues: true, UnitBytes: false} {
		for _, total := range []int64{0, 1 << 30} {
			var out bytes.Buffer
			p := newBar(&out, "working", unit, total)
			p.To(1 << 20)
			if got := out.String(); !strings.Contains(got, "working") || strings.Contains(got, " values/") != want {
				t.Errorf("a bar of %d %s: %q", total, unit, got)
			}
			p.End()
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 5 << 20: "5 MiB", 3 << 40: "3 TiB", 1 << 52: "4096 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}
