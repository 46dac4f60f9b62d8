package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/index/inventory"
)

type indexInfoOptions struct {
	onePath
	term string
	json bool
}

func newIndexInfo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "info (X.hdl | DIR) [--term T] [--json]",
		Short: "Print counts, settings and sizes of an index",
		Long: `Info prints the contents of an index, the settings of its build, the sections of the
file, and for each codec its lists, their sizes and the reasons for the codec. Info
verifies the parts of the file that it prints; index verify reads the whole file.

With codec auto, each list has the codec with the lowest cost: bits per posting plus
decoding time, expressed in bits. --term computes the cost of one list under all codecs
that auto compares. The term is spelt as in the index: lower case, stemmed if the index
is stemmed, with its field in front (title:loom) if the index has fields. For the folder of a
collection info prints the same as heddle collection info; --term computes the cost in the index
that heddle collection merge makes.`,
		Example: "  heddle index info books.hdl\n  heddle index info books.hdl --json\n  heddle index info books.hdl --term loom",
	}, &indexInfoOptions{})
}

func (o *indexInfoOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.term, "term", "", "print the cost of the list of term `T` under each codec")
	addJSON(fs, &o.json)
}

func (o *indexInfoOptions) Validate(args []string) error { return o.set(args, "index file") }

func (o *indexInfoOptions) Run(ctx context.Context, a *App) (err error) {
	if isFolder(o.path) && o.term == "" {
		return (&collectionInfo{o.onePath, o.json}).Run(ctx, a)
	}
	f, done, err := openIndex(ctx, o.path, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if o.term == "" {
		return a.print(report.NewIndex(f), o.json)
	}
	t, err := inventory.OfTerm(f, o.term)
	if err != nil {
		return err
	}
	return a.print((*report.Term)(t), o.json)
}
