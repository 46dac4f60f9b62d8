package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/file/input"
)

// opened runs a change of a collection that needs answers, by package engine.
func opened(ctx context.Context, dir string, run func(c *engine.Collection) (*report.CollectionChange, error)) (r *report.CollectionChange, err error) {
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	x, err := e.OpenCollection(ctx, dir, engine.CollectionOptions{Creator: thisBuild().String()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	return run(x)
}

type collectionUpdate struct {
	dir, input string
	json       bool
}

func newCollectionUpdate(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "update DIR INPUT [--json]",
		Short: "Change members of documents",
		Long: `Update changes documents of a collection that stores sources (create --store source). A line of
the input is a JSON object with the name of a document. Its members replace the members of the
document, null removes one, and objects are changed member by member (RFC 7396). All documents
change at once, or none. A name that no document has is no error; update prints their number. The
input may be compressed; - is standard input.`,
		Example: `  printf '{"id":"tuesday","year":2001}\n' | heddle collection update stories -`,
	}, &collectionUpdate{})
}

func (o *collectionUpdate) AddFlags(fs *pflag.FlagSet) { addJSON(fs, &o.json) }

func (o *collectionUpdate) Validate(args []string) error {
	if len(args) != 2 {
		return errors.New("takes a folder and an input (- is standard input)")
	}
	o.dir, o.input = args[0], args[1]
	return nil
}

func (o *collectionUpdate) Run(ctx context.Context, a *App) error {
	in, err := (&input.Opener{Ctx: ctx, Stdin: a.Stdin}).Open(o.input)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := opened(ctx, o.dir, func(c *engine.Collection) (*report.CollectionChange, error) {
		done, err := c.UpdateLines(ctx, in)
		return &report.CollectionChange{Path: o.dir, Epoch: done.State, Updated: &done.Added, Missing: &done.Missing, Documents: done.Documents}, err
	})
	if err != nil {
		return err
	}
	return a.print(r, o.json)
}
