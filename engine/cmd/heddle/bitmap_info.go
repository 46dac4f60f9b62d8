package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/internal/folder"
)

type bitmapInfoOptions struct {
	onePath
	column string
	json   bool
}

func newBitmapInfo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "info (X.hdb | DIR) [--column NAME] [--json]",
		Short: "Print the columns, bins and sizes of a table",
		Long: `Info prints for each column its type, its bins, the sizes of its bit vectors and stored
values, and why it has or lacks vectors of bins, then the sections of the file. It reads and
checks the descriptions alone: verify checks every byte. --column prints the bins of one
column. For a folder it prints the table that the files of the folder form.`,
		Example: "  heddle bitmap info flights.hdb\n  heddle bitmap info flights.hdb --column delay\n  heddle bitmap info flights.hdb --json",
	}, &bitmapInfoOptions{})
}

func (o *bitmapInfoOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.column, "column", "", "print the bins of column `NAME`")
	addJSON(fs, &o.json)
}

func (o *bitmapInfoOptions) Validate(args []string) error { return o.set(args, "table file") }

func (o *bitmapInfoOptions) Run(ctx context.Context, a *App) error {
	f, err := folder.Open(ctx, nil, o.path, false)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := report.NewTable(f, o.column)
	switch {
	case err != nil:
		return err
	case o.column != "" && !o.json:
		return t.Columns[0].WriteBins(a.Stdout)
	}
	return a.print(t, o.json)
}
