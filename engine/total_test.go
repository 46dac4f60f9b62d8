package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"heddle/engine/index/build"
	"heddle/engine/internal/cputime"
)

// BenchmarkTotals ranks verses by two to four consecutive words, in batches: CPU time without totals, and the
// part that totals add.
func BenchmarkTotals(b *testing.B) {
	x, all := openVerses(b, build.DefaultOptions())
	var qs []Query
	for i, words := range all {
		if n := 2 + i%3; len(words) > 8+n {
			qs = append(qs, Query{Text: strings.Join(words[8:8+n], " "), Literal: true, K: 10})
		}
	}
	for _, match := range Matches() {
		b.Run(match.String(), func(b *testing.B) {
			kinds := []uint64{0, 1000, TotalExact}
			used := make([]time.Duration, len(kinds))
			for b.Loop() {
				for n, total := range kinds {
					for i := range qs {
						qs[i].Match, qs[i].Total = match, total
					}
					began := cputime.Total()
					if err := x.SearchAll(context.Background(), qs, func(int, []Hits) error { return nil }); err != nil {
						b.Fatal(err)
					}
					used[n] += cputime.Total() - began
				}
			}
			b.ReportMetric(float64(used[0].Nanoseconds())/float64(b.N*len(qs))/1000, "CPU-µs/query")
			b.ReportMetric(100*(float64(used[1])/float64(used[0])-1), "%-up-to-1000")
			b.ReportMetric(100*(float64(used[2])/float64(used[0])-1), "%-exact")
		})
	}
}
