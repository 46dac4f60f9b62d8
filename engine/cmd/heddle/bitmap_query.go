package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/cmd/heddle/internal/rows"
	"heddle/engine/cmd/heddle/internal/workload"
	"heddle/engine/index/trec"
	"heddle/engine/internal/startup"
	"heddle/engine/plan"
	"heddle/engine/table/predicate"
)

type bitmapQueryOptions struct {
	settings
	onePath
	queries
	count   bool
	rows    string
	roaring string
	inRows  string
	rescan  bool
	explain bool
	json    bool
	force   bool
	values  valueOptions
}

func newBitmapQuery(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "query (X.hdb | DIR) (--where PREDICATE | --predicates FILE | --select LIST) [flags]",
		Short: "Select the rows for which a predicate is true",
		Long: `Query prints the number of rows that a predicate selects, or the rows. heddle help predicates
describes predicates.

A file of predicates has one per line: PREDICATE, whose ID is the line number, from 1, or
ID TAB PREDICATE, or {"id": ID, "text": PREDICATE}. Predicates run in batches. The
predicate of --where has the ID 1. An invalid predicate of a file has no answer: standard
error names its line and the reason, and the exit code is 1.

  --count         ID TAB number of rows; the default
  --rows          ID TAB ROW per row, from 0
  --rows=ranges   ID TAB FIRST TAB LAST per range of consecutive rows
  --roaring FILE  the rows of the predicate as a Roaring bitmap in the portable format; a
                  file that is no Roaring bitmap is replaced with --force only
  --in-rows FILE  selects only among the rows of a Roaring bitmap, such as one of --roaring
  --json          one object per predicate: {"query": ID, "where": PREDICATE, "count": N};
                  with --rows "rows", with --explain "explain"

--select LIST prints values of the selected rows, of all rows without --where. LIST has
columns, or aggregates of groups of rows: count(*), count(c), count(DISTINCT c), sum(c),
avg(c), min(c), max(c) and quantile(c, 0.95). AS gives a name. --group-by names up to four
columns, or bins such as bins(c, 10, 20): < 10, [10, 20) and >= 20. Without it all rows are one
group. Groups have the order of their values, rows the order of the table; --order-by sorts by
columns, aggregates, names or numbers of items, with DESC and NULLS FIRST. Values are exact:
sums of integers and decimals have up to 38 digits, sums of floats are rounded once. --format
prints CSV, JSON (an object per row), an Arrow stream or a Parquet file. A missing value is
empty in CSV.

--explain prints on standard error the bins that a predicate covers, whether their vectors
or the bit slices of values select the rows ("checked"), the bytes read, the backend, the
strategy, and the time of each stage. With --backend auto it also compares the time in pure
Go with the time on a device, start-up included; the quicker one runs the predicates.`,
		Example: `  heddle bitmap query flights.hdb --where 'delay >= 60'
  heddle bitmap query flights.hdb --where 'delay >= 15 AND distance BETWEEN 500 AND 999' --explain
  heddle bitmap query flights.hdb --where 'delay > 1000' --rows
  heddle bitmap query flights.hdb --where 'NOT distance < 4000' --rows=ranges --backend host
  heddle bitmap query flights.hdb --where 'delay IN (0, 1, 2)' --roaring ontime.roaring
  heddle bitmap query flights.hdb --where 'distance > 999' --in-rows ontime.roaring
  heddle bitmap query flights.hdb --select 'avg(delay)' --where 'delay > 0'
  heddle bitmap query flights.hdb --select 'delay, count(*)' --group-by delay --limit 9
  heddle bitmap query flights.hdb --select 'bins(delay,60), count(*)' --group-by 'bins(delay,60)'
  heddle bitmap query flights.hdb --select '*' --order-by 'delay DESC' --limit 9 --json
  heddle bitmap query flights.hdb --select '*' --format parquet > flights.parquet
  printf 'a\tdelay > 59\nb\tdistance > 999\n' | heddle bitmap query flights.hdb --predicates -`,
	}, &bitmapQueryOptions{})
}

