package build

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/table/read/csv"
)

// flights is a CSV text of about size bytes with the shape of flight data: mostly small
// delays, distances, and ascending minutes.
func flights(size int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	b := []byte("delay,distance,minutes\n")
	for minute := int64(0); len(b) < size; minute += rng.Int64N(2) {
		b = strconv.AppendInt(b, int64(rng.ExpFloat64()*30)-20, 10)
		b = strconv.AppendInt(append(b, ','), 21+rng.Int64N(2500), 10)
		b = append(strconv.AppendInt(append(b, ','), minute, 10), '\n')
	}
	return string(b)
}

// BenchmarkBuild builds a table of 50 MB of CSV.
func BenchmarkBuild(b *testing.B) {
	text := flights(50 << 20)
	path := filepath.Join(b.TempDir(), "x.hdb")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		src, err := csv.Open(b.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text)})
		if err != nil {
			b.Fatal(err)
		}
		r, err := Build(b.Context(), src, path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		src.Close()
		b.ReportMetric(r.Read.Seconds(), "read-s")
		b.ReportMetric(r.Write.Seconds(), "write-s")
	}
}
