//go:build !core

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench"
	"heddle/engine/bench/harness"
)

type benchPapersOptions struct {
	benchOptions
	files        []string
	report, plot string
	run, machine string
}

func newBenchPapers(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "papers [FILE...] [--run DIR]",
		Short: "Write the page of the papers' tables and figures from rows of runs",
		Long: `Papers reads rows that bench lists, decode, rank, bitmap and schedule wrote with --json.
It writes a page in Markdown with each table and figure of the papers: the paper's figures,
the measured ones, and their ratio. It draws the figures as SVG. A later file replaces the
tables and plots of an earlier one.

--run DIR measures all of them first and writes their rows to a file in DIR that is named
DATE-COMMIT-MACHINE-papers.jsonl and counts as the last one. DIR keeps the rows of each
table and figure: after an interruption the same command goes on with the next one.`,
		Example: `  heddle bench papers lists.jsonl decode.jsonl
  heddle bench papers --report PAPERS.md --plot plots rows.jsonl
  heddle bench papers --run rows --machine h200 --device H200 --real data results/*.jsonl`,
	}, &benchPapersOptions{})
}

func (o *benchPapersOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.run, "run", "", "measure first; keep the rows in the folder `DIR` and go on with what it has")
	fs.StringVar(&o.machine, "machine", "machine", "`NAME` of the machine in the name of the file of rows, letters and digits")
	fs.BoolVar(&o.Short, "short", false, "with --run, measure a small part of the workloads")
	fs.Uint64Var(&o.Seed, "seed", 1, "with --run, `SEED` of the workloads")
	fs.IntVar(&o.Runs, "runs", 0, "with --run, number `N` of timed runs; 0 is 5, or 2 with --short")
	fs.StringVar(&o.Real, "real", "", "with --run, folder `DIR` of real data: KDD Cup 1999, columns NAME.KINDle.gz")
	o.Add(fs, "backend", "device", "threads", "tuning")
	fs.StringVar(&o.report, "report", "PAPERS.md", "write the page to `FILE`")
	fs.StringVar(&o.plot, "plot", "plots", "draw the figures in the folder `DIR`; other SVG files in it are removed")
}

func (o *benchPapersOptions) Validate(args []string) error {
	switch o.files = args; {
	case len(args) == 0 && o.run == "":
		return errors.New("one file of rows or more is missing, or --run")
	case o.Runs < 0:
		return errors.New("--runs cannot be negative")
	case o.machine == "" || strings.ContainsFunc(o.machine, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }):
		return fmt.Errorf("--machine %q is not of letters and digits", o.machine)
	}
	return nil
}

func (o *benchPapersOptions) Run(ctx context.Context, a *App) error {
	if o.run != "" {
		if err := o.configure(ctx, a); err != nil {
			return err
		}
		path, err := bench.Reproduce(ctx, o.run, commitName(), o.machine, o.Options, a.Stdout, a.Stderr)
		if err != nil {
			return err
		}
		o.files = append(o.files, path)
	}
	var runs []harness.Recorded
	for _, path := range o.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := readRows(ctx, path)
		if err != nil {
			return err
		}
		runs = append(runs, harness.Recorded{Name: filepath.Base(path), Rows: rows})
	}
	plots, err := filepath.Rel(filepath.Dir(o.report), o.plot)
	if err != nil {
		return err
	}
	page, err := harness.Papers(bench.Exhibits(), runs, filepath.ToSlash(plots))
	if err != nil {
		return err
	}
	return page.Write(o.report, o.plot)
}

// commitName names the commit of this program in files of rows.
func commitName() string {
	b := thisBuild()
	name := cmp.Or(b.Revision, "unknown")
	if name = name[:min(len(name), 8)]; b.Modified {
		name += "modified"
	}
	return name
}
