// Package builds measures builds and first answers of heddle and of other systems on the same
// inputs: CPU time, peak memory, and the size of the files. Every figure is of a whole process.
// Systems alternate, run by run.
//
// Inputs: commit-messages, JSON lines, an export of the GOV-like workload, and CSV of six columns.
// Systems: one or two versions of heddle, SQLite FTS5, bleve, Lucene, PISA and DuckDB. A system
// that the machine lacks is left out with a message.
package builds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"heddle/engine/bench/measure"
)

// Options are the flags of the command.
type Options struct {
	Heddle    []string      // programs of heddle: before and now, or one
	Real      string        // folder of commit-messages.tsv.gz
	Work      string        // folder of inputs, which stay, and outputs, which go
	Lucene    string        // folder of the archives of Lucene
	PISA      string        // folder of compress_inverted_index and create_wand_data
	Workloads []string      // names of workloads
	Systems   []string      // names to measure; empty is all
	Lines     int64         // bytes of JSON lines
	Words     int           // different words of JSON lines
	Rows      int           // rows of the CSV file
	Runs      int           // runs of each process
	Limit     time.Duration // greatest time of a process
	JSON      string        // file of rows
}

// Usage is the help of the command.
const Usage = `Builds measures builds and first answers of heddle and of other systems, in turns.

  go run -C engine/bench/peers . builds --heddle BEFORE,NOW --real DIR --work DIR --json rows.jsonl

Systems: heddle, SQLite FTS5 (program sqlite3), bleve and DuckDB (Go and a C compiler), Xapian
(programs scriptindex and quest), Lucene 8 (javac, --lucene), PISA (--pisa). A system that the machine lacks is left out.

`

// Parse reads the flags.
func Parse(args []string) (opt Options, err error) {
	fs := pflag.NewFlagSet("builds", pflag.ContinueOnError)
	fs.Usage = func() { fmt.Fprint(os.Stderr, Usage, fs.FlagUsages()) }
	fs.StringSliceVar(&opt.Heddle, "heddle", nil, "`PROGRAMS` of heddle: one, or two to compare, before and now")
	fs.StringVar(&opt.Real, "real", "", "commit-messages.tsv.gz in the folder `DIR` or one folder below")
	fs.StringVar(&opt.Work, "work", "", "inputs and outputs in the folder `DIR`; inputs stay for later calls")
	fs.StringVar(&opt.Lucene, "lucene", "/usr/share/java", "archives of Lucene in the folder `DIR`")
	fs.StringVar(&opt.PISA, "pisa", "", "compress_inverted_index and create_wand_data of PISA in the folder `DIR`")
	fs.StringSliceVar(&opt.Workloads, "workloads", names(), "`LIST` of workloads")
	fs.StringSliceVar(&opt.Systems, "systems", nil, "`LIST` of systems; none is all")
	fs.Int64Var(&opt.Lines, "lines", 1_500_000_000, "`BYTES` of JSON lines")
	fs.IntVar(&opt.Words, "words", 1_000_000, "`N` different words of JSON lines")
	fs.IntVar(&opt.Rows, "rows", 20_000_000, "`N` rows of CSV")
	fs.IntVar(&opt.Runs, "runs", 3, "runs of each process, `N`")
	fs.DurationVar(&opt.Limit, "limit", 15*time.Minute, "end a process after `TIME`, and go on without its system")
	fs.StringVar(&opt.JSON, "json", "", "write the rows to `FILE`, one JSON object per line")
	if err = fs.Parse(args); err != nil {
		return opt, err
	}
	for _, w := range opt.Workloads {
		if !slices.Contains(names(), w) {
			return opt, fmt.Errorf("--workloads: %q is none of %s", w, strings.Join(names(), ", "))
		}
	}
	switch {
	case len(opt.Heddle) == 0 || len(opt.Heddle) > 2:
		return opt, errors.New("--heddle names no program, or more than two")
	case opt.Work == "":
		return opt, errors.New("--work names no folder")
	case opt.Runs < 1 || opt.Rows < 1 || opt.Words < 1 || opt.Lines < 1:
		return opt, errors.New("--runs, --rows, --words and --lines are at least 1")
	}
	for i, path := range opt.Heddle {
		if opt.Heddle[i], err = filepath.Abs(path); err != nil {
			return opt, err
		}
	}
	opt.Work, err = filepath.Abs(opt.Work)
	return opt, err
}