func (o *bitmapQueryOptions) AddFlags(fs *pflag.FlagSet) {
	o.queries.add(fs, "where", "PREDICATE", "select the rows for which this is true:", "predicates", "answer all predicates of")
	o.reading.Format = trec.Auto
	fs.BoolVar(&o.count, "count", false, "print the number of selected rows")
	flags.AddChoice(fs, &o.rows, "rows", "", "print the selected rows, as ", []rows.Form{rows.IDs, rows.Ranges})
	fs.Lookup("rows").NoOptDefVal = string(rows.IDs)
	fs.StringVar(&o.roaring, "roaring", "", "write the rows to `FILE` as a Roaring bitmap; - is standard output")
	fs.StringVar(&o.inRows, "in-rows", "", "select among the rows of the Roaring bitmap in `FILE` only")
	fs.BoolVar(&o.force, "force", false, "let --roaring replace a file that is no Roaring bitmap")
	fs.BoolVar(&o.rescan, "rescan", false, "compute the prefix sums of coa, roa, hybrid and ideal in each batch, as in their paper, not once")
	fs.BoolVar(&o.explain, "explain", false, "explain the execution of each predicate, with the time of each stage")
	addJSON(fs, &o.json)
	o.values.add(fs)
	o.settings.Add(fs, "strategy", "backend", "device", "threads", "profiling", "tuning")
}

func (o *bitmapQueryOptions) Validate(args []string) (err error) {
	if len(args) == 2 && (args[1] == string(rows.IDs) || args[1] == string(rows.Ranges)) {
		return fmt.Errorf("write --rows=%s, with an equals sign", args[1])
	}
	if err = o.set(args, "table file"); err != nil {
		return err
	}
	if err = o.values.validate(); err != nil {
		return err
	}
	if o.values.wanted() {
		return o.validateValues()
	}
	if err = o.validate("where", "predicates"); err != nil {
		return err
	}
	outputs := 0
	for _, asked := range []bool{o.count, o.rows != "", o.roaring != ""} {
		if asked {
			outputs++
		}
	}
	switch {
	case outputs > 1:
		return errors.New("--count, --rows and --roaring exclude each other")
	case o.roaring != "" && !o.single():
		return errors.New("--roaring is for one predicate: use --where")
	case o.force && (o.roaring == "" || o.roaring == "-"):
		return errors.New("--force is for --roaring FILE")
	case o.roaring == "-" && o.json:
		return errors.New("--json and --roaring - both write to standard output")
	case o.single():
		_, err = predicate.Parse(o.text) // before any file is opened
	}
	return err
}

// validateValues checks the flags beside --select. Without --where all rows are selected.
func (o *bitmapQueryOptions) validateValues() error {
	if o.queries.given.file() || o.count || o.rows != "" || o.roaring != "" {
		return errors.New("--select excludes --predicates, --count, --rows and --roaring")
	}
	if o.json {
		if o.values.given("format") && o.values.format != "json" {
			return fmt.Errorf("--json and --format %s exclude each other", o.values.format)
		}
		o.values.format = "json"
	}
	if !o.single() {
		o.text, o.queries.given.text = "TRUE", func() bool { return true }
	}
	_, err := predicate.Parse(o.text)
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
	w := &rows.Writer{Selection: engine.Selection{Strategy: strategy, Rescan: o.rescan}, Out: bufio.NewWriterSize(a.Stdout, 64<<10),
		Log: a.Stderr, Form: rows.Form(o.rows), Roaring: o.roaring, Explain: o.explain, JSON: o.json, Invalid: o.invalid}
	w.Choice = a.Choose(&c.Devices, func(string) (startup.Work, error) { return workload.Select(o.path, w.Output(), o.sample()) })
	opt, err := machine.Options(c, log)
	if err != nil {
		return err
	}
	if o.roaring != "" && o.roaring != "-" {
		if err := checkOutput(o.roaring, []string{o.path, o.queries.file}); err != nil {
			return err
		}
		if err := checkRoaring(o.roaring); err != nil && !o.force {
			return err
		}
	}
	opt.Profiling = opt.Backend != "host" && (opt.Profiling || o.explain) // for the times of stages
	e, t, err := machine.Open(ctx, &a.Machine, opt, func(e *engine.Engine) (*engine.Table, error) {
		return e.OpenTable(ctx, o.path, engine.TableOptions{})
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Close(opt, e)) }()
	w.Table = t
	if o.inRows != "" {
		if w.Selection.In, err = rows.ReadSet(o.inRows, w.Table); err != nil {
			return err
		}
	}
	if o.values.wanted() {
		s := w.Selection
		if s.Where = o.text; o.explain {
			s.Explain = new(engine.TableExplanation)
		}
		return o.values.print(ctx, a, w.Table, s)
	}
	return o.each(ctx, a, c.Batching.Queries, w.Answer)
}
