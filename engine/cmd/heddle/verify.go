package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/collection"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/folder"
	"heddle/engine/table/hdb"
)

// verifyOptions are the options of index verify and bitmap verify.
type verifyOptions[F verifiable] struct {
	onePath
	name     string // name of the argument in the usage
	folder   bool   // the argument may be a collection
	open     func(path string) (F, error)
	contents func(F) string
}

// verifiable is a file that can check itself.
type verifiable interface {
	Verify(context.Context) error
	Checksum() uint64
	Close() error
}

func newIndexVerify(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "verify (X.hdl | DIR)",
		Short: "Check an index completely",
		Long: `Verify checks all checksums, decodes all lists, and checks order, counts, frequencies
and the dictionary. For a damaged file it prints the position of the damage and exits
with code 3. For the folder of a collection it does the same as heddle collection verify.`,
		Example: "  heddle index verify books.hdl",
	}, &verifyOptions[*hdl.File]{name: "index file", folder: true, open: hdl.Open, contents: func(f *hdl.File) string {
		m := f.Meta()
		return fmt.Sprintf("%d documents, %d terms, %d postings", m.Docs, m.Terms, m.Postings)
	}})
}

func newBitmapVerify(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "verify (X.hdb | DIR)",
		Short: "Check a table completely",
		Long: `Verify checks all checksums and bit vectors, and checks for every row that its value
belongs to its bin. For a damaged file it prints the position of the damage and exits
with code 3. Of a folder it checks each file, and that all have equal columns.`,
		Example: "  heddle bitmap verify flights.hdb",
	}, &verifyOptions[*tableFiles]{name: "table file", open: openTableFiles, contents: func(f *tableFiles) string {
		return fmt.Sprintf("%d rows, %d columns, %d vectors", f.Rows(), len(f.Columns()), len(f.Table().Vectors))
	}})
}

// tableFiles is a table with the files of its folder, if it is one.
type tableFiles struct {
	*hdb.File
	files []string
}

func openTableFiles(path string) (*tableFiles, error) {
	files, err := folder.Files(nil, path)
	if err != nil {
		return nil, err
	}
	f, err := folder.Open(context.Background(), nil, path, false)
	return &tableFiles{f, files}, err
}

// Verify checks the files, then the table.
func (t *tableFiles) Verify(ctx context.Context) error {
	for _, path := range t.files {
		f, err := hdb.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Verify(ctx), f.Close()); err != nil {
			return err
		}
	}
	return t.File.Verify(ctx)
}

type collectionVerify struct{ onePath }

func newCollectionVerify(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "verify DIR",
		Short: "Check a collection completely",
		Long: `Verify reads all files of a collection. It compares their sizes and checksums with the
manifest, checks each index and attribute table as heddle index verify and heddle bitmap
verify do, and looks up each document by its name. It prints all damaged files and exits
with code 3. Documents can be added, deleted and merged meanwhile.`,
		Example: "  heddle collection verify news",
	}, &collectionVerify{})
}

func (o *collectionVerify) AddFlags(*pflag.FlagSet)      {}
func (o *collectionVerify) Validate(args []string) error { return o.set(args, "folder") }

func (o *collectionVerify) Run(ctx context.Context, a *App) error {
	m, err := collection.Verify(ctx, o.path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is valid: state %d, %d documents, %d deleted, %d segments\n", terminal.Field(o.path), m.Epoch, m.Live(), m.Docs-m.Live(), len(m.Segments))
	return err
}

func (o *verifyOptions[F]) AddFlags(*pflag.FlagSet) {}

func (o *verifyOptions[F]) Validate(args []string) error { return o.set(args, o.name) }

func (o *verifyOptions[F]) Run(ctx context.Context, a *App) error {
	if o.folder && isFolder(o.path) {
		return (&collectionVerify{o.onePath}).Run(ctx, a)
	}
	f, err := o.open(o.path)
	if err != nil {
		return err
	}
	if err := f.Verify(ctx); err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is valid: %s, checksum %016x\n", terminal.Field(o.path), o.contents(f), f.Checksum())
	return errors.Join(err, f.Close())
}
