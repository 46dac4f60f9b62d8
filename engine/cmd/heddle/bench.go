//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
)

func newBench(a *App) *cobra.Command {
	return group("bench", "Run benchmarks on generated and real workloads",
		`Bench measures heddle on every backend, on workloads that a seed generates and on real
data, with other libraries as baselines, and checks that all answers agree.`,
		newBenchLists(a), newBenchDecode(a), newBenchRank(a), newBenchBitmap(a), newBenchSchedule(a), newBenchExport(a), newBenchGain(a), newBenchPapers(a))
}

// exhibits is the part of the help texts that lists tables and figures.
func exhibits(f harness.Family) string {
	return `

Each table and figure has a name; --table and --figure select some.

  ` + strings.Join(f.Headings(), "\n  ")
}

// benchOptions are the options that all benchmarks share.
type benchOptions struct {
	settings
	harness.Options
	orders []string

	family harness.Family
}

func (o *benchOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Figures, "figure", nil, "run only these figures, `LIST` of the names above")
	fs.StringSliceVar(&o.Tables, "table", nil, "run only these tables, `LIST` of the names above")
	fs.BoolVar(&o.Short, "short", false, "run a small part of the workload, in less than 20 seconds")
	fs.Uint64Var(&o.Seed, "seed", 1, "`SEED` of the workload")
	fs.IntVar(&o.Runs, "runs", 0, "number `N` of timed runs; 0 is 5, or 2 with --short")
	fs.StringVar(&o.JSON, "json", "", "write one JSON object per row to `FILE`, through FILE.partial, which remains after an error; with -, tables go to standard error")
	fs.StringVar(&o.Plot, "plot", "", "draw the figures as SVG in the folder `DIR`")
	fs.StringVar(&o.Report, "report", "", "write a Markdown report to `FILE` that compares the papers' figures with the measured ones")
	o.Add(fs, "backend", "device", "threads", "tuning")
}

// addLists adds the flags of workloads of posting lists.
func (o *benchOptions) addLists(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.orders, "orders", nil, "document orders, `LIST` of uniform, clustered, pagerank, reordered (default uniform,clustered,pagerank, clustered with --short)")
	fs.IntVar(&o.Themes, "themes", 0, "generate `N` of the 16 themes of the lists and queries; 0 is 16, or 1 with --short")
	fs.StringVar(&o.Real, "real", "", "measure real lists too: archives of real-roaring and indexes in the folder `DIR`")
}

func (o *benchOptions) Validate(args []string) (err error) {
	if err := o.family.Check(o.Options); err != nil {
		return err
	}
	if o.Runs < 0 || o.Queries < 0 {
		return errors.New("--runs and --queries cannot be negative")
	}
	if o.Themes < 0 || o.Themes > workload.MaxThemes {
		return fmt.Errorf("--themes is from 1 to %d", workload.MaxThemes)
	}
	if o.Orders, err = parseAll(o.orders, workload.ParseOrder); err != nil {
		return err
	}
	return noArguments(args)
}

func (o *benchOptions) Run(ctx context.Context, a *App) error {
	if err := o.configure(ctx, a); err != nil {
		return err
	}
	return o.family.Run(ctx, o.Options, a.Stdout, a.Stderr)
}

// configure takes the devices and the sizes of batches from the configuration.
func (o *benchOptions) configure(ctx context.Context, a *App) error {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	if err := oneBackend(c); err != nil {
		return err
	}
	if _, err := a.Examine(ctx, &c.Devices, log); err != nil {
		return err
	}
	o.Backend, o.Device, o.Threads, o.Tuning = c.Devices.Backend, c.Devices.Device, c.Devices.Threads, c.Devices.Tuning
	o.Threshold, o.Postings = uint64(c.Batching.Candidates), uint64(c.Batching.Postings)
	return nil
}

// parseAll parses the words of a flag.
func parseAll[T any](words []string, parse func(string) (T, error)) (all []T, err error) {
	for _, w := range words {
		v, err := parse(strings.TrimSpace(w))
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// oneBackend rejects --backend all for commands that measure or inspect one backend.
func oneBackend(c *config.Config) error {
	if c.Devices.Backend == "all" {
		return usageError{errors.New("backend all is for search, calibrate and bitmap query: use auto, host or opencl")}
	}
	return nil
}
