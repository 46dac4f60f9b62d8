package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"heddle/engine/collection"
	"heddle/engine/collection/attributes"
	"heddle/engine/failure"
	"heddle/engine/file/input"
	"heddle/engine/index/build"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/handle"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/segments"
	"heddle/engine/internal/tables"
	counts "heddle/engine/table/facet"
)

// Collection is a set of documents that changes, in a folder: package collection has its rules. It
// answers as one fresh index of its documents, before and after merges. A change is in all further
// answers, and outlives a crash, when its method returns without an error.
//
// It is safe for concurrent use. One process changes a collection at a time, from its first change
// until Close; others read it, and find its changes by Refresh.
type Collection struct {
	segmented
	changes
	all *coordinator.Coordinator
}

type segmented = handle.Of[segments.Collection]

// CollectionOptions rule a collection. The zero value is the default.
type CollectionOptions struct {
	// Create makes the collection with these settings, if its folder is absent or empty. Default: nil, such a folder
	// is an error with code NotFound.
	Create *CollectionSettings
	// Name is the name of the collection in errors. Default: the base name of the folder.
	Name string
	// Creator is the name and version of the program, for the files. Default: "heddle".
	Creator string
	// MergeMemory bounds the attributes that a merge has in memory, in bytes. Two merges may run in the background, and Merge
	// beside them. Default: 64 MiB.
	MergeMemory uint64
}

// CollectionSettings are the settings of all documents of a collection. The zero value is the default.
type CollectionSettings struct {
	// Stem is a stemmer, such as "english". Default: "", none.
	Stem string
	// StopWords are left out of documents and queries. Default: none.
	StopWords []string
	// Fold removes accents. Default: false.
	Fold bool
	// Store is "text" to keep the texts of documents, or "source" to keep all of their members, which Update needs.
	// Default: "", nothing is kept.
	Store string
	// Positions keeps the positions of words, which phrases need. Default: false.
	Positions bool
	// Fields are members of documents that become fields: see build.Options.Fields. Default: none.
	Fields []string
	// Attributes are members of documents that filters and facets read. Default: none.
	Attributes []Attribute
}

// Attribute is a member of documents with its type: int, float, string, bool, time, decimal(10,2), or string[]
// for several values.
type Attribute = attributes.Column

// OpenCollection opens the collection in a folder. The caller closes it before the engine. Errors:
// codes NotFound, Corrupt, OutOfMemory, Closed, InvalidOption for settings that cannot be.
func (e *Engine) OpenCollection(ctx context.Context, dir string, opt CollectionOptions) (*Collection, error) {
	const op = "open collection"
	opt.Name = cmp.Or(opt.Name, filepath.Base(filepath.Clean(dir)))
	opt.Creator, opt.MergeMemory = cmp.Or(opt.Creator, "heddle"), cmp.Or(opt.MergeMemory, 64<<20)
	if opt.Create != nil && !collection.Is(dir) {
		if err := opt.create(ctx, dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, failure.Invalid(op, err)
		}
	}
	inner := segments.New(opt.Name, dir, segments.Open{
		Index: func(ctx context.Context, path string) (*lists.Index, error) {
			x, err := e.OpenIndex(ctx, path, IndexOptions{})
			if err != nil {
				return nil, err
			}
			return x.Internal(), nil
		},
		Table: func(ctx context.Context, path string) (*tables.Table, error) {
			t, err := e.OpenTable(ctx, path, TableOptions{})
			if err != nil {
				return nil, err
			}
			return t.Internal(), nil
		}})
	c := &Collection{segmented: handle.New(inner), changes: changes{opt: opt, log: e.opt.logger()}}
	c.all = coordinator.Within(inner, inner, coordinator.Options{Timeout: cmp.Or(e.opt.Timeout, -1), Limits: limit.Limits(e.opt.Limits)})
	if _, err := inner.Load(ctx); err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return c, nil
}

// create makes the collection.
func (o *CollectionOptions) create(ctx context.Context, dir string) error {
	set := build.DefaultOptions()
	set.Creator, set.Stem, set.StopWords, set.Fold, set.Store, set.Positions = o.Creator, o.Create.Stem, o.Create.StopWords, o.Create.Fold, o.Create.Store, o.Create.Positions
	set.Fields = o.Create.Fields
	return collection.Create(ctx, dir, set, o.Create.Attributes...)
}

// CollectionInfo describes the state of a collection.
type CollectionInfo struct {
	// State is the number of the state, from 1; each change adds 1.
	State uint64
	// Documents of the collection, without deleted ones.
	Documents uint64
	// Bound is above the number of each document. Deleted documents have numbers until a merge.
	Bound    uint64
	Segments int
}

func infoOf(m *collection.Manifest) CollectionInfo {
	return CollectionInfo{m.Epoch, m.Live(), m.Docs, len(m.Segments)}
}

// Refresh takes up the changes of another process: it opens the newest state, unless it is open. An error
// leaves the old state in use.
func (c *Collection) Refresh(ctx context.Context) (CollectionInfo, error) {
	m, err := c.Internal().Load(ctx)
	if err != nil {
		return CollectionInfo{}, failure.Wrap("refresh collection", err)
	}
	return infoOf(m), nil
}

// Search answers one query from the newest state. Docs of the answer are numbers in that state, which a merge
// changes: names of documents stay (Query.Names). Expr, Override and Explain of the query, and tables in filters, have code
// Unsupported: Where of a filter reads the attributes.
func (c *Collection) Search(ctx context.Context, q Query) (Hits, error) {
	return searchOne(ctx, c.SearchAll, q)
}

