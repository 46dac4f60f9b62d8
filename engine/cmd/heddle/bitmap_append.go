package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/folder"
)

type bitmapAppendOptions struct{ dir, file string }

func newBitmapAppend(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "append DIR X.hdb",
		Short: "Add a table file to a folder, which is one table",
		Long: `Append adds a table file to a folder of table files, under its own name. Readers see the
whole file or none. The columns must equal the columns of the files that are there. The
folder is created if it does not exist. The file is linked, or copied from another file
system; it must not be changed in place.

The rows of the table are the rows of all files by their names: names such as
2025-11-29.hdb keep days in order. The first command that opens a changed folder merges
its files, which takes the time of a build, and keeps the table in HEDDLE_CACHE.`,
		Example: "  heddle bitmap append flights 2025-11-29.hdb\n  heddle bitmap query flights --where 'delay >= 60'",
	}, &bitmapAppendOptions{})
}

func (o *bitmapAppendOptions) AddFlags(*pflag.FlagSet) {}

func (o *bitmapAppendOptions) Validate(args []string) error {
	if len(args) != 2 {
		return errors.New("a folder and a table file are expected")
	}
	o.dir, o.file = args[0], args[1]
	return nil
}

func (o *bitmapAppendOptions) Run(_ context.Context, a *App) error {
	if err := folder.Append(o.dir, o.file); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "%s: added\n", terminal.Field(filepath.Join(o.dir, filepath.Base(o.file))))
	return err
}
