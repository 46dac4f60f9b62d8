//go:build cgo

package duckdb

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/internal/cputime"
	"heddle/engine/table/values"
)

var (
	rows    = flag.Int("rows", 1_000_000, "rows of the table of benchmarks")
	threads = flag.Int("threads", 2, "threads of each program in benchmarks")
	backend = flag.String("backend", "host", "backend of heddle: auto, host, opencl or all")
)

// median is the median of some times in milliseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1e3
}

// BenchmarkGroups sums in 1,000 groups under predicates of several selectivities. Heddle and
// DuckDB answer in turns, with so many threads each. DuckDB reads its groups itself, so that its Go driver
// copies one row; heddle delivers all groups. The metrics are medians of CPU time and of
// wall time, in milliseconds.
func BenchmarkGroups(b *testing.B) {
	p := newPair(b, *threads, *backend, fmt.Sprintf(`SELECT CAST(hash(i) %% 1000 AS INTEGER) AS city, CAST(hash(i+1) %% 100000 AS INTEGER) AS amount,
		(hash(i+2) %% 100000) / 64.0 AS price, CAST(hash(i+3) %% 10000 AS INTEGER) AS pick FROM range(%d) AS r(i)`, *rows))
	for _, item := range []string{"sum(amount)", "sum(price)"} {
		for _, most := range []int{1, 100, 1000, 5000, 10000} { // of 10,000
			where := fmt.Sprint("pick < ", most)
			b.Run(fmt.Sprintf("%s/%.2f%%", item, float64(most)/100), func(b *testing.B) {
				a := engine.Aggregation{Select: "city, count(*), " + item, GroupBy: "city", Rows: engine.Selection{Where: where}}
				query := "SELECT count(*), max(city), max(n), max(total) FROM (SELECT city, count(*) AS n, " + item + " AS total FROM t WHERE " + where + " GROUP BY city)"
				var cpu, wall [2][]time.Duration
				for b.Loop() {
					for side, answer := range []func() error{
						func() error { return p.table.Aggregate(b.Context(), a, func(values.Batch) error { return nil }) },
						func() error { _, err := p.duck(query); return err },
					} {
						cpuBefore, began := cputime.Total(), time.Now()
						if err := answer(); err != nil {
							b.Fatal(err)
						}
						cpu[side], wall[side] = append(cpu[side], cputime.Total()-cpuBefore), append(wall[side], time.Since(began))
					}
				}
				for side, name := range []string{"heddle", "duckdb"} {
					b.ReportMetric(median(cpu[side]), name+"-cpu-ms")
					b.ReportMetric(median(wall[side]), name+"-wall-ms")
				}
			})
		}
	}
}
