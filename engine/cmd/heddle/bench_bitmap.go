package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench"
)

type benchBitmapOptions struct{ benchOptions }

func newBenchBitmap(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "bitmap [flags]",
		Short: "Measure the OR of bit vectors, and reproduce what a paper measured of it",
		Long: `Bitmap ORs bins of Zipf tables of 32 million rows, of tables of long runs and of
real tables, under every strategy of every backend, and reproduces what Nelson et
al. (J. Cloud Computing 2020) measured. It also measures predicates in batches,
encodings, and the building of tables. Every table or figure has a name; --table and
--figure choose some, together.

  ` + strings.Join(bench.BitmapExhibits(), "\n  ") + `

Backend auto measures both pure Go and OpenCL. All answers are checked against each
other. Roaring bitmaps and plain bitsets are measured beside.`,
		Example: `  heddle bench bitmap --short --report report.md --plot figures
  heddle bench bitmap --real data --json rows.jsonl
  heddle bench bitmap --table or --backend host --json rows.jsonl`,
	}, &benchBitmapOptions{})
}

func (o *benchBitmapOptions) AddFlags(fs *pflag.FlagSet) {
	o.benchOptions.AddFlags(fs)
	fs.Uint32Var(&o.Rows, "rows", 0, "`N` rows of the Zipf tables; 0 is 32000000, a 64th with --short")
	fs.StringVar(&o.Real, "real", "", "real tables too: kddcup.data*.gz with corrected.gz, and columns NAME.KINDle.gz, in the folder `DIR` or one below")
}

func (o *benchBitmapOptions) Validate(args []string) error {
	if err := bench.CheckBitmap(o.Options); err != nil {
		return err
	}
	return o.benchOptions.Validate(args)
}

func (o *benchBitmapOptions) Run(ctx context.Context, a *App) error {
	if err := o.configure(a); err != nil {
		return err
	}
	return bench.Bitmap(ctx, o.Options, a.Stdout, a.Stderr)
}
