package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/demo"
	"heddle/engine/internal/drivers"
)

type demoOptions struct {
	flagsOnly
	demo.Options
}

func newDemo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "demo [flags]",
		Short: "Query the King James Bible and a table of flights on every backend",
		Long: `Demo indexes the King James Bible with one document per verse, runs queries on every
backend of this machine, compares all answers with a scan of the text, and prints
verses, counts and times. Then it builds a bitmap table of 500,000 flights, evaluates
predicates with every strategy of every backend, and compares the rows with a scan of
the columns. The default paths exist in the root of the source tree.`,
	}, &demoOptions{})
}

func (o *demoOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Text, "text", demo.DefaultText, "text: gzipped `FILE` of lines NAME TAB TEXT")
	fs.StringVar(&o.Index, "index", demo.DefaultIndex, "output `FILE` of the index")
	fs.StringVar(&o.Flights, "flights", demo.DefaultFlights, "`FOLDER` with the columns of flights")
	fs.StringVar(&o.Table, "table", demo.DefaultTable, "output `FILE` of the table")
}

func (o *demoOptions) Run(ctx context.Context, a *App) error {
	c := config.Devices{Backend: "all", Probe: drivers.DefaultLimit}
	if _, err := a.Examine(ctx, &c, a.logger(config.Log{Level: "warn", Format: "console"})); err != nil {
		return err
	}
	o.Host = c.Backend == "host"
	if err := demo.Run(ctx, o.Options, a.Stdout, a.Stderr); err != nil {
		return err
	}
	return demo.RunTable(ctx, o.Options, a.Stdout, a.Stderr)
}
