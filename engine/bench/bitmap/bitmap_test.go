package bitmap

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/plan/testneeds"
)

// TestZipfSet: every row is in one bin of each attribute, and the sizes of bins follow
// Zipf's law.
func TestZipfSet(t *testing.T) {
	const rows = 60_000
	for _, word := range []int{32, 64} {
		for _, skew := range []float64{0, 1, 2} {
			s, err := zipfSet(t.Context(), 1, skew, rows, word)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.table.Validate(); err != nil || s.table.Word() != word || len(s.picks) != 100 {
				t.Fatalf("%s: %d-bit words, %d vectors, %v", s.name, s.table.Word(), len(s.picks), err)
			}
			if got, want := float64(s.table.VectorBytes(s.picks))/rows, s.published(s.picks); math.Abs(got/want-1) > 0.01 {
				t.Errorf("%s, wah%d: %.3f bytes a row, published are %.3f", s.name, word, got, want)
			}
			total := 0.0
			for k := range zipfBins {
				total += math.Pow(float64(k+1), -skew)
			}
			for a := range zipfAttributes {
				all := make([]uint64, wah.Bitset(rows))
				sum := 0
				for k := range zipfBins {
					v := uint32(a*zipfBins + k)
					one, err := s.table.Bitset(v)
					if err != nil {
						t.Fatal(err)
					}
					n := 0
					for i, w := range one {
						all[i] |= w
						for ; w != 0; w &= w - 1 {
							n++
						}
					}
					want := rows * math.Pow(float64(k+1), -skew) / total
					if math.Abs(float64(n)-want) > 6*math.Sqrt(want) {
						t.Errorf("%s, wah%d: bin %d has %d rows, want %.0f", s.name, word, k, n, want)
					}
					sum += n
				}
				if sum != rows {
					t.Errorf("%s, wah%d: attribute %d has %d rows in its bins", s.name, word, a, sum)
				}
			}
		}
	}
}

// TestRunsSet: bins consist of long runs, and each row is in one bin of an attribute.
func TestRunsSet(t *testing.T) {
	const rows = 1 << 20
	s := runsSet(1, rows, 64)
	if s.ratio() > 0.02 || len(s.picks) != 19*25 {
		t.Errorf("%d vectors, ratio %v", len(s.picks), s.ratio())
	}
	for a := range 19 {
		sum := uint64(0)
		for k := range 25 {
			sum += wah.Count(s.table.Vector64(uint32(25*a + k)))
		}
		if sum != rows {
			t.Errorf("attribute %d has %d rows in its bins", a, sum)
		}
	}
}

// TestBitmapOnDevice runs the exhibits of a device beside the host: each has figures,
// and the answers agree.
func TestBitmapOnDevice(t *testing.T) {
	device := testneeds.Device(t)
	testneeds.OneCaller(t)
	opt := harnesstest.Tiny()
	opt.Backend, opt.Device, opt.Runs = "auto", device, 1
	opt.Tables, opt.Figures = []string{"auto", "batch", "nelson-table2"}, []string{"nelson-fig8", "nelson-fig9", "nelson-fig11", "nelson-fig12", "nelson-fig14", "nelson-fig-rows"}
	opt.Report = filepath.Join(t.TempDir(), "report.md")
	var log bytes.Buffer
	if err := Family.Run(t.Context(), opt, io.Discard, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	report, err := os.ReadFile(opt.Report)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"Nothing of this could be measured", "NaN", "Inf"} {
		if strings.Contains(string(report), bad) {
			t.Errorf("the report says %q:\n%s", bad, report)
		}
	}
}
