package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/hdl"
	"heddle/engine/plan"
)

type indexDumpOptions struct {
	path string
	term string
}

func newIndexDump(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "dump X.hdl [--term T]",
		Short: "Print the terms of an index, or the list of one",
		Long: `Dump prints the terms in ascending order, one a line:

  TERM TAB DOCUMENTS TAB CODEC TAB BYTES OF THE LIST

or with --term the list of one term, one posting a line:

  DOCID TAB FREQUENCY

The term is taken as the index has it: lower case, stemmed if the index is.`,
		Example: "  heddle index dump books.hdl\n  heddle index dump books.hdl --term loom",
	}, &indexDumpOptions{})
}

func (o *indexDumpOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.term, "term", "", "print the list of term `T`")
}

func (o *indexDumpOptions) Validate(args []string) (err error) {
	o.path, err = oneArgument(args, "one index file")
	return err
}

func (o *indexDumpOptions) Run(ctx context.Context, a *App) error {
	f, err := hdl.Open(o.path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(a.Stdout)
	if o.term == "" {
		err = dumpTerms(ctx, f, out)
	} else if h, ok := f.Lookup(o.term); ok {
		err = dumpList(f, h, out)
	} else {
		err = fmt.Errorf("%s has no term %q", o.path, o.term)
	}
	return errors.Join(err, out.Flush())
}

func dumpTerms(ctx context.Context, f *hdl.File, out *bufio.Writer) error {
	for h := range f.Terms() {
		if h%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l := f.Source().Lists[h]
		if _, err := fmt.Fprintf(out, "%s\t%d\t%s\t%d\n", field(f.Term(plan.Handle(h))), l.Len, l.Codec, 4*uint64(l.Words)); err != nil {
			return err
		}
	}
	return nil
}

func dumpList(f *hdl.File, h plan.Handle, out *bufio.Writer) error {
	docs, err := f.Source().List(h).AppendTo(nil)
	if err != nil {
		return fmt.Errorf("%s: term %q: %w", f.Path(), f.Term(h), err)
	}
	freqs, err := f.Freqs(nil, h)
	if err != nil {
		return err
	}
	for i, d := range docs {
		if _, err := fmt.Fprintf(out, "%d\t%d\n", d, freqs[i]); err != nil {
			return err
		}
	}
	return nil
}
