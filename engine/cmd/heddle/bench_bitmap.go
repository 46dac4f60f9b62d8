//go:build !core

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench/bitmap"
)

type benchBitmapOptions struct{ benchOptions }

func newBenchBitmap(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "bitmap [flags]",
		Short: "Measure ORs of bit vectors and predicates on tables",
		Long: `Bitmap computes ORs of the bins of Zipf tables with 32 million rows, of tables with long
runs, and of real tables, with every strategy of every backend, and reproduces the
measurements of Nelson et al. (J. Cloud Computing 2020). It also measures batches of
predicates, encodings, and the build of tables.` + exhibits(bitmap.Family) + `

Backend auto measures pure Go and OpenCL. All answers are compared with each other.
Roaring bitmaps and plain bitsets are baselines.`,
		Example: `  heddle bench bitmap --short --report report.md --plot figures
  heddle bench bitmap --real data --json rows.jsonl
  heddle bench bitmap --table or --backend host --json rows.jsonl`,
	}, &benchBitmapOptions{benchOptions{family: bitmap.Family}})
}

func (o *benchBitmapOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	fs.Uint32Var(&o.Rows, "rows", 0, "number `N` of rows of the Zipf tables; 0 is 32000000, 1/64 of it with --short")
	fs.StringVar(&o.Real, "real", "", "measure real tables too: kddcup.data*.gz with corrected.gz, and columns NAME.KINDle.gz, in the folder `DIR` or its subfolders")
}
