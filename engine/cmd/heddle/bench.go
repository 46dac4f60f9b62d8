package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/codec"
	"heddle/engine/bench"
	"heddle/engine/plan"
)

func newBench(a *App) *cobra.Command {
	return group("bench", "Measure on workloads that are generated from a seed",
		`Bench measures what heddle does on workloads that a seed determines, on every
backend, with other libraries beside it where there are any, and checks that all
answers are the same.`,
		newBenchLists(a), newBenchDecode(a), newBenchRank(a), newBenchBitmap(a), newBenchSchedule(a), newBenchExport(a))
}

// benchOptions are those of a measurement.
type benchOptions struct {
	settings
	bench.Options
	orders []string
}

func (o *benchOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Figures, "figure", nil, "reproduce only these figures, `LIST` of the names above")
	fs.StringSliceVar(&o.Tables, "table", nil, "reproduce only these tables, `LIST` of the names above")
	fs.BoolVar(&o.Short, "short", false, "a small part of the workload, in less than 20 seconds")
	fs.Uint64Var(&o.Seed, "seed", 1, "`SEED` of the workload")
	fs.IntVar(&o.Runs, "runs", 0, "timed runs, `N`; 0 is 5, or 2 with --short")
	fs.StringVar(&o.JSON, "json", "", "write the rows to `FILE`, a JSON object a line, by way of FILE.partial, which stays after an error; - is standard output, tables then go to standard error")
	fs.StringVar(&o.Plot, "plot", "", "draw the figures into the folder `DIR`, as SVG and PNG")
	fs.StringVar(&o.Report, "report", "", "write a Markdown report to `FILE` that sets the papers' figures beside ours")
	o.add(fs, "backend", "device", "threads", "tuning")
}

// addLists adds the flags that are about lists.
func (o *benchOptions) addLists(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.orders, "orders", nil, "numberings of the documents, `LIST` of uniform, clustered, reordered (default all, clustered with --short)")
	fs.StringVar(&o.Real, "real", "", "real lists too: real-roaring zips and indices in the folder `DIR`")
}

func (o *benchOptions) Validate(args []string) (err error) {
	if o.Runs < 0 || o.Queries < 0 {
		return errors.New("--runs and --queries cannot be negative")
	}
	if o.Orders, err = parseAll(o.orders, bench.ParseOrder); err != nil {
		return err
	}
	return noArguments(args)
}

// configure takes what the configuration has to say.
func (o *benchOptions) configure(a *App) error {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	if err := oneBackend(c); err != nil {
		return err
	}
	o.Backend, o.Device, o.Threads, o.Tuning = c.Devices.Backend, c.Devices.Device, c.Devices.Threads, c.Devices.Tuning
	o.Threshold, o.Postings = uint64(c.Batching.Candidates), uint64(c.Batching.Postings)
	return nil
}

type benchListsOptions struct {
	benchOptions
	layouts, algorithms []string
}

func newBenchLists(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "lists [flags]",
		Short: "Reproduce what the papers measured of intersections",
		Long: `Lists puts a log of queries shaped like that of Ao et al. (VLDB 2011) to lists
shaped like theirs, and reproduces what papers measured of intersections. Every
table or figure has a name; --table and --figure choose some, together.

  ` + strings.Join(bench.ListsExhibits(), "\n  ") + `

Backend auto measures both pure Go and OpenCL. All figures are end to end, terms
in, docIDs on the host out, where they do not say kernels; all answers are checked
against each other.`,
		Example: `  heddle bench lists --short --report report.md --plot figures
  heddle bench lists --short --table log --backend host --algorithms hs16,bits --peers --json -
  heddle bench lists --figure ao-fig5,wu-fig5 --table ao-table1 --plot figures --json rows.jsonl`,
	}, &benchListsOptions{})
}

func (o *benchListsOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	o.addLists(fs)
	fs.StringSliceVar(&o.layouts, "layouts", nil, "encodings of the lists of the log, `LIST` of codecs and auto (default all, raw and auto with --short)")
	fs.StringSliceVar(&o.algorithms, "algorithms", nil, "algorithms of the log, `LIST` (default bs, lr, hs16, hs32, hs256, bits, auto; hs16 and auto with --short)")
	fs.IntVar(&o.Queries, "queries", 0, "put only the first `N` queries; 0 is 500000 to a GPU and 5000 to a CPU, 100 with --short")
	fs.BoolVar(&o.Peers, "peers", false, "measure other libraries too, in turns with heddle")
}

func (o *benchListsOptions) Validate(args []string) (err error) {
	if err := bench.CheckLists(o.Options); err != nil {
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
	return bench.Lists(ctx, o.Options, a.Stdout, a.Stderr)
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

type benchDecodeOptions struct {
	benchOptions
	codecs []string
}

func newBenchDecode(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "decode [flags]",
		Short: "Reproduce what the papers measured of codecs",
		Long: `Decode reproduces what papers measured of codecs: what lists take, and how many
docIDs a second come out of them. Every table or figure has a name; --table and
--figure choose some, together.

  ` + strings.Join(bench.DecodeExhibits(), "\n  ") + `

Backend auto measures both pure Go and OpenCL.`,
		Example: `  heddle bench decode --short
  heddle bench decode --table ints --codecs parapfor,rice --json rows.jsonl`,
	}, &benchDecodeOptions{})
}

func (o *benchDecodeOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	o.addLists(fs)
	fs.StringSliceVar(&o.codecs, "codecs", nil, "only these codecs, `LIST` (default all)")
}

func (o *benchDecodeOptions) Validate(args []string) (err error) {
	if err := bench.CheckDecode(o.Options); err != nil {
		return err
	}
	if o.Codecs, err = parseAll(o.codecs, codec.ParseID); err != nil {
		return err
	}
	return o.benchOptions.Validate(args)
}

func (o *benchDecodeOptions) Run(ctx context.Context, a *App) error {
	if err := o.configure(a); err != nil {
		return err
	}
	return bench.Decode(ctx, o.Options, a.Stdout, a.Stderr)
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
