package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/demo"
)

type demoOptions struct{ demo.Options }

func newDemo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "demo [flags]",
		Short: "Index the King James Bible and query it on every backend",
		Long: `Demo indexes the King James Bible, a verse a document, asks real queries on every
backend of this machine, compares all answers with each other and with a scan of
the text, and prints verses, counts and times. By default it expects to run in the
root of the source tree.`,
	}, &demoOptions{})
}

func (o *demoOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Text, "text", demo.DefaultText, "gzipped `FILE` of lines NAME TAB TEXT")
	fs.StringVar(&o.Index, "index", demo.DefaultIndex, "`FILE` that the index goes to")
}

func (o *demoOptions) Validate(args []string) error { return noArguments(args) }

func (o *demoOptions) Run(ctx context.Context, a *App) error {
	return demo.Run(ctx, o.Options, a.Stdout, a.Stderr)
}
