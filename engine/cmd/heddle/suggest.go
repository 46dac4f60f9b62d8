package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
)

type suggestOptions struct {
	path, prefix string
	most         int
}

func newSuggest(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "suggest (X.hdl|COLLECTION) PREFIX",
		Short: "Print the most frequent terms with a beginning",
		Long: `Suggest prints the terms that begin with PREFIX and that the most documents have, as lines

  TERM TAB DOCUMENTS

The analysis of the index changes the characters of PREFIX, but does not stem it. Terms of an
index with fields have their field in front (title:loom); title:lo asks for terms of one field.`,
		Example: "  heddle suggest books.hdl lo -n 5",
	}, &suggestOptions{})
}

func (o *suggestOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntVarP(&o.most, "number", "n", 10, "most terms, 1 to 1000")
}

func (o *suggestOptions) Validate(args []string) error {
	if len(args) != 2 {
		return errors.New("takes an index file or a collection, and the beginning of a word")
	}
	if o.most < 1 {
		return fmt.Errorf("--number %d: want 1 to 1000", o.most)
	}
	o.path, o.prefix = args[0], args[1]
	return nil
}

func (o *suggestOptions) Run(ctx context.Context, a *App) (err error) {
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	terms, err := o.terms(ctx, e)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Stdout)
	for _, t := range terms {
		fmt.Fprintf(out, "%s\t%d\n", terminal.Field(t.Term), t.Documents)
	}
	return out.Flush()
}

func (o *suggestOptions) terms(ctx context.Context, e *engine.Engine) ([]engine.Suggestion, error) {
	folder, err := isCollection(o.path)
	if err != nil {
		return nil, err
	}
	if folder {
		c, err := e.OpenCollection(ctx, o.path, engine.CollectionOptions{})
		if err != nil {
			return nil, err
		}
		defer c.Close()
		return c.Suggest(ctx, o.prefix, o.most)
	}
	x, err := e.OpenIndex(ctx, o.path, engine.IndexOptions{})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Suggest(ctx, o.prefix, o.most)
}
