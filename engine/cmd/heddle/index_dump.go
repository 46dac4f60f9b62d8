package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/report"
)

type indexDumpOptions struct {
	onePath
	term string
	doc  int64
}

func newIndexDump(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "dump (X.hdl | DIR) [--term T | --doc N]",
		Short: "Print terms, one posting list, or one document",
		Long: `Dump prints the terms in ascending order, one per line:

  TERM TAB DOCUMENTS TAB CODEC TAB BYTES OF THE LIST

With --term it prints the list of one term, one posting per line:

  DOCID TAB FREQUENCY

or IMPACT instead of FREQUENCY if the index stores impacts. In an index with positions these
follow, separated by spaces. The term is spelt as in the
index: lower case, stemmed if the index is stemmed.

With --doc it prints the document with one docID, as a line

  NAME TAB LENGTH IN TOKENS

followed by its text or source if the index stores documents (index build --store).

DIR is a collection: dump prints the index that heddle collection merge makes of it.`,
		Example: "  heddle index dump books.hdl\n  heddle index dump books.hdl --term loom\n  heddle index dump books.hdl --doc 0",
	}, &indexDumpOptions{})
}

func (o *indexDumpOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.term, "term", "", "print the list of term `T`")
	fs.Int64Var(&o.doc, "doc", noDocument, "print the document with docID `N`")
	fs.Lookup("doc").DefValue = ""
}

func (o *indexDumpOptions) Validate(args []string) error {
	if o.term != "" && o.doc != noDocument {
		return errors.New("--term and --doc exclude each other")
	}
	return o.set(args, "index file")
}

// noDocument is the default of --doc.
const noDocument = math.MinInt64

func (o *indexDumpOptions) Run(ctx context.Context, a *App) (err error) {
	f, done, err := openIndex(ctx, o.path, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	out := bufio.NewWriter(a.Stdout)
	if o.doc != noDocument {
		err = report.WriteDocument(f, o.doc, out)
	} else if o.term == "" {
		err = report.WriteTerms(ctx, f, out)
	} else if h, ok := f.Lookup(o.term); ok {
		err = report.WriteList(f, h, out)
	} else {
		err = fmt.Errorf("%s has no term %q", o.path, o.term)
	}
	return errors.Join(err, out.Flush())
}
