//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/internal/cputime"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
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
// DuckDB answer in turns, with so many threads each. Heddle delivers all groups; DuckDB reads its groups
// itself, so that its Go driver copies one row. The metrics are medians of CPU time and of wall time, in
// milliseconds.
func BenchmarkGroups(b *testing.B) {
	p := newPair(b, *threads, *backend, fmt.Sprintf(`SELECT CAST(hash(i) %% 1000 AS INTEGER) AS city, CAST(hash(i+1) %% 100000 AS INTEGER) AS amount,
		(hash(i+2) %% 100000) / 64.0 AS price, CAST(hash(i+3) %% 10000 AS INTEGER) AS pick FROM range(%d) AS r(i)`, *rows))
	for _, item := range []string{"sum(amount)", "sum(price)"} {
		for _, most := range []int{1, 100, 1000, 5000, 10000} { // ranges up to these values, of 10,000
			where := fmt.Sprint("pick < ", most)
			b.Run(fmt.Sprintf("%s/%.2f%%", item, float64(most)/100), func(b *testing.B) {
				a := engine.Aggregation{Select: "city, count(*), " + item, GroupBy: "city", Rows: engine.Selection{Where: where}}
				query := "SELECT max(city), max(n), max(total) FROM (SELECT city, count(*) AS n, " + item + " AS total FROM t WHERE " + where + " GROUP BY city)"
				inTurns(b, func() (groups int, err error) {
					return groups, p.table.Aggregate(b.Context(), a, func(b values.Batch) error { groups += b.Len(); return nil })
				}, func() (int, error) {
					lines, err := p.duck(query)
					return len(lines), err
				})
			})
		}
	}
}

// BenchmarkRows asks for the rows of a sorted column, of a column in runs and of random columns:
// their number, their ids as a list, and heddle's ranges. DuckDB adds the ids up, because a list of them
// would be a copy to Go. Metrics as in BenchmarkGroups.
func BenchmarkRows(b *testing.B) {
	p := newPair(b, *threads, *backend, fmt.Sprintf(`SELECT TIMESTAMP '2024-01-01' + to_milliseconds(i * 500) AS moment, CAST(hash(i // 100) %% 500 AS INTEGER) AS region,
		CAST(hash(i+2) %% 1000000 AS INTEGER) AS id FROM range(%d) AS r(i)`, *rows))
	at := func(row int) string {
		return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(row) * 500 * time.Millisecond).Format("'2006-01-02 15:04:05'")
	}
	for _, where := range []string{
		"moment < " + at(*rows/2), fmt.Sprint("moment BETWEEN ", at(*rows/4), " AND ", at(*rows/4+*rows/60)), "region = 77", "region < 250", "id = 77777", "id < 1000",
	} {
		prepared, err := p.table.Prepare(b.Context(), engine.Selection{Where: where})
		if err != nil {
			b.Fatal(err)
		}
		number := func(query string) func() (int, error) {
			return func() (n int, err error) { return n, p.db.QueryRow(query).Scan(&n) }
		}
		sel := func(output plan.Output, of func(r engine.Rows) int) func() (int, error) {
			return func() (int, error) {
				r, err := p.table.Select(context.Background(), engine.Selection{Prepared: prepared, Output: output})
				return of(r), err
			}
		}
		duck := number("SELECT count(*) FROM t WHERE " + where)
		count := sel(plan.OutputCounts, func(r engine.Rows) int { return int(r.Count) })
		n, err := count()
		if want, err2 := duck(); errors.Join(err, err2) != nil || n != want {
			b.Fatalf("%s: %d rows, DuckDB has %d, %v", where, n, want, errors.Join(err, err2))
		}
		ids := number("SELECT coalesce(sum(rowid), 0)::BIGINT FROM t WHERE " + where)
		b.Run("count/"+where, func(b *testing.B) { inTurns(b, count, duck) })
		b.Run("ids/"+where, func(b *testing.B) {
			inTurns(b, sel(plan.OutputBits, func(r engine.Rows) int { return len(rowset.AppendIDs(nil, r.Bits)) }), ids)
		})
		b.Run("ranges/"+where, func(b *testing.B) {
			inTurns(b, sel(plan.OutputBits, func(r engine.Rows) (n int) {
				for range r.Ranges() {
					n++
				}
				return n
			}), ids)
		})
	}
}

// inTurns calls two sides in turns and reports medians of their times. Neither may give 0.
func inTurns(b *testing.B, sides ...func() (int, error)) {
	var cpu, wall [2][]time.Duration
	for b.Loop() {
		for side, answer := range sides {
			cpuBefore, began := cputime.Total(), time.Now()
			n, err := answer()
			if err != nil || n == 0 {
				b.Fatalf("%d lines, %v", n, err)
			}
			cpu[side], wall[side] = append(cpu[side], cputime.Total()-cpuBefore), append(wall[side], time.Since(began))
		}
	}
	for side, name := range []string{"heddle", "duckdb"} {
		b.ReportMetric(median(cpu[side]), name+"-cpu-ms")
		b.ReportMetric(median(wall[side]), name+"-wall-ms")
	}
}
