package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heddle/engine"
	"heddle/engine/plan"
	tablebuild "heddle/engine/table/build"
)

// selected is the result of a scan: the rows of a predicate, and the time of the scan.
type selected struct {
	rows  []uint64
	count uint32
	took  time.Duration
}

// tablePlace is one backend with its measured times.
type tablePlace struct {
	label string // "host", "opencl 1"
	e     *engine.Engine
	table *engine.Table
	lines []strategyLine // StrategyAuto and the strategies of the backend
}

// strategyLine is the measurement of one strategy.
type strategyLine struct {
	strategy plan.Strategy
	times    []time.Duration // by predicate, the median of all runs
}

// RunTable builds the table of flights, runs every predicate with every strategy of every
// backend, and writes a table of times to stdout. Unusable backends go to stderr. Rows
// that differ from the scan of the columns are an error.
func RunTable(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	dir, path := cmp.Or(opt.Flights, DefaultFlights), cmp.Or(opt.Table, DefaultTable)
	flights, err := readFlights(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	began := time.Now()
	built, err := buildFlights(ctx, dir, path)
	if err != nil {
		return err
	}
	reportTable(stdout, path, built, time.Since(began))

	answers := make([]selected, len(predicates))
	for i, p := range predicates {
		a := &answers[i]
		if a.took, err = median(func() error {
			a.rows, a.count = scanFlights(flights, p.holds)
			return ctx.Err()
		}); err != nil {
			return err
		}
	}
	var places []*tablePlace
	defer func() {
		for _, p := range places {
			p.e.Close()
		}
	}()
	if err := opt.everywhere(ctx, stderr, func(label string, opt engine.Options) error {
		e, err := engine.New(ctx, opt)
		if err != nil {
			return err
		}
		t, err := e.OpenTable(ctx, path, engine.TableOptions{})
		if err != nil {
			return errors.Join(err, e.Close())
		}
		places = append(places, &tablePlace{label: label, e: e, table: t})
		return nil
	}); err != nil {
		return err
	}
	for _, p := range places {
		if err := p.ask(ctx, answers); err != nil {
			return err
		}
	}
	reportPlaces(stdout, places, answers)
	fmt.Fprintf(stdout, "\nAll strategies of all backends select the same rows as a scan of the columns.\n")
	fmt.Fprintf(stdout, "Next: %s bitmap query %s --where 'delay >= 60 AND distance < 500' --explain\n", os.Args[0], path)
	return nil
}

// ask runs the predicates with each strategy of p, alone and in one batch, checks the
// answers, and records the times of single predicates.
func (p *tablePlace) ask(ctx context.Context, answers []selected) error {
	info, err := p.table.Info()
	if err != nil {
		return err
	}
	all := make([]engine.Selection, len(predicates))
	for _, s := range append([]plan.Strategy{plan.StrategyAuto}, info.Strategies...) {
		for i := range all {
			all[i] = engine.Selection{Where: predicates[i].where, Strategy: s}
		}
		var wrong error
		if err := p.table.SelectAll(ctx, all, func(first int, rows []engine.Rows) error {
			for i, r := range rows {
				if err := p.check(s, all[first+i].Where, r.Bits, uint32(r.Count), answers[first+i]); err != nil && wrong == nil {
					wrong = err
				}
			}
			return nil
		}); err != nil {
			return fmt.Errorf("%s, strategy %s: %w", p.label, s, err)
		}
		if wrong != nil {
			return wrong
		}
		line := strategyLine{strategy: s}
		for i, one := range all {
			var out engine.Rows
			took, err := median(func() (err error) {
				out.Release()
				out, err = p.table.Select(ctx, one)
				return err
			})
			if err == nil {
				err = p.check(s, one.Where, out.Bits, uint32(out.Count), answers[i])
				out.Release()
			}
			if err != nil {
				return err
			}
			line.times = append(line.times, took)
		}
		p.lines = append(p.lines, line)
	}
	return nil
}

// check compares an answer with the scan.
func (p *tablePlace) check(s plan.Strategy, where string, rows []uint64, count uint32, want selected) error {
	for i, word := range want.rows {
		if other := rows[i] ^ word; other != 0 {
			row := 64*i + bits.TrailingZeros64(other)
			fault := "is missing"
			if rows[i]&^word>>(row%64)&1 != 0 {
				fault = "should not be there"
			}
			return fmt.Errorf("%s, strategy %s: %s: row %d %s", p.label, s, where, row, fault)
		}
	}
	if count != want.count {
		return fmt.Errorf("%s, strategy %s: %s: %d rows are counted, there are %d", p.label, s, where, count, want.count)
	}
	return nil
}

// tableTime limits the repetitions of one predicate.
const tableTime = 20 * time.Millisecond

// median returns the median time of f. Slow functions run fewer times.
func median(f func() error) (time.Duration, error) {
	var times []time.Duration
	for began := time.Now(); len(times) < runs && (len(times) < 3 || time.Since(began) < tableTime); {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// reportTable describes the table.
func reportTable(w io.Writer, path string, built tablebuild.Report, took time.Duration) {
	fmt.Fprintf(w, "\nUS flights of 2001: %s rows, %d columns, built in %.2f s into %s (%.1f MB)\n\n",
		thousands(uint64(built.Rows)), len(built.Columns), took.Seconds(), path, float64(built.FileBytes)/1e6)
	fmt.Fprintf(w, "%-10s %6s %6s %30s\n", "column", "bins", "bits", "bytes a row: vectors, values")
	for _, c := range built.Columns {
		fmt.Fprintf(w, "%-10s %6d %6d %22.3f %7.3f\n", c.Name, c.Bins, built.Word, float64(c.VectorBytes)/float64(built.Rows), float64(c.ValueBytes)/float64(built.Rows))
	}
	fmt.Fprintln(w)
}

// reportPlaces writes the predicates, and the times of each strategy.
func reportPlaces(w io.Writer, places []*tablePlace, answers []selected) {
	for _, p := range places {
		fmt.Fprintf(w, "%-9s %s\n", p.label, describe(p.e.Processors()[0].Info))
	}
	fmt.Fprintf(w, "\n   %-52s %8s\n", "predicate", "rows")
	for i, p := range predicates {
		fmt.Fprintf(w, "%c  %-52s %8s\n", 'a'+i, p.where, thousands(uint64(answers[i].count)))
	}
	fmt.Fprintf(w, "\n%-20s", "time for the rows of")
	for i := range predicates {
		fmt.Fprintf(w, " %12c", 'a'+i)
	}
	fmt.Fprintf(w, "\n%-20s", "scan of the columns")
	for _, a := range answers {
		fmt.Fprintf(w, " %12s", microseconds(a.took))
	}
	fmt.Fprintln(w)
	for _, p := range places {
		for _, l := range p.lines {
			fmt.Fprintf(w, "%-9s %-10s", p.label, l.strategy)
			for _, took := range l.times {
				fmt.Fprintf(w, " %12s", microseconds(took))
			}
			fmt.Fprintln(w)
		}
	}
}
