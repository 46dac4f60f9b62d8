package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/cmd/heddle/internal/topics"
	"heddle/engine/index/trec"
	"heddle/engine/internal/cost"
)

type calibrateOptions struct {
	settings
	onePath
	queries string
	reading trec.Reading
	time    time.Duration
	json    bool
}

func newCalibrate(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "calibrate X.hdl [--queries FILE] [--metric best|los|uboc|uboct|ding] [--json]",
		Short: "Fit the scheduler's cost model of an index on this machine",
		Long: `Calibrate measures queries on the host and on every device, alone and in batches, for
each kind of query that the index answers. It fits cost models, prints their quality, and
writes them beside the index, as X.hdl.cost or to the path in the key schedule.costs. The
scheduler (search --backend all, services) predicts run times from these models and
refines them while queries run. Without the file it starts from initial estimates.

The queries come from a file in a format of heddle search, as text without operators, or are
drawn from the index: one to six terms, with lists of every length. Nothing else should use the
machine meanwhile. Each kind takes about twice --time on each processor.

A metric of the lists explains the run time of a query:

  los     length of the shortest list
  uboc    upper bound of the number of comparisons: length of the shortest list times
          the sum of the binary logarithms of the other lengths
  uboct   the same per thread, with one thread per docID of the shortest list
  ding    lengths of the two shortest lists, sum of all lengths, and number of terms

Calibrate fits and stores all metrics. With --metric best the scheduler uses the metric
with the best predictions, which a star marks. The table shows R² and p (F test) of each
linear regression, with intercept and coefficients in milliseconds. Errors are means of
|predicted - real| / real over a third of the queries, for models fitted to the other two
thirds: first the linear regression, then the estimate with its learned corrections.

The difference of two processors, host minus device, is fitted to the same metrics. It
shows the value of each metric from which the device is faster.`,
		Example: "  heddle calibrate books.hdl\n  heddle calibrate books.hdl --queries log.tsv --device pocl --time 5s\n  heddle calibrate books.hdl --metric uboc --json",
	}, &calibrateOptions{})
}

func (o *calibrateOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.queries, "queries", "", "run the queries of `FILE`; - is standard input; default: draw them from the index")
	addReading(fs, &o.reading)
	fs.DurationVar(&o.time, "time", 2*time.Second, "`DURATION` of each kind on each processor, alone and again in batches")
	addJSON(fs, &o.json)
	o.Add(fs, "metric", "backend", "device", "threads", "tuning")
}

func (o *calibrateOptions) Validate(args []string) error { return o.validate(args, "index file") }

func (o *calibrateOptions) validate(args []string, name string) (err error) {
	if err = o.set(args, name); err != nil {
		return err
	}
	if o.time <= 0 {
		return fmt.Errorf("--time %v is not positive", o.time)
	}
	return checkReading(o.reading)
}

func (o *calibrateOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	if c.Devices.Backend == "auto" { // --device joins the host
		c.Devices.Backend = "all"
	}
	opt, err := machine.Options(c, log)
	if err != nil {
		return err
	}
	metric, err := cost.ParseMetric(opt.Metric)
	if err != nil {
		return err
	}
	run := engine.CalibrateOptions{Time: o.time}
	if terminal.Is(a.Stderr) {
		run.Progress = func(processor, kind string) { fmt.Fprintf(a.Stderr, "%s: %s\n", processor, kind) }
	}
	costs := cmp.Or(c.Schedule.Costs, cost.Path(o.path))
	e, x, err := machine.Open(ctx, &a.Machine, opt, func(e *engine.Engine) (*engine.Index, error) {
		return e.OpenIndex(ctx, o.path, engine.IndexOptions{})
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Close(opt, e)) }()
	if o.queries != "" {
		if run.Queries, err = o.read(ctx, a, x); err != nil {
			return err
		}
	}
	found, err := x.Calibrate(ctx, run)
	if err != nil {
		return err
	}
	return a.print(report.NewCosts(o.path, costs, metric.String(), found), o.json)
}

// read reads the query file.
func (o *calibrateOptions) read(ctx context.Context, a *App, x *engine.Index) (qs []engine.Query, err error) {
	v, err := x.Snapshot()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	file := topics.File{Path: o.queries, Reading: o.reading, Stdin: a.Stdin}
	err = file.Each(ctx, 1024, func(_ context.Context, topics []trec.Topic) error {
		for _, t := range topics {
			q, err := engine.Query{Terms: t.Terms, Weights: t.Weights}, t.Err
			if q.Terms == nil && err == nil {
				q.Terms, q.Weights, err = v.WeightedTerms(engine.Query{Text: t.Text, Literal: true})
			}
			if err != nil {
				return &trec.Error{Path: o.queries, Line: t.Line, Err: err}
			}
			qs = append(qs, q)
		}
		return nil
	})
	if err == nil && len(qs) == 0 {
		err = fmt.Errorf("%s contains no query", o.queries)
	}
	return qs, err
}
