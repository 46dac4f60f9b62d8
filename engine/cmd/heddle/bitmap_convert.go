package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/memlimit"
	"heddle/engine/cmd/heddle/internal/terminal"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/merge"
)

type bitmapConvertOptions struct {
	settings
	onePath
	out string
}

func newBitmapConvert(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "convert OLD.hdb -o X.hdb [flags]",
		Short: "Rewrite a table of the format version before",
		Long: `Convert reads a table file of version 4 and writes the same rows as a table of the current
version. Columns with settings of their own keep their bins, binning and encoding; the bins
of other columns are chosen anew, as build does.`,
		Example: "  heddle bitmap convert old.hdb -o converted.hdb",
	}, &bitmapConvertOptions{})
}

func (o *bitmapConvertOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.out, "output", "o", "", "write the table to `X.hdb`")
	o.Add(fs, "build-memory")
}

func (o *bitmapConvertOptions) Validate(args []string) error {
	if o.out == "" {
		return errors.New("--output (-o) is missing")
	}
	if err := o.set(args, "table file"); err != nil {
		return err
	}
	return checkOutput(o.out, args)
}

func (o *bitmapConvertOptions) Run(ctx context.Context, a *App) (err error) {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	f, err := hdb.OpenFormer(o.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	opt := tablebuild.Options{Columns: map[string]tablebuild.Settings{}, Word: f.Word(), Memory: uint64(c.Index.BuildMemory), Creator: thisBuild().String(), Source: f.Meta().Source}
	for _, c := range f.Columns() {
		stored := c.Stored()
		s := tablebuild.Settings{Bins: len(stored.Bins), Binning: stored.Binning, Encoding: stored.Encoding}
		if s.Bins <= tablebuild.DefaultBins && s.Encoding == column.Equality && (s.Binning == column.Distinct || s.Binning == column.Quantile) {
			s.Bins, s.Binning = 0, column.Auto
		}
		opt.Columns[c.Name] = s
	}
	room, restore, err := memlimit.Set(opt.Memory, tableFixed+uint64(runtime.GOMAXPROCS(0))*tableCore+columnMemory(len(f.Columns())))
	if err != nil {
		return err
	}
	defer restore()
	opt.Memory = room
	built, err := merge.File(ctx, []merge.Part{merge.Whole(f, nil)}, o.out, opt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %d rows, %d columns, %s\n", terminal.Field(o.out), built.Rows, len(built.Columns), terminal.Bytes(uint64(built.FileBytes)))
	return err
}
