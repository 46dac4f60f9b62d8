package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench"
	"heddle/engine/plan"
)

func newBench(a *App) *cobra.Command {
	return group("bench", "Measure on workloads that are generated from a seed",
		`Bench measures what heddle does on workloads that a seed determines, on every
backend, with other libraries beside it where there are any, and checks that all
answers are the same.`,
		newBenchLists(a), newBenchDecode(a), newBenchExport(a))
}

// benchOptions are those of a measurement.
type benchOptions struct {
	settings
	bench.ListsOptions
}

func (o *benchOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Short, "short", false, "a small part of the workload, in less than 20 seconds")
	fs.Uint64Var(&o.Seed, "seed", 1, "`SEED` of the workload")
	fs.IntVar(&o.Runs, "runs", 0, "timed runs, `N`; 0 is 5, or 3 with --short")
	fs.StringVar(&o.JSON, "json", "", "write the rows to `FILE`, a JSON object a line; - is standard output, tables then go to standard error")
	o.add(fs, "backend", "device", "threads")
}

func (o *benchOptions) Validate(args []string) error {
	if o.Runs < 0 || o.Queries < 0 {
		return errors.New("--runs and --queries cannot be negative")
	}
	return noArguments(args)
}

// configure takes what the configuration has to say.
func (o *benchOptions) configure(a *App) error {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	o.Backend, o.Device, o.Threads = c.Devices.Backend, c.Devices.Device, c.Devices.Threads
	o.Threshold = uint64(c.Batching.Candidates)
	return nil
}

type benchListsOptions struct {
	benchOptions
	orders, layouts, algorithms []string
}

func newBenchLists(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "lists [flags]",
		Short: "Measure conjunctive queries on a GOV-like log",
		Long: `Lists puts a log of queries shaped like that of Ao et al. (VLDB 2011) to lists
shaped like theirs, end to end: terms in, docIDs on the host out. It prints
queries a second for every order of documents, layout of lists, algorithm and
backend, with times of kernels and transfers, bytes moved, and the share of the
device's measured bandwidth (their Figures 5 and 6, Table 7). Backend auto
measures both pure Go and OpenCL.`,
		Example: `  heddle bench lists --short
  heddle bench lists --short --backend host --layouts raw --algorithms hs16,bits --peers --json -
  heddle bench lists --orders clustered --plot figures --json rows.jsonl`,
	}, &benchListsOptions{})
}

func (o *benchListsOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	fs.StringSliceVar(&o.orders, "orders", nil, "numberings of the documents, `LIST` of uniform, clustered, reordered (default uniform,clustered)")
	fs.StringSliceVar(&o.layouts, "layouts", nil, "encodings of the lists, `LIST` of raw, bitset, parapfor, auto (default all)")
	fs.StringSliceVar(&o.algorithms, "algorithms", nil, "`LIST` of bs, lr, hs8 to hs256, bits, auto (default those of the paper, bits and auto)")
	fs.IntVar(&o.Queries, "queries", 0, "put only the first `N` queries; 0 is all to a GPU and 20000 to a CPU")
	fs.BoolVar(&o.Peers, "peers", false, "measure other libraries too, in turns with heddle")
	fs.StringVar(&o.Plot, "plot", "", "draw figures over the threshold of a batch into the folder `DIR`")
}

func (o *benchListsOptions) Validate(args []string) (err error) {
	if o.Orders, err = parseAll(o.orders, bench.ParseOrder); err != nil {
		return err
	}
	if o.Layouts, err = parseAll(o.layouts, bench.ParseLayout); err != nil {
		return err
	}
	if o.Algorithms, err = parseAll(o.algorithms, plan.ParseAlgorithm); err != nil {
		return err
	}
	return o.benchOptions.Validate(args)
}

func (o *benchListsOptions) Run(ctx context.Context, a *App) error {
	if err := o.configure(a); err != nil {
		return err
	}
	return bench.Lists(ctx, o.ListsOptions, a.Stdout, a.Stderr)
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

type benchDecodeOptions struct{ benchOptions }

func newBenchDecode(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "decode [flags]",
		Short: "Measure the decoding of lists to docIDs",
		Long: `Decode prints how many docIDs a second come out of parapfor lists with gaps of 8
bits, for few long lists and for many short ones.`,
		Example: "  heddle bench decode --short",
	}, &benchDecodeOptions{})
}

func (o *benchDecodeOptions) Run(ctx context.Context, a *App) error {
	if err := o.configure(a); err != nil {
		return err
	}
	return bench.Decode(ctx, o.ListsOptions, a.Stdout, a.Stderr)
}

type benchExportOptions struct {
	bench.ExportOptions
	orders []string
}

func newBenchExport(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "export DIR [flags]",
		Short: "Write the workload of bench lists for other engines",
		Long: `Export writes the lists of bench lists as a PISA collection, with terms, document
names, and the queries as heddle search and as PISA read them, so that other
engines can run the very same. The whole is about 2 GB for each order.`,
		Example: "  heddle bench export --short --orders uniform gov",
	}, &benchExportOptions{})
}

func (o *benchExportOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Short, "short", false, "a small part of the workload")
	fs.Uint64Var(&o.Seed, "seed", 1, "`SEED` of the workload")
	fs.StringSliceVar(&o.orders, "orders", nil, "numberings of the documents, `LIST` of uniform, clustered, reordered (default uniform,clustered)")
}

func (o *benchExportOptions) Validate(args []string) (err error) {
	if o.Orders, err = parseAll(o.orders, bench.ParseOrder); err != nil {
		return err
	}
	o.Dir, err = oneArgument(args, "one folder")
	return err
}

func (o *benchExportOptions) Run(ctx context.Context, a *App) error {
	return bench.Export(ctx, o.ExportOptions, a.Stdout, a.Stderr)
}
