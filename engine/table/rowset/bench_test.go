package rowset

import (
	"math/rand/v2"
	"testing"

	"heddle/codec/wah"
)

// BenchmarkIDs lists the rows of sets with runs and of sets with single rows, of 16 M rows.
// Metric ns/row is the time of a listed row.
func BenchmarkIDs(b *testing.B) {
	rows := 1 << 24
	if testing.Short() {
		rows = 1 << 17
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		has  func(row int) bool
	}{
		{"half in one run", func(row int) bool { return row >= rows/4 && row < rows*3/4 }},
		{"half in runs of 5000", func(row int) bool { return row/5000%2 == 0 }},
		{"half in runs of 40", func(row int) bool { return row/40%2 == 0 }},
		{"half, scattered", func(int) bool { return r.IntN(2) == 0 }},
		{"1 of 20, scattered", func(int) bool { return r.IntN(20) == 0 }},
		{"1 of 500, scattered", func(int) bool { return r.IntN(500) == 0 }},
		{"one run of 1000", func(row int) bool { return row/1000 == 9 }},
	} {
		set := make([]uint64, wah.Bitset(uint64(rows)))
		for row := range rows {
			if c.has(row) {
				set[row/64] |= 1 << (row % 64)
			}
		}
		b.Run(c.name, func(b *testing.B) {
			var ids []uint32
			for b.Loop() {
				ids = AppendIDs(ids[:0], set)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(len(ids)), "ns/row")
		})
	}
}