// SearchAll answers many queries from one state: see Index.SearchAll. Deliver is called once.
func (c *Collection) SearchAll(ctx context.Context, qs []Query, deliver func(first int, hits []Hits) error) error {
	return searchParts(ctx, c.all, c.Internal().Name(), qs, deliver)
}

// Facets counts the documents that match q per value of attributes: see Index.Facets. Table of f must be nil.
func (c *Collection) Facets(ctx context.Context, q Query, f Facets) (matches uint64, all []Facet, err error) {
	if f.Table != nil {
		return 0, nil, failure.Invalid("facets", errors.New("Facets.Table is for an index file: a collection has attributes of its own"))
	}
	asked, err := ForParts([]Query{q})
	if err != nil {
		return 0, nil, err
	}
	hits, _, err := c.all.SearchAll(ctx, c.Internal().Name(), asked, coordinator.Ask{Facets: &counts.Ask{Columns: f.Columns, Limit: f.Limit, CountOnly: f.CountOnly}})
	if err == nil {
		err = hits[0].Err
	}
	if err != nil {
		return 0, nil, failure.Wrap("facets", err)
	}
	return hits[0].Matches, hits[0].Facets, nil
}

// Document returns the document with a name, with the parts that f asks for: see Index.Document.
func (c *Collection) Document(ctx context.Context, name string, f Fields) (Contents, error) {
	if f.Table != nil {
		return Contents{}, failure.Invalid("find document", errors.New("Fields.Table is for an index file: a collection has attributes of its own"))
	}
	ask := f.Internal()
	_, d, err := c.all.Document(ctx, c.Internal().Name(), name, &ask)
	return d, failure.Wrap("find document", err)
}

// Statistics returns the statistics of the collection, with the document frequencies of terms.
func (c *Collection) Statistics(ctx context.Context, terms ...string) (Statistics, error) {
	s, err := c.all.Statistics(ctx, c.Internal().Name(), terms...)
	return s, failure.Wrap("statistics", err)
}

// searchOne answers one query by a method SearchAll.
func searchOne(ctx context.Context, all func(context.Context, []Query, func(int, []Hits) error) error, q Query) (h Hits, err error) {
	err = all(ctx, []Query{q}, func(_ int, hits []Hits) error {
		h = hits[0]
		return nil
	})
	if err != nil {
		h = Hits{}
	}
	return h, err
}

// searchParts answers queries on the parts of a coordinator.
func searchParts(ctx context.Context, all *coordinator.Coordinator, name string, qs []Query, deliver func(first int, hits []Hits) error) error {
	if len(qs) == 0 {
		return nil
	}
	asked, err := ForParts(qs)
	if err != nil {
		return err
	}
	names := false
	for _, q := range qs {
		names = names || q.Names
	}
	found, _, err := all.SearchAll(ctx, name, asked, coordinator.Ask{Names: names})
	if err != nil {
		return failure.Wrap("search", err)
	}
	var first error
	hits := make([]Hits, len(qs))
	for i, f := range found {
		h := Hits{Count: f.Count, Scores: f.Scores, Total: f.Total, Err: failure.Wrap("search", f.Err)}
		if h.Documents, h.After = f.Documents, f.After; qs[i].Names {
			h.Names = f.Names
		}
		if f.IDs != nil {
			h.Docs = make([]uint32, len(f.IDs))
		}
		for j, id := range f.IDs {
			if id > math.MaxUint32 {
				return &Error{Code: Unsupported, Op: "search", Err: fmt.Errorf("document %d: an answer has numbers up to %d", id, uint32(math.MaxUint32))}
			}
			h.Docs[j] = uint32(id)
		}
		if hits[i] = h; first == nil {
			first = h.Err
		}
	}
	if err := deliver(0, hits); err != nil {
		return err
	}
	return first
}

// ForParts are queries in the form of coordinators, which the packages of this module have. Such queries have no Expr,
// Override and Explain, and read no tables: the parts of an index have attributes of their own.
func ForParts(qs []Query) ([]partQuery, error) {
	all, fields := make([]partQuery, len(qs)), map[*Fields]*fetch.Ask{}
	for i, q := range qs {
		if q.Expr != nil || q.Override != nil || q.Explain != nil {
			return nil, &Error{Code: Unsupported, Op: "search", Err: fmt.Errorf("queries[%d]: a collection takes texts and terms, without Expr, Override and Explain", i)}
		}
		f := q.Filter.form()
		if q.Filter != nil {
			if err := forParts(f); err != nil {
				return nil, err
			}
		}
		if q.Fields != nil && fields[q.Fields] == nil {
			if q.Fields.Table != nil {
				return nil, &Error{Code: Unsupported, Op: "search", Err: errors.New("Fields.Table is for an index file: a collection has attributes of its own")}
			}
			ask := q.Fields.Internal()
			fields[q.Fields] = &ask
		}
		all[i] = q.forParts(f, fields[q.Fields])
	}
	return all, nil
}

// forParts refuses filters that read a table, and filters that are nil or that the limits leave out.
func forParts(f *filter.Filter) error {
	switch {
	case f == nil:
		return &Error{Code: InvalidQuery, Op: "search", Err: fmt.Errorf("filter: a filter in And is nil, or there are more than %d filters or %d levels", filter.MaxParts, filter.MaxDepth)}
	case f.Table != nil:
		return &Error{Code: Unsupported, Op: "search", Err: errors.New("filter: a collection takes Where without Table: it has attributes of its own")}
	}
	for _, a := range f.And {
		if err := forParts(a); err != nil {
			return err
		}
	}
	return nil
}

// refused reports whether an error is the fault of documents, or of the caller: no file has changed.
func refused(err error) bool {
	return errors.Is(err, input.ErrCorrupt) || errors.Is(err, collection.ErrDocuments) || errors.Is(err, collection.ErrSource)
}
