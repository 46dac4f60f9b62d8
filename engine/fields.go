package engine

import (
	"context"
	"errors"

	"heddle/engine/failure"
	"heddle/engine/index/contents"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/part"
)

// Fields asks for parts of the documents of an answer, in Hits.Documents. The zero value asks for none but the name.
// Stored parts need an index with stored documents (index build --store).
type Fields struct {
	// Members of the stored JSON object, such as "title" or "meta.year". Default: nil, none.
	Members []string
	// Source asks for the whole object, or for the text as a JSON string if the index stores texts.
	Source bool
	// Snippet asks for the part of the text with the most words of the query. Default: nil, none.
	Snippet *Snippet
	// Attributes are columns of Table, an attribute table of the index; "*" is all. Default: nil, none.
	Attributes []string
	Table      *Table
}

// Snippet says how snippets look. Words and phrases of a field are marked in its text alone, unless the index has the lengths of Lucene. With
// Expansion.Top a segment or shard marks the most frequent of its own terms.
type Snippet struct {
	// Size is about the number of bytes of the text, 1 to 100,000.
	Size int
	// Mark are texts before and behind a word of the query. Default: empty, no marks.
	Mark [2]string
	// Escape escapes the text for HTML, but not the marks.
	Escape bool
}

// Contents is the name of a document, and the parts that Fields asked for. JSON stands as it was stored.
type Contents = contents.Document

// Internal returns the internal form.
func (f *Fields) Internal() fetchAsk {
	a := fetchAsk{Members: f.Members, Source: f.Source, Attributes: f.Attributes}
	if f.Snippet != nil {
		s := fetch.Snippet(*f.Snippet)
		a.Snippet = &s
	}
	return a
}

// fetches reports whether the query asks for names or documents.
func (o *Query) fetches() bool { return o.Names || o.Fields != nil }

// fetchHits adds the names and documents of h that o asks for.
func fetchHits(ctx context.Context, g *lists.Generation, o *Query, h *Hits) error {
	if o.Fields != nil {
		r := &fetch.Request{Ask: o.Fields.Internal(), Queries: []fetch.Query{{Text: o.Text, Literal: o.Literal, Terms: o.Terms, Expr: o.Expr, Fixed: o.Expansion.PrefixLength}}}
		var err error
		if h.Documents, err = documents(ctx, g, o.Fields.Table, r, h.Docs); err != nil {
			return err
		}
	}
	if o.Names {
		if g.File == nil {
			return &Error{Code: Unsupported, Op: "search", Err: errors.New("an index in memory has no names of documents")}
		}
		h.Names = make([]string, len(h.Docs))
		for i, d := range h.Docs {
			if h.Documents != nil {
				h.Names[i] = h.Documents[i].Name
				continue
			}
			var err error
			if h.Names[i], err = fetch.Name(g.File, d); err != nil {
				return failure.Wrap("fetch", err)
			}
		}
	}
	return nil
}

func documents(ctx context.Context, g *lists.Generation, table *Table, r *fetch.Request, docs []uint32) ([]Contents, error) {
	l := fetch.List{Docs: docs}
	if r.Snippet != nil {
		l.Of = make([]uint32, len(docs))
	}
	return partOf(g, table).Documents(ctx, r, l)
}

// partOf is the content of an index with an attribute table, which may be nil.
func partOf(g *lists.Generation, table *Table) *part.Part {
	p := &part.Part{Generation: g}
	if table != nil {
		p.Attributes = table.Internal()
	}
	return p
}

// Document returns the document with a name, the first one if there are several, with the parts that f asks for. A
// snippet is the begin of the text. The first call reads the names of all documents, on all cores, and keeps 5.5 bytes a
// document for the next ones. Errors: codes NotFound;
// InvalidOption for parts that the index lacks; Unsupported for an index in memory, which has no names.
func (x *Index) Document(ctx context.Context, name string, f Fields) (Contents, error) {
	s, err := x.Snapshot()
	if err != nil {
		return Contents{}, err
	}
	defer s.Close()
	_, d, err := s.Document(ctx, name, f)
	return d, err
}

// Document is Index.Document on the snapshot, and returns the docID too.
func (s *Snapshot) Document(ctx context.Context, name string, f Fields) (doc uint32, d Contents, err error) {
	g, err := s.lists("find document")
	if err != nil {
		return 0, d, err
	}
	doc, found, err := partOf(g, nil).Find(ctx, name)
	if err != nil {
		return 0, d, err
	}
	if !found {
		return 0, d, coordinator.NoDocument(g.File.Path(), name)
	}
	all, err := documents(ctx, g, f.Table, &fetch.Request{Ask: f.Internal(), Queries: []fetch.Query{{}}}, []uint32{doc})
	if err != nil {
		return 0, d, err
	}
	return doc, all[0], nil
}

// Documents returns documents by their docIDs, with the parts that f asks for, for the query that has found them.
func (s *Snapshot) Documents(ctx context.Context, q Query, docs []uint32, f Fields) ([]Contents, error) {
	g, err := s.lists("fetch")
	if err != nil {
		return nil, err
	}
	h := Hits{Docs: docs}
	q.Fields = &f
	err = fetchHits(ctx, g, &q, &h)
	return h.Documents, err
}
