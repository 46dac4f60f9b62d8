package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/demo"
)

type demoOptions struct{ demo.Options }

func newDemo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "demo [flags]",
		Short: "Ask the King James Bible and a table of flights on every backend",
		Long: `Demo indexes the King James Bible, a verse a document, asks real queries on every
backend of this machine, compares all answers with each other and with a scan of
the text, and prints verses, counts and times. Then it builds a bitmap table of
500,000 flights and asks predicates of it, by every strategy of every backend, beside
a scan of the columns. By default it expects to run in the root of the source tree.`,
	}, &demoOptions{})
}

func (o *demoOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Text, "text", demo.DefaultText, "gzipped `FILE` of lines NAME TAB TEXT")
	fs.StringVar(&o.Index, "index", demo.DefaultIndex, "`FILE` that the index goes to")
	fs.StringVar(&o.Flights, "flights", demo.DefaultFlights, "`FOLDER` of the columns of flights")
	fs.StringVar(&o.Table, "table", demo.DefaultTable, "`FILE` that the table goes to")
}

func (o *demoOptions) Validate(args []string) error { return noArguments(args) }

func (o *demoOptions) Run(ctx context.Context, a *App) error {
	if err := demo.Run(ctx, o.Options, a.Stdout, a.Stderr); err != nil {
		return err
	}
	return demo.RunTable(ctx, o.Options, a.Stdout, a.Stderr)
}