// Run measures, and writes a table in Markdown to out.
func Run(ctx context.Context, opt Options, out, log io.Writer) (err error) {
	if err := os.MkdirAll(opt.Work, 0o777); err != nil {
		return err
	}
	rows, err := measure.Open(opt.JSON, out)
	if err != nil {
		return err
	}
	defer func() { err = rows.Close(err) }()
	b := &bench{opt: opt, out: out, log: log, rows: rows}
	if b.jobs, err = b.program(ctx, "heddle/engine/bench/peers/job"); err != nil {
		fmt.Fprintf(log, "bleve and DuckDB are left out: %v\n", err)
	}
	for _, w := range workloads {
		if slices.Contains(opt.Workloads, w.name) {
			if err := b.workload(ctx, w); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

// bench is a run of the command.
type bench struct {
	opt      Options
	out, log io.Writer
	rows     *measure.Writer
	jobs     string // program of package job; empty if it cannot be built
}

// workload is one input and the systems that read it.
type workload struct {
	name    string
	inputs  func(b *bench, ctx context.Context) (paths []string, err error)
	systems func(b *bench, ctx context.Context, inputs []string) []system
}

var workloads = []workload{
	{"commit-messages", (*bench).commits, (*bench).texts},
	{"json-lines", (*bench).lines, (*bench).texts},
	{"gov-like", (*bench).gov, (*bench).lists},
	{"csv", (*bench).csv, (*bench).tables},
}

func names() (all []string) {
	for _, w := range workloads {
		all = append(all, w.name)
	}
	return all
}

// workload measures all systems on a workload.
func (b *bench) workload(ctx context.Context, w workload) error {
	inputs, err := w.inputs(b, ctx)
	if err != nil {
		return err
	}
	var size int64
	if size, err = sizeOf(inputs[:1]); err != nil {
		return err
	}
	systems := slices.DeleteFunc(w.systems(b, ctx, inputs), func(s system) bool {
		return len(b.opt.Systems) > 0 && !slices.Contains(b.opt.Systems, s.name)
	})
	all := map[string][]figures{} // by system and step
	for run := range b.opt.Runs {
		for i := range systems {
			if s := &systems[i]; !s.failed {
				b.system(ctx, s, run, all)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(b.out, "\n%s, %s\n\n| system | step | CPU s | peak MB | wall s | files MB | MB/s of CPU | answer |\n|---|---|---|---|---|---|---|---|\n", w.name, megabytes(size)+" MB")
	for _, s := range systems {
		for _, step := range s.steps {
			if err := b.row(w.name, s.name, step, size, all[s.name+step.name]); err != nil {
				return err
			}
		}
	}
	return errors.Join(removeAll(systems)...)
}

// system runs the steps of a system once. A failure is reported, and ends its part in the benchmark.
func (b *bench) system(ctx context.Context, s *system, run int, all map[string][]figures) {
	if err := errors.Join(removeAll([]system{*s})...); err != nil {
		s.failed = true
		fmt.Fprintf(b.log, "%s: %v\n", s.name, err)
		return
	}
	for _, step := range s.steps {
		f, err := b.process(ctx, step)
		if err == nil && step.builds {
			f.files, err = sizeOf(s.outputs)
		}
		if err != nil {
			s.failed = true
			fmt.Fprintf(b.log, "%s, %s: %v\n", s.name, step.name, err)
			return
		}
		fmt.Fprintf(b.log, "%s, %s, run %d: %.2f s of CPU, %s MB\n", s.name, step.name, run+1, f.cpu, megabytes(f.peak))
		all[s.name+step.name] = append(all[s.name+step.name], f)
	}
}

// row writes the figures of a step: medians, and the least and greatest CPU time.
func (b *bench) row(workload, system string, step step, size int64, all []figures) error {
	if len(all) == 0 {
		return nil
	}
	column := func(of func(figures) float64) measure.Summary {
		var values []float64
		for _, f := range all {
			values = append(values, of(f))
		}
		return measure.Summarize(values)
	}
	last := all[len(all)-1]
	cpu := column(func(f figures) float64 { return f.cpu })
	peak := column(func(f figures) float64 { return float64(f.peak) })
	wall := column(func(f figures) float64 { return f.wall })
	files, speed := "", ""
	if step.builds {
		files, speed = megabytes(last.files), fmt.Sprintf("%.1f", float64(size)/1e6/cpu.Median)
	}
	fmt.Fprintf(b.out, "| %s | %s | %.2f (%.2f to %.2f) | %s | %.2f | %s | %s | %.40s |\n",
		system, step.name, cpu.Median, cpu.Min, cpu.Max, megabytes(int64(peak.Median)), wall.Median, files, speed, last.answer)
	row := func(metric, unit string, s measure.Summary) measure.Row {
		return s.Into(measure.Row{Bench: "builds", Workload: workload, Row: system + "/" + step.name, Metric: metric, Unit: unit})
	}
	rows := []measure.Row{row("cpu", "s", cpu), row("peak", "B", peak), row("wall", "s", wall)}
	if step.builds {
		rows = append(rows, row("files", "B", measure.Single(float64(last.files))))
	}
	return b.rows.Write(rows...)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }
