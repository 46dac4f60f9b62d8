package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench"
	"heddle/engine/bench/harness"
)

type benchPapersOptions struct {
	files        []string
	report, plot string
}

func newBenchPapers(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "papers FILE...",
		Short: "Write the page of the papers' tables and figures from rows of earlier runs",
		Long: `Papers reads rows that bench lists, decode, rank, bitmap and schedule wrote with --json.
It writes a page in Markdown with each table and figure of the papers: the paper's figures,
the measured ones, and their ratio. It draws the figures as SVG. A later file replaces the
tables and plots of an earlier one.`,
		Example: `  heddle bench papers lists.jsonl decode.jsonl
  heddle bench papers --report PAPERS.md --plot plots rows.jsonl`,
	}, &benchPapersOptions{})
}

func (o *benchPapersOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.report, "report", "PAPERS.md", "write the page to `FILE`")
	fs.StringVar(&o.plot, "plot", "plots", "draw the figures in the folder `DIR`; other SVG files in it are removed")
}

func (o *benchPapersOptions) Validate(args []string) error {
	if o.files = args; len(args) == 0 {
		return errors.New("one file of rows or more is missing")
	}
	return nil
}

func (o *benchPapersOptions) Run(ctx context.Context, _ *App) error {
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
