package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
	"heddle/engine/table/predicate"
)

type bitmapQueryOptions struct {
	settings
	path       string
	where      string
	predicates string
	count      bool
	rows       string
	roaring    string
	rescan     bool
	explain    bool
	json       bool
	given      struct{ where, predicates func() bool }
}

func newBitmapQuery(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "query X.hdb (--where PREDICATE | --predicates FILE) [flags]",
		Short: "Select the rows for which a predicate is true",
		Long: `Query prints how many rows a predicate selects, or which. A predicate is what stands
behind WHERE in SQL: columns compared with values by = != < <= > >=, BETWEEN, IN and
IS NULL, joined by AND, OR, NOT and parentheses. Texts and times stand in single quotes,
names that are no plain words in double ones. A comparison with a missing value is
neither true nor false, and a row is selected only where the whole is true.

Each line of a file of predicates is one, by its number from 1, or ID TAB PREDICATE, or
an object {"id": ID, "text": PREDICATE}. They are answered in batches. A single --where
has the ID 1.

  --count         ID TAB number of rows; the default
  --rows          ID TAB ROW a row, from 0
  --rows=ranges   ID TAB FIRST TAB LAST a range of consecutive rows
  --roaring FILE  the rows of the one predicate as a Roaring bitmap, portable format
  --json          an object a predicate: {"query": ID, "where": PREDICATE, "count": N},
                  with --rows "rows", with --explain "explain"

--explain says on standard error which bins a predicate takes whole and which it
checks against the stored values, what is read, where and how, and the time of each
stage.`,
		Example: `  heddle bitmap query flights.hdb --where 'delay >= 60'
  heddle bitmap query flights.hdb --where 'delay >= 15 AND distance BETWEEN 500 AND 999' --explain
  heddle bitmap query flights.hdb --where 'delay > 1000' --rows
  heddle bitmap query flights.hdb --where 'NOT distance < 4000' --rows=ranges --backend host
  heddle bitmap query flights.hdb --where 'delay IN (0, 1, 2)' --roaring ontime.roaring
  printf 'a\tdelay > 59\nb\tdistance > 999\n' | heddle bitmap query flights.hdb --predicates -`,
	}, &bitmapQueryOptions{})
}

func (o *bitmapQueryOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.where, "where", "", "select the rows for which `PREDICATE` is true")
	fs.StringVar(&o.predicates, "predicates", "", "answer every predicate of `FILE`, - for standard input")
	fs.BoolVar(&o.count, "count", false, "print how many rows are selected")
	fs.StringVar(&o.rows, "rows", "", "print the rows, or `ids|ranges` of them")
	fs.Lookup("rows").NoOptDefVal = rowIDs
	fs.StringVar(&o.roaring, "roaring", "", "write the rows to `FILE` as a Roaring bitmap; - is standard output")
	fs.BoolVar(&o.rescan, "rescan", false, "compute the scans of coa, roa, hybrid and ideal with each batch, as their paper does, and not once")
	fs.BoolVar(&o.explain, "explain", false, "say how each predicate was answered, and where the time went")
	addJSON(fs, &o.json)
	o.add(fs, "strategy", "backend", "device", "threads", "profiling", "tuning")
	o.given.where = func() bool { return fs.Changed("where") }
	o.given.predicates = func() bool { return fs.Changed("predicates") }
}

// What --rows may say.
const (
	rowIDs    = "ids"
	rowRanges = "ranges"
)

func (o *bitmapQueryOptions) Validate(args []string) (err error) {
	if len(args) == 2 && (args[1] == rowIDs || args[1] == rowRanges) {
		return fmt.Errorf("--rows=%s is written in one word", args[1])
	}
	if o.path, err = oneArgument(args, "one table file"); err != nil {
		return err
	}
	outputs := 0
	for _, asked := range []bool{o.count, o.rows != "", o.roaring != ""} {
		if asked {
			outputs++
		}
	}
	switch {
	case o.given.where() == o.given.predicates():
		return errors.New("one of --where and --predicates is needed")
	case outputs > 1:
		return errors.New("--count, --rows and --roaring exclude each other")
	case o.rows != "" && o.rows != rowIDs && o.rows != rowRanges:
		return fmt.Errorf("unknown --rows %q (one of %s, %s)", o.rows, rowIDs, rowRanges)
	case o.roaring != "" && o.given.predicates():
		return errors.New("--roaring takes one predicate, by --where")
	case o.roaring == "-" && o.json:
		return errors.New("--json and --roaring - both write to standard output")
	case o.given.where():
		_, err = predicate.Parse(o.where) // before anything is opened
	}
	return err
}

func (o *bitmapQueryOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	strategy, err := plan.ParseStrategy(c.Bitmap.Strategy)
	if err != nil {
		return err
	}
	if err := oneBackend(c); err != nil {
		return err
	}
	opt, err := engineOptions(c, log)
	if err != nil {
		return err
	}
	if o.roaring != "" && o.roaring != "-" {
		if err := checkOutput(o.roaring, []string{o.path, o.predicates}); err != nil {
			return err
		}
	}
	opt.Profiling = opt.Profiling || o.explain // for the times of stages
	opt.Lazy = o.given.where() && !o.explain   // plain rows of all vectors are not worth one predicate
	t, err := engine.OpenTable(ctx, o.path, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	w := &rowWriter{o: o, t: t, out: bufio.NewWriterSize(a.Stdout, 64<<10), log: a.Stderr,
		opt: engine.TableOptions{Strategy: strategy, Rescan: o.rescan, Output: plan.OutputCounts}}
	if o.rows != "" || o.roaring != "" {
		w.opt.Output = plan.OutputBits
	}
	if o.given.where() {
		return w.answer(ctx, []trec.Topic{{ID: "1", Text: o.where}})
	}
	return answerFile(ctx, o.predicates, trec.Auto, a.Stdin, c.Batching.Queries, w.answer)
}
