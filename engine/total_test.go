package engine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/engine/index/build"
	"heddle/engine/internal/cputime"
)

// TestTotalLimits asks for totals up to the length of a list and of the answer, and one less and more. A scan of the
// documents has the right values.
func TestTotalLimits(t *testing.T) {
	a := openAttributed(t, backendOptions(t), 0)
	corpus := rankedCorpus(filterDocs)
	odd := &Filter{}
	for d := uint32(1); d < filterDocs; d += 2 {
		odd.Docs = append(odd.Docs, d)
	}
	for _, words := range [][]string{{"t1"}, {"t2", "t5"}, {"t4", "t9"}, {"t3", "t6", "t12"}} {
		for _, match := range []Match{Or, And} {
			for _, filter := range []*Filter{nil, odd} {
				lists, count := make([]uint64, len(words)), uint64(0)
				for d, doc := range corpus {
					if filter != nil && d%2 == 0 {
						continue
					}
					found := 0
					for i, w := range words {
						if doc[w] > 0 {
							lists[i]++
							found++
						}
					}
					if found == len(words) || found > 0 && match == Or {
						count++
					}
				}
				qs, want := []Query(nil), []Total(nil)
				for _, n := range append(lists, count) {
					for _, most := range []uint64{n - 1, n, n + 1, TotalExact} {
						qs = append(qs, Query{Text: strings.Join(words, " "), Match: match, K: 3, Filter: filter, Total: most})
						want = append(want, Total{Value: min(count, most), Exact: count <= most})
					}
				}
				got, err := gather(t.Context(), a, qs)
				if err != nil {
					t.Fatal(err)
				}
				for i, h := range got {
					if h.Total != want[i] {
						t.Errorf("%q, %s, filtered %t, up to %d of %d and %d: %+v, want %+v", words, match, filter != nil, qs[i].Total, lists, count, h.Total, want[i])
					}
				}
				if !slices.ContainsFunc(lists, func(n uint64) bool { return n > 1 }) {
					t.Errorf("no document has %q", words)
				}
			}
		}
	}
}

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
