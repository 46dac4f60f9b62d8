package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/memlimit"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/collection"
	"heddle/engine/file/input"
	"heddle/engine/index/build"
)

// mostUnmerged is the number of segments that add --no-merge leaves.
const mostUnmerged = 10

type collectionAdd struct {
	settings
	documents
	dir        string
	inputs     []string
	noMerge    bool
	json       bool
	noProgress bool
	given      func(flag string) bool
}

func newCollectionAdd(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "add DIR INPUT… [flags]",
		Short: "Add documents to a collection, or replace them",
		Long: `Add builds a segment from the inputs, in the formats text, jsonl, trec and warc of heddle
index build, and adds it to the collection. A document takes the place of an earlier one with the
same name, in the collection or in the inputs. A document without a name is an error.

All documents of the inputs appear at once. Then add joins small segments: five neighbours of
about the same size become one, so that a document is written again only when its segment has
grown fivefold. Readers see the documents before that. With --no-merge add joins them only
where there are more than 10, because a query pays for each segment.

A value that its attribute cannot hold is an error. With --invalid replace the document has
no such value, and a warning tells their number and the first.`,
		Example: `  heddle collection add news day1.jsonl
  printf 'a\tthe red loom\nb\tthe blue loom\n' | heddle collection add news --format text -`,
	}, &collectionAdd{})
}

func (o *collectionAdd) AddFlags(fs *pflag.FlagSet) {
	o.addFormat(fs, []build.Format{build.Auto, build.Text, build.JSONL, build.TREC, build.WARC})
	o.Add(fs, "build-memory")
	o.addInvalid(fs)
	o.addMembers(fs)
	o.given = fs.Changed
	fs.BoolVar(&o.noMerge, "no-merge", false, "leave up to 10 small segments as they are")
	addJSON(fs, &o.json)
	addNoProgress(fs, &o.noProgress)
}

func (o *collectionAdd) Validate(args []string) error {
	if len(args) < 2 {
		return errors.New("takes a folder and at least one input (- is standard input)")
	}
	o.dir, o.inputs = args[0], args[1:]
	return o.documents.validate()
}

func (o *collectionAdd) Run(ctx context.Context, a *App) error {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	opt := build.DefaultOptions()
	o.apply(&opt)
	room, restore, err := memlimit.Set(uint64(c.Index.BuildMemory), buildFixed)
	if err != nil {
		return err
	}
	defer restore()
	var bar terminal.Progress
	opt.MemoryLimit, opt.Stdin, opt.Progress = room, a.Stdin, a.indexing(&bar, o.noProgress)
	values := collection.Options{Memory: room}
	if o.given("invalid") { // the default is of documents
		values.InvalidValues = opt.Invalid
	}
	return change(o.dir, values, func(w *collection.Writer) error {
		added, err := w.Add(ctx, o.inputs, opt)
		bar.End()
		if err != nil {
			return err
		}
		added.Duplicates = 0 // they are replaced
		report.Warn(log, &added.Summary)
		built := report.NewBuild(o.dir, &added.Summary)
		r := &report.CollectionChange{Path: o.dir, Epoch: added.Epoch, Added: &added.Documents, Replaced: &added.Replaced, Documents: w.Manifest().Live(),
			Invalid: &built.Invalid, Warnings: built.Warnings, LeftOut: built.LeftOut}
		if err := a.print(r, o.json); err != nil || o.noMerge && len(w.Manifest().Segments) <= mostUnmerged {
			return err
		}
		return w.Maintain(ctx)
	})
}

type collectionDelete struct {
	dir, names, where string
	zero, json        bool
}

func newCollectionDelete(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "delete DIR (--names FILE [--null] | --where PREDICATE) [--json]",
		Short: "Delete documents of a collection by their names or attributes",
		Long: `Delete removes the documents with the names of a file, one name per line. With --null each
name ends in a zero byte instead, so that names may have line breaks. The file may be
compressed by gzip, zstd or bzip2; - is standard input. A name that no document has is no
error; delete prints the number of such names. --where deletes the documents whose
attributes make a predicate true (heddle search --where). The documents leave all answers
and scores at once, and the files at the next merge of their segment.`,
		Example: "  heddle collection delete news --names old.txt\n  printf 'a\\n' | heddle collection delete news --names -\n" +
			"  heddle collection delete stories --where 'year < 2001'",
	}, &collectionDelete{})
}

func (o *collectionDelete) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.names, "names", "", "delete the documents that this `FILE` names, one per line")
	fs.StringVar(&o.where, "where", "", "delete the documents whose attributes make this `PREDICATE` true")
	fs.BoolVar(&o.zero, "null", false, "names end in a zero byte instead of a line break")
	addJSON(fs, &o.json)
}

func (o *collectionDelete) Validate(args []string) (err error) {
	if (o.names == "") == (o.where == "") {
		return errors.New("takes either --names or --where")
	}
	o.dir, err = oneArgument(args, "folder")
	return err
}

func (o *collectionDelete) Run(ctx context.Context, a *App) error {
	if o.where != "" {
		r, err := opened(ctx, o.dir, func(c *engine.Collection) (*report.CollectionChange, error) {
			done, err := c.DeleteMatches(ctx, engine.Query{Filter: &engine.Filter{Where: o.where}})
			return &report.CollectionChange{Path: o.dir, Epoch: done.State, Deleted: &done.Deleted, Documents: done.Documents}, err
		})
		if err != nil {
			return err
		}
		return a.print(r, o.json)
	}
	in, err := (&input.Opener{Ctx: ctx, Stdin: a.Stdin}).Open(o.names)
	if err != nil {
		return err
	}
	defer in.Close()
	return change(o.dir, collection.Options{}, func(w *collection.Writer) error {
		removed, err := w.Delete(ctx, namesOf(o.names, in, o.zero))
		if err != nil {
			return err
		}
		return a.print(&report.CollectionChange{Path: o.dir, Epoch: removed.Epoch, Deleted: &removed.Deleted, Missing: &removed.Missing, Documents: w.Manifest().Live()}, o.json)
	})
}

// namesOf yields the names in a file, each on a line or before a zero byte. An error ends them.
func namesOf(path string, in io.Reader, zero bool) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		s := bufio.NewScanner(in)
		s.Buffer(nil, 1<<17)
		if zero {
			s.Split(scanZero)
		}
		for s.Scan() {
			if !yield(s.Text(), nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield("", fmt.Errorf("%s: %w", path, err))
		}
	}
}

// scanZero is a bufio.SplitFunc for parts that end in a zero byte.
func scanZero(data []byte, end bool) (advance int, part []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if end && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// isFolder reports whether a path is a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
