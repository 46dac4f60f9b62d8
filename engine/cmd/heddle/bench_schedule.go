//go:build !core

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench/schedule"
)

type benchScheduleOptions struct{ benchOptions }

func newBenchSchedule(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "schedule [flags]",
		Short: "Measure the scheduler under load, with host and devices together",
		Long: `Schedule sends queries to an engine as clients of a service do: in an open loop, with
Poisson arrivals at rising rates, on the workloads of bench lists and bench rank. The
delay of a query starts at its scheduled arrival. Schedule reproduces the papers'
measurements of scheduling, and measures the overhead and the predictions of the
scheduler.` + exhibits(schedule.Family) + `

Backend auto runs pure Go and an OpenCL device, alone and together. Backend host omits
the measurements of devices. Answers are checked.`,
		Example: `  heddle bench schedule --short --report report.md --plot figures
  heddle bench schedule --figure ding-fig7 --plot figures --json rows.jsonl
  heddle bench schedule --table overhead,prediction --backend host`,
	}, &benchScheduleOptions{benchOptions{family: schedule.Family}})
}

func (o *benchScheduleOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	fs.IntVar(&o.Queries, "queries", 0, "number `N` of distinct queries, which repeat; 0 is 100000 boolean and 3000 ranked queries, fewer with --short")
	fs.StringSliceVar(&o.Logs, "logs", nil, "run only these logs of queries, `LIST` of lists, ranked (default both)")
	fs.Uint32Var(&o.Docs, "docs", 0, "number `N` of documents of the ranked workload; 0 is 25205179, 1/50 of it with --short")
}

func (o *benchScheduleOptions) Validate(args []string) error {
	if err := checkDocs(o.Docs); err != nil {
		return err
	}
	return o.benchOptions.Validate(args)
}
