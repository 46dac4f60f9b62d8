package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/index/hdl"
)

type indexDocumentOptions struct{ path, name string }

func newIndexDocument(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "document X.hdl NAME",
		Short: "Print the document with a name",
		Long: `Document prints the first document with a name, as a line

  NAME TAB LENGTH IN TOKENS

followed by its text or source if the index stores documents (index build --store). It
compares the names of all documents.`,
		Example: "  heddle index document books.hdl c",
	}, &indexDocumentOptions{})
}

func (o *indexDocumentOptions) AddFlags(*pflag.FlagSet) {}

func (o *indexDocumentOptions) Validate(args []string) error {
	if len(args) != 2 {
		return errors.New("takes an index file and the name of a document")
	}
	o.path, o.name = args[0], args[1]
	return nil
}

func (o *indexDocumentOptions) Run(ctx context.Context, a *App) error {
	f, err := hdl.Open(o.path)
	if err != nil {
		return err
	}
	defer f.Close()
	for d, name := range f.Names(0) {
		if name == o.name {
			out := bufio.NewWriter(a.Stdout)
			return errors.Join(report.WriteDocument(f, int64(d), out), out.Flush())
		}
		if d%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s has no document named %q", o.path, o.name)
}
