//go:build !core

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench/lists"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

type benchListsOptions struct {
	benchOptions
	layouts, algorithms []string
}

func newBenchLists(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "lists [flags]",
		Short: "Measure intersections of posting lists",
		Long: `Lists runs a query log shaped like the log of Ao et al. (VLDB 2011) on lists with the
same distribution of lengths, and reproduces the papers' measurements of intersections.` + exhibits(lists.Family) + `

Backend auto measures pure Go and OpenCL. Figures are end to end, from terms to docIDs on
the host, unless they say kernels. All answers are compared with each other.

Table croaring needs --real DIR and --croaring DIR: the prefix of an installation of
github.com/RoaringBitmap/CRoaring, with include/roaring and lib/libroaring.a. It compiles
a driver in C, and compares docIDs and times in turns.`,
		Example: `  heddle bench lists --short --report report.md --plot figures
  heddle bench lists --short --table log --backend host --algorithms hs16,bits --peers --json -
  heddle bench lists --figure ao-fig5,wu-fig5 --table ao-table1 --plot figures --json rows.jsonl`,
	}, &benchListsOptions{benchOptions: benchOptions{family: lists.Family}})
}

func (o *benchListsOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	o.addLists(fs)
	fs.StringSliceVar(&o.layouts, "layouts", nil, "encodings of the lists in table log, `LIST` of codecs and auto (default all, raw and auto with --short)")
	fs.StringSliceVar(&o.algorithms, "algorithms", nil, "algorithms in table log, `LIST` (default bs, lr, hs16, hs32, hs256, bits, auto; hs16 and auto with --short)")
	fs.IntVar(&o.Queries, "queries", 0, "run the first `N` queries; 0 is 500000 on a GPU and 5000 on a CPU, 100 with --short")
	fs.StringSliceVar(&o.Sets, "sets", nil, "collections of ao-table3 and ao-table7, `LIST` of GOV, GOVPR, GOVR, BD, BDR, GOV2, GOV2R (default all)")
	fs.StringVar(&o.CRoaring, "croaring", "", "prefix `DIR` of an installation of CRoaring, the baseline of table croaring")
	fs.BoolVar(&o.Peers, "peers", false, "measure other libraries too, alternating with heddle")
}

func (o *benchListsOptions) Validate(args []string) (err error) {
	if o.Layouts, err = parseAll(o.layouts, workload.ParseLayout); err != nil {
		return err
	}
	if o.Algorithms, err = parseAll(o.algorithms, plan.ParseAlgorithm); err != nil {
		return err
	}
	return o.benchOptions.Validate(args)
}
