package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/index/hdl"
	"heddle/engine/index/trec"
	"heddle/engine/internal/cost"
)

type calibrateOptions struct {
	settings
	path    string
	queries string
	topics  trec.Format
	time    time.Duration
	json    bool
}

func newCalibrate(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "calibrate X.hdl [--queries FILE] [--metric best|los|uboc|uboct|ding] [--json]",
		Short: "Fit the scheduler's cost model of an index on this machine",
		Long: `Calibrate measures what queries take on the host and on every device, alone and in
batches, for each kind of query that the index answers. It fits models to that, prints
how good they are, and writes them beside the index, as X.hdl.cost or as the key
schedule.costs says. Searches with --backend all, and services, choose processors by
them, and go on learning. Without the file they start from guesses.

Queries are those of a file (as heddle search reads it), or drawn from the index: of one
term to six, with lists of every length. Calibrate needs the machine for itself; each
kind takes about twice --time on each processor.

What a query takes is explained by a metric of its lists:

  los     the length of the shortest list
  uboc    the upper bound of the number of comparisons: the length of the shortest list
          times the sum of the binary logarithms of the other lengths
  uboct   the same for each thread, one a docID of the shortest list
  ding    the lengths of the two shortest lists, the sum of all lengths, and the number
          of terms

All are fitted and kept; with best, estimates go by the one that predicts best, which a
star marks. For each there is its linear regression: R² and p (F test), milliseconds as
intercept and coefficients. Errors are means of |predicted - real| / real over a third of
the queries, by a fit to the others: of costs linear in the metric, and of estimates,
which correct those by what the features have done to other queries.

The difference of two processors, host less device, is put on the same metrics: from
which value on the device is faster, by the regression.`,
		Example: "  heddle calibrate books.hdl\n  heddle calibrate books.hdl --queries log.tsv --device pocl --time 5s\n  heddle calibrate books.hdl --metric uboc --json",
	}, &calibrateOptions{})
}

func (o *calibrateOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.queries, "queries", "", "run the queries of `FILE`, - for standard input; else some are drawn")
	fs.StringVar((*string)(&o.topics), "queries-format", string(trec.Auto), "form of the query file: auto, plain, tsv, trec or jsonl `FORMAT`")
	fs.DurationVar(&o.time, "time", 2*time.Second, "run queries of a kind on a processor for `DURATION`, and as long in batches")
	addJSON(fs, &o.json)
	o.add(fs, "metric", "backend", "device", "threads", "tuning")
}

func (o *calibrateOptions) Validate(args []string) (err error) {
	if o.path, err = oneArgument(args, "one index file"); err != nil {
		return err
	}
	if o.time <= 0 {
		return fmt.Errorf("--time: %v is no time to run queries for", o.time)
	}
	if _, err := trec.ParseFormat(string(o.topics)); err != nil {
		return fmt.Errorf("--queries-format: %w", err)
	}
	return nil
}

func (o *calibrateOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	if c.Devices.Backend == "auto" { // a device that is named joins the host
		c.Devices.Backend = "all"
	}
	base, err := engineOptions(c, log)
	if err != nil {
		return err
	}
	opt, err := scheduledOptions(c, base)
	if err != nil {
		return err
	}
	run := engine.CalibrateOptions{Time: o.time}
	if isTerminal(a.Stderr) {
		run.Progress = func(processor string, k cost.Kind) { fmt.Fprintf(a.Stderr, "%s: %s\n", processor, k) }
	}
	costs, err := o.costs(c)
	if err != nil {
		return err
	}
	e, err := engine.Start(ctx, o.path, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if o.queries != "" {
		if run.Queries, err = o.read(ctx, a, e); err != nil {
			return err
		}
	}
	found, err := e.Calibrate(ctx, run)
	if err != nil {
		return err
	}
	r := describeCosts(o.path, costs, opt.Metric, found)
	if o.json {
		return writeJSON(a.Stdout, r)
	}
	return r.write(a.Stdout)
}

// read reads the query file.
func (o *calibrateOptions) read(ctx context.Context, a *App, e *engine.Engine) (qs []engine.Query, err error) {
	v, err := e.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	err = answerFile(ctx, o.queries, o.topics, a.Stdin, 1024, func(_ context.Context, topics []trec.Topic) error {
		for _, t := range topics {
			q := engine.Query{Terms: t.Terms, Weights: t.Weights}
			if q.Terms == nil {
				if q.Terms, q.Weights, err = v.Index().WeightedTerms(t.Text); err != nil {
					return &trec.Error{Path: o.queries, Line: t.Line, Err: err}
				}
			}
			qs = append(qs, q)
		}
		return nil
	})
	if err == nil && len(qs) == 0 {
		err = fmt.Errorf("%s: there is no query", o.queries)
	}
	return qs, err
}

// costs is the file to be written. A damaged one must not keep the engine from starting.
func (o *calibrateOptions) costs(c *config.Config) (path string, err error) {
	if path = c.Schedule.Costs; path == "" {
		path = engine.CostsPath(o.path)
	}
	f, err := hdl.Open(o.path)
	if err != nil {
		return path, err
	}
	_, err = cost.Load(path, f.Checksum(), cost.Best)
	if _, damaged := errors.AsType[*cost.CorruptError](err); damaged {
		err = os.Remove(path)
	} else {
		err = nil // Start knows what to do
	}
	return path, errors.Join(err, f.Close())
}
