package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/memlimit"
	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/collection"
	"heddle/engine/collection/attributes"
	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
)

func newCollection(a *App) *cobra.Command {
	return group("collection", "Keep documents that change in a folder",
		`Collection works on a folder of documents that change. heddle search and heddle serve take
the folder in place of an index file. One process changes a collection at a time; readers
go on with the state that they have opened. A change is complete, and outlives a crash,
when its command has ended with exit code 0.

The name of a document stands for it: a document that is added under the name of another
one replaces it. Deleted and replaced documents count in no answer and no score.`,
		newCollectionCreate(a), newCollectionAdd(a), newCollectionUpdate(a), newCollectionDelete(a), newCollectionMerge(a), newCollectionInfo(a), newCollectionVerify(a),
		newCollectionExport(a), newCollectionBackup(a), newCollectionRestore(a), newCollectionCalibrate(a))
}

type collectionCreate struct {
	settings
	documents
	onePath
	tokens     string
	attributes []string
}

func newCollectionCreate(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "create DIR [flags]",
		Short: "Make a collection without documents",
		Long: `Create makes a collection in a folder, which must be absent or empty. The settings hold for all
of its documents: see heddle index build. There are no impacts, because they depend on all
documents. Collections of vectors need --tokenizer ` + analyze.TokensSpaces + `.

--attribute keeps the members of JSON lines with this name as a column, for searches with
--where and --facets. Types are the types of heddle bitmap build --type; string[] takes arrays.
author.name is the member name of the object author, or of objects in an array. Such a collection
takes only JSON lines. A document without the member has no value; an empty text is a value only
in a column of texts. A value that the type cannot hold is an error of heddle collection add, or
left out (add --invalid replace): integers are numbers without fraction and exponent (not 1.0 or
1e3), and only floats are rounded.

--fields title,body makes fields of members, columns or elements: see heddle index build.

--store source keeps the objects of JSON lines, so that heddle collection update can change
members. --text and --id then hold for all documents, not for each addition.`,
		Example: "  heddle collection create letters\n  heddle collection create poems --stem english --store text\n" +
			"  heddle collection create articles --attribute year=int --attribute 'tags=string[]'",
	}, &collectionCreate{})
}

func (o *collectionCreate) AddFlags(fs *pflag.FlagSet) {
	addTokenizer(fs, &o.tokens)
	fs.StringArrayVar(&o.attributes, "attribute", nil, "keep this member of JSON lines as a column, `NAME=TYPE`; may be repeated")
	o.addMembers(fs)
	o.addFields(fs)
	o.Add(fs, "codec", "exception-ratio", "dense", "stem", "stopwords", "cjk", "fold", "lengths", "store", "positions")
}

func (o *collectionCreate) Validate(args []string) error {
	if err := attributes.Check(o.columns()); err != nil {
		return fmt.Errorf("--attribute: %w", err)
	}
	return o.set(args, "folder")
}

// columns returns the declared attributes.
func (o *collectionCreate) columns() (all []attributes.Column) {
	for _, text := range o.attributes {
		name, kind, _ := strings.Cut(text, "=")
		all = append(all, attributes.Column{Name: name, Type: kind})
	}
	return all
}

func (o *collectionCreate) Run(ctx context.Context, a *App) error {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	opt, err := settingsOf(c, o.tokens)
	if err != nil {
		return err
	}
	if opt.Text, opt.ID = o.text, o.id; (o.text != nil || o.id != "") && opt.Store != hdl.StoreSource {
		return usageError{errors.New("--text and --id are for --store source: without it, give them to heddle collection add")}
	}
	opt.Fields = o.fields
	return collection.Create(ctx, o.path, opt, o.columns()...)
}

// change opens a collection for changes.
func change(dir string, opt collection.Options, run func(w *collection.Writer) error) (err error) {
	opt.Creator = thisBuild().String()
	w, err := collection.Open(dir, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return run(w)
}

type collectionMerge struct {
	settings
	onePath
	json bool
}

func newCollectionMerge(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "merge DIR [flags]",
		Short: "Join all segments of a collection",
		Long: `Merge writes all documents of a collection to one segment and drops deleted documents. The index
file of the segment is the file that index build writes for the same documents. Readers go on
with the old segments, which need room on the disk until the next change.

--build-memory bounds the memory of the process for attributes. Merge takes up to 32 bytes for
each document on top; the system can drop the parts of files that it keeps in memory.

Merge is optional: heddle collection add joins small segments by itself.`,
		Example: `  heddle collection merge news`,
	}, &collectionMerge{})
}

func (o *collectionMerge) AddFlags(fs *pflag.FlagSet) {
	o.Add(fs, "build-memory")
	addJSON(fs, &o.json)
}

func (o *collectionMerge) Validate(args []string) error { return o.set(args, "folder") }

func (o *collectionMerge) Run(ctx context.Context, a *App) error {
	c, _, err := o.load(a)
	if err != nil {
		return err
	}
	room, restore, err := memlimit.Set(uint64(c.Index.BuildMemory), buildFixed)
	if err != nil {
		return err
	}
	defer restore()
	return change(o.path, collection.Options{Memory: room}, func(w *collection.Writer) error {
		if err := w.Merge(ctx); err != nil {
			return err
		}
		return a.print(report.NewCollection(o.path, w.Manifest()), o.json)
	})
}

type collectionInfo struct {
	onePath
	json bool
}

func newCollectionInfo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "info DIR [--json]",
		Short: "Print the state and the segments of a collection",
		Long: `Info prints the number of the state, the documents, the settings and the segments of a
collection. heddle index info describes the index file of a segment.`,
		Example: "  heddle collection info news\n  heddle collection info news --json",
	}, &collectionInfo{})
}

func (o *collectionInfo) AddFlags(fs *pflag.FlagSet)   { addJSON(fs, &o.json) }
func (o *collectionInfo) Validate(args []string) error { return o.set(args, "folder") }

func (o *collectionInfo) Run(_ context.Context, a *App) error {
	m, err := collection.Read(o.path)
	if err != nil {
		return err
	}
	return a.print(report.NewCollection(o.path, m), o.json)
}

// isCollection reports whether the path of an index is a folder, which must be a collection then.
func isCollection(path string) (bool, error) {
	if !isFolder(path) {
		return false, nil
	}
	if !collection.Is(path) {
		return false, fmt.Errorf("%s is a folder without the %s of a collection", path, layout.ManifestName)
	}
	return true, nil
}
