package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/collection"
	"heddle/engine/index/export"
	"heddle/engine/index/hdl"
)

// collectionCopy is the command backup or restore.
type collectionCopy struct {
	from, to   string
	copy, json bool
	run        func(ctx context.Context, from, to string, opt collection.CopyOptions) (collection.Copied, error)
}

func newCollectionBackup(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "backup DIR TO [--copy] [--json]",
		Short: "Copy a collection to another folder",
		Long: `Backup copies the newest state of a collection to a folder that is new, empty or an earlier
backup of the collection. It then writes only the segments that the backup lacks, and removes
files that are no longer needed. The checksum of each file that it writes is compared with the
manifest. Documents can be added, deleted and merged meanwhile: a backup has one state, and
after a crash its former state or the new one.

On the same file system files become hard links, which take no room: the files of a collection
never change. A fault of the disk damages both then; --copy copies the bytes. The backup is a
collection: heddle search and heddle collection verify take it.`,
		Example: "  heddle collection backup news backup\n  heddle collection verify backup",
	}, &collectionCopy{run: collection.Backup})
}

func newCollectionRestore(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "restore BACKUP DIR [--copy] [--json]",
		Short: "Make a collection from a backup",
		Long: `Restore makes the collection of a backup in a folder, which must be absent or empty. It
compares the checksums of all files; a damaged file is an error with exit code 3, and the
folder is removed. On the same file system files become hard links, unless --copy is given.`,
		Example: "  heddle collection restore backup restored",
	}, &collectionCopy{run: collection.Restore})
}

func (o *collectionCopy) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.copy, "copy", false, "copy the bytes of all files, in place of hard links")
	addJSON(fs, &o.json)
}

func (o *collectionCopy) Validate(args []string) error {
	if len(args) != 2 {
		return errors.New("takes two folders: from and to")
	}
	o.from, o.to = args[0], args[1]
	return nil
}

func (o *collectionCopy) Run(ctx context.Context, a *App) error {
	done, err := o.run(ctx, o.from, o.to, collection.CopyOptions{Copy: o.copy})
	if err != nil {
		return err
	}
	return a.print(&report.Copied{Path: o.to, Epoch: done.Epoch, Documents: done.Documents, Files: done.Files, Written: done.Written, Linked: done.Linked, Bytes: done.Bytes}, o.json)
}

// documentsFormat is the format of collection export that is no format of an index.
const documentsFormat export.Format = "documents"

type collectionExport struct{ indexExportOptions }

func newCollectionExport(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "export DIR [--format FORMAT] [-o OUTPUT]",
		Short: "Write the documents of a collection",
		Long: `Export writes the documents of the newest state of a collection, in a format:

  documents        JSON lines that heddle collection add reads: the stored sources
                   (--store source), or id and text of a collection that stores texts
  ciff pisa jsonl  the index of the documents: see heddle index export

The index formats need room for one index file beside OUTPUT, or in the folder for temporary
files.`,
		Example: "  heddle collection export news | gzip > news.jsonl.gz\n  heddle collection export news --format ciff -o news.ciff",
	}, &collectionExport{})
}

func (o *collectionExport) AddFlags(fs *pflag.FlagSet) {
	o.add(fs, documentsFormat, append([]export.Format{documentsFormat}, export.Formats()...))
}

func (o *collectionExport) Validate(args []string) error { return o.validate(args, "folder") }

func (o *collectionExport) Run(ctx context.Context, a *App) (err error) {
	if o.format != string(documentsFormat) {
		return o.indexExportOptions.Run(ctx, a)
	}
	if o.out == "-" {
		_, err = collection.WriteDocuments(ctx, o.path, a.Stdout)
		return err
	}
	return forcible(export.File(o.out, o.force, func(to *bufio.Writer) error {
		_, err := collection.WriteDocuments(ctx, o.path, to)
		return err
	}))
}

// openIndex opens an index file, or the index that a merge of a collection writes; done closes it.
func openIndex(ctx context.Context, path, beside string) (f *hdl.File, done func() error, err error) {
	folder, err := isCollection(path)
	if err != nil {
		return nil, nil, err
	}
	if !folder {
		f, err := hdl.Open(path)
		if err != nil {
			return nil, nil, err
		}
		return f, f.Close, nil
	}
	dir, err := os.MkdirTemp(beside, ".heddle-merged-")
	if err != nil {
		return nil, nil, err
	}
	merged := filepath.Join(dir, "merged.hdl")
	if err = collection.WriteIndex(ctx, path, merged, thisBuild().String()); err == nil {
		f, err = hdl.Open(merged)
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return f, func() error { return errors.Join(f.Close(), os.RemoveAll(dir)) }, nil
}

type collectionCalibrate struct{ calibrateOptions }

func newCollectionCalibrate(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "calibrate DIR [flags]",
		Short: "Fit the scheduler's cost models of a collection on this machine",
		Long: `Calibrate fits the cost models of each segment as heddle calibrate does for an index file,
from the largest segment to the smallest, and keeps them beside the segments. A merge makes
segments without models: calibrate again after large merges.`,
		Example: "  heddle collection calibrate news --time 1s",
	}, &collectionCalibrate{})
}

func (o *collectionCalibrate) Validate(args []string) error { return o.validate(args, "folder") }

func (o *collectionCalibrate) Run(ctx context.Context, a *App) error {
	m, err := collection.Read(o.path)
	if err != nil {
		return err
	}
	for _, s := range m.Largest() {
		one := o.calibrateOptions
		one.path = filepath.Join(o.path, s.File)
		if err := one.Run(ctx, a); err != nil {
			return fmt.Errorf("%s: %w", s.File, err)
		}
	}
	return nil
}
