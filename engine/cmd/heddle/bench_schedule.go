package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench"
)

type benchScheduleOptions struct{ benchOptions }

func newBenchSchedule(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "schedule [flags]",
		Short: "Measure the engine under load, host and devices together",
		Long: `Schedule puts queries to an engine as they come to a service: an open loop, with
Poisson arrivals at rising rates, on the workloads of bench lists and bench rank. A
delay counts from the moment at which a query should have arrived. It reproduces what
papers measured of scheduling, and measures what the scheduler costs and how well it
predicts. Every table or figure has a name; --table and --figure choose some, together.

  ` + strings.Join(bench.ScheduleExhibits(), "\n  ") + `

Backend auto runs both pure Go and an OpenCL device, alone and together; with host
alone, what is about devices is left out. Answers are checked.`,
		Example: `  heddle bench schedule --short --report report.md --plot figures
  heddle bench schedule --figure ding-fig7 --plot figures --json rows.jsonl
  heddle bench schedule --table overhead,prediction --backend host`,
	}, &benchScheduleOptions{})
}

func (o *benchScheduleOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	fs.IntVar(&o.Queries, "queries", 0, "put `N` different queries, again and again; 0 is 100000 boolean and 3000 ranked ones, less with --short")
	fs.Uint32Var(&o.Docs, "docs", 0, "`N` documents of the ranked workload; 0 is 25205179, a fiftieth with --short")
}

func (o *benchScheduleOptions) Validate(args []string) error {
	if err := bench.CheckSchedule(o.Options); err != nil {
		return err
	}
	if o.Docs > 0 && o.Docs < bench.LeastDocs {
		return fmt.Errorf("--docs: %d are fewer than %d", o.Docs, bench.LeastDocs)
	}
	return o.benchOptions.Validate(args)
}

func (o *benchScheduleOptions) Run(ctx context.Context, a *App) error {
	if err := o.configure(a); err != nil {
		return err
	}
	return bench.Schedule(ctx, o.Options, a.Stdout, a.Stderr)
}
