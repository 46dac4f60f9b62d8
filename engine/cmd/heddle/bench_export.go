//go:build !core

package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench/workload"
)

type benchExportOptions struct {
	workload.ExportOptions
	orders []string
}

func newBenchExport(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "export DIR [flags]",
		Short: "Write the workload of bench lists for other engines",
		Long: `Export writes the lists of bench lists as a PISA collection with terms and document
names, and the queries in the formats of heddle search and PISA, so that other engines
can run the same workload. It writes about 2 GB for each order.`,
		Example: "  heddle bench export --short --orders uniform gov",
	}, &benchExportOptions{})
}

func (o *benchExportOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Short, "short", false, "write a small part of the workload")
	fs.Uint64Var(&o.Seed, "seed", 1, "`SEED` of the workload")
	fs.StringSliceVar(&o.orders, "orders", nil, "document orders, `LIST` of uniform, clustered, pagerank, reordered (default uniform,clustered)")
}

func (o *benchExportOptions) Validate(args []string) (err error) {
	if o.Orders, err = parseAll(o.orders, workload.ParseOrder); err != nil {
		return err
	}
	o.Dir, err = oneArgument(args, "folder")
	return err
}

func (o *benchExportOptions) Run(ctx context.Context, a *App) error {
	return workload.Export(ctx, o.ExportOptions, a.Stdout, a.Stderr)
}
