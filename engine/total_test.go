package engine

import (
	"context"
	"strings"
	"testing"

	"heddle/engine/index/build"
)

// BenchmarkTotals ranks verses of two to four common words in batches, with and without totals.
func BenchmarkTotals(b *testing.B) {
	x, all := openVerses(b, build.DefaultOptions())
	var qs []Query
	for i, words := range all {
		if n := 2 + i%3; len(words) > 8+n {
			qs = append(qs, Query{Text: strings.Join(words[8:8+n], " "), Literal: true, K: 10})
		}
	}
	for _, match := range Matches() {
		for name, total := range map[string]uint64{"none": 0, "upto1000": 1000, "exact": TotalExact} {
			for i := range qs {
				qs[i].Match, qs[i].Total = match, total
			}
			b.Run(match.String()+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if err := x.SearchAll(context.Background(), qs, func(int, []Hits) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(qs)), "µs/query")
			})
		}
	}
}
