package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/index/hdl"
)

type indexVerifyOptions struct{ path string }

func newIndexVerify(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "verify X.hdl",
		Short: "Check every byte, list and count of an index",
		Long: `Verify checks all checksums, decodes every list, and checks order, counts,
frequencies and the dictionary. It exits with 3 and names the byte where a
damaged file is wrong.`,
		Example: "  heddle index verify books.hdl",
	}, &indexVerifyOptions{})
}

func (o *indexVerifyOptions) AddFlags(*pflag.FlagSet) {}

func (o *indexVerifyOptions) Validate(args []string) (err error) {
	o.path, err = oneArgument(args, "one index file")
	return err
}

func (o *indexVerifyOptions) Run(ctx context.Context, a *App) error {
	f, err := hdl.Open(o.path)
	if err != nil {
		return err
	}
	if err := f.Verify(ctx); err != nil {
		return errors.Join(err, f.Close())
	}
	m := f.Meta()
	_, err = fmt.Fprintf(a.Stdout, "%s is fine: %d documents, %d terms, %d postings, checksum %016x\n",
		o.path, m.Docs, m.Terms, m.Postings, f.Checksum())
	return errors.Join(err, f.Close())
}
