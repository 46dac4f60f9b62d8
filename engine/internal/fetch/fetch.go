// Package fetch reads the parts of documents that answers show: names, members of stored sources, snippets and
// attributes. It is the second step of a search, for the documents that the answer has.
package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/build/records"
	"heddle/engine/index/contents"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/index/snippet"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// Ask says which parts documents have beside their names: see engine.Fields.
type Ask struct {
	Members    []string
	Source     bool
	Snippet    *Snippet // nil: none
	Attributes []string
	// Lenient leaves out the source and attributes that an index lacks. Default: false, such an Ask is an error.
	Lenient bool
	// Take is called with the bytes of each document; its error ends the call. Default: nil.
	Take func(bytes int64) error
}

// Query is the query that found documents, for their snippets.
type Query struct {
	Text    string
	Literal bool
	Terms   []string
	Expr    *querylang.Expr
	Fixed   int // query.Expansion.Fixed
}

// Request asks for documents that several queries have found.
type Request struct {
	Ask
	Queries []Query // for snippets; empty: none
}

// List is documents of a part. Of has the query of each document; it is empty without snippets.
type List struct{ Docs, Of []uint32 }

// Document is the parts of a document that were asked for.
type Document = contents.Document

// Validate returns an error that names the wrong part.
func (a *Ask) Validate() error {
	for i, m := range a.Members {
		if m == "" {
			return query.Option(fmt.Errorf("fields[%d] names no member", i))
		}
		if slices.Contains(a.Members[:i], m) {
			return query.Option(fmt.Errorf("fields[%d]: %s comes twice", i, syntax.Quote(m)))
		}
	}
	if s := a.Snippet; s != nil && (s.Size < 1 || s.Size > maxSnippet) {
		return query.Option(fmt.Errorf("snippet.size is %d, want 1 to %d", s.Size, maxSnippet))
	}
	return nil
}

// check returns an error if a file or table lacks the parts.
func (a *Ask) check(f *hdl.File, t *tables.Generation) error {
	unstored := func(what, store string) error {
		return query.Option(fmt.Errorf("%s: build the index, or create the collection, with --store %s", what, store))
	}
	switch {
	case (len(a.Members) > 0 || a.Source || a.Snippet != nil) && f == nil:
		return query.Option(errors.New("an index in memory has no stored documents"))
	case len(a.Members) > 0 && f.Meta().Store == hdl.StoreText:
		return unstored("fields: the index stores texts, which have no members", "source")
	case len(a.Members) > 0 && !f.HasDocuments():
		return unstored("fields: the index stores no documents", "source")
	case a.Source && !f.HasDocuments():
		return unstored("source: the index stores no documents", "text or source")
	case a.Snippet != nil && !f.HasDocuments():
		return unstored("the index stores no texts, which snippets, like and feedback read", "text or source")
	case len(a.Attributes) > 0 && t == nil:
		return query.Option(errors.New("attributes: the documents have none: build the index or collection with an attribute table"))
	}
	return nil
}

// Read returns documents of an index, which all are below its number of documents. T is the attribute table; it may be
// nil. Errors: *failure.Error.
func Read(ctx context.Context, g *lists.Generation, t *tables.Generation, r *Request, l List) (out []Document, err error) {
	defer func() { err = failure.Wrap("fetch", err) }()
	defer mapped.Catch(mapped.Watch(), &err)
	if r.Lenient {
		own := *r
		if own.Source = r.Source && g.File.HasDocuments(); t == nil {
			own.Attributes = nil
		}
		r = &own
	}
	if err := cmp.Or(r.Validate(), r.check(g.File, t)); err != nil {
		return nil, err
	}
	if r.Snippet != nil && len(l.Of) != len(l.Docs) {
		return nil, query.Option(fmt.Errorf("%d documents for snippets, with the queries of %d", len(l.Docs), len(l.Of)))
	}
	for i, d := range l.Docs {
		if d >= g.Source.Docs {
			return nil, query.Option(fmt.Errorf("docs[%d] is %d: the index has %d documents", i, d, g.Source.Docs))
		}
	}
	out = make([]Document, len(l.Docs))
	if len(r.Attributes) > 0 {
		if err := filter.CheckRows(g, t); err != nil {
			return nil, err
		}
		if err := attributes(ctx, t, r.Attributes, l.Docs, out); err != nil {
			return nil, fmt.Errorf("attributes: %w", err)
		}
	}
	find := finders{g: g, r: r}
	for i, d := range l.Docs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := &out[i]
		if x.Name, err = Name(g.File, d); err != nil {
			return nil, err
		}
		if r.Source || len(r.Members) > 0 {
			if err := r.stored(g.File, d, x); err != nil {
				return nil, err
			}
		}
		if r.Snippet != nil {
			f, err := find.of(l.Of[i])
			if err != nil {
				return nil, err
			}
			text, err := records.TextOf(g.File, d)
			if err != nil {
				return nil, err
			}
			x.Snippet = r.Snippet.mark(text, f.Find(text, find.fields(d)...))
		}
		if r.Take != nil {
			if err := r.Take(x.Bytes()); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Name returns the name of a document as valid UTF-8; empty without a file.
func Name(f *hdl.File, d uint32) (string, error) {
	if f == nil {
		return "", nil
	}
	name, err := f.DocName(d)
	return Valid(name), err
}

// Valid returns a name as valid UTF-8.
func Valid(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// stored sets the parts of the stored document.
func (r *Request) stored(f *hdl.File, d uint32, x *Document) error {
	document, err := f.Document(d)
	if err != nil {
		return err
	}
	source := []byte(document)
	if f.Meta().Store == hdl.StoreText {
		source = appendString(nil, document)
	} else if bytes.IndexByte(source, '\n') >= 0 { // in lines of JSON it is one line
		var b bytes.Buffer
		if err := json.Compact(&b, source); err != nil {
			return fmt.Errorf("the stored source of document %d: %w: %w", d, hdl.ErrCorrupt, err)
		}
		source = b.Bytes()
	}
	if r.Source {
		x.Source = source
	}
	if len(r.Members) > 0 {
		x.Members = []byte{'{'}
		for _, path := range r.Members {
			value := records.Member(source, path)
			if value == nil {
				continue
			}
			if len(x.Members) > 1 {
				x.Members = append(x.Members, ',')
			}
			x.Members = append(append(appendString(x.Members, path), ':'), value...)
		}
		x.Members = append(x.Members, '}')
	}
	return nil
}

// attributes sets the values of columns; "*" is all columns.
func attributes(ctx context.Context, t *tables.Generation, names []string, docs []uint32, out []Document) error {
	until := limit.Until{Context: ctx}
	b, err := t.Rows(&until, names, docs)
	if err != nil {
		return err
	}
	for i := range docs {
		text := []byte{'{'}
		for k := range b {
			if k > 0 {
				text = append(text, ',')
			}
			text = b[k].AppendJSON(append(appendString(text, b[k].Name), ':'), i)
		}
		out[i].Attributes = append(text, '}')
	}
	return nil
}

// appendString appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // every text has a form
	return append(dst, strings.TrimSuffix(b.String(), "\n")...)
}

// finders are the finders of snippets, by query.
type finders struct {
	g   *lists.Generation
	r   *Request
	all []*snippet.Finder
}

func (f *finders) of(number uint32) (*snippet.Finder, error) {
	if uint64(number) >= uint64(len(f.r.Queries)) {
		return nil, query.Option(fmt.Errorf("query %d of %d", number, len(f.r.Queries)))
	}
	if f.all == nil {
		f.all = make([]*snippet.Finder, len(f.r.Queries))
	}
	if f.all[number] == nil {
		terms, phrases, err := markedOf(f.g, &f.r.Queries[number])
		if err != nil {
			return nil, err
		}
		if m := f.g.File.Meta(); len(m.Fields) > 0 && m.Lengths == hdl.LengthsLucene {
			terms = withoutFields(terms)
			for _, p := range phrases {
				for i := range p.Slots {
					p.Slots[i].Terms = withoutFields(p.Slots[i].Terms)
				}
			}
		}
		a, err := f.g.File.Analyzer()
		if err != nil {
			return nil, err
		}
		f.all[number] = snippet.New(a.Documents(), terms, phrases, f.r.Snippet.Size)
	}
	return f.all[number], nil
}

// withoutFields returns terms without the fields in front of them.
func withoutFields(terms []string) []string {
	words := make([]string, len(terms))
	for i, t := range terms {
		_, words[i], _ = strings.Cut(t, hdl.FieldMark)
	}
	return words
}

// fields are the parts of the text of a document; nil without fields, and if the numbers of their tokens are not known.
func (f *finders) fields(d uint32) (all []snippet.Field) {
	m := f.g.File.Meta()
	if m.Lengths == hdl.LengthsLucene {
		return nil
	}
	for _, name := range m.Fields {
		i := slices.IndexFunc(f.g.Source.Fields, func(f plan.Field) bool { return f.Name == name })
		all = append(all, snippet.Field{Mark: name + hdl.FieldMark, Tokens: f.g.Source.Fields[i].Lengths[d]})
	}
	return all
}

// markedOf returns the terms and phrases of a query that add to scores, as the index has them.
func markedOf(g *lists.Generation, q *Query) (terms []string, phrases []snippet.Phrase, err error) {
	in := query.Query{Text: q.Text, Literal: q.Literal, Terms: q.Terms, Expr: q.Expr, Options: query.Options{K: 1, Expansion: query.Expansion{Top: true, Fixed: q.Fixed}}}
	err = g.Read(&in, &lists.Call{}, func() (err error) {
		terms, phrases, err = g.Marked(&in)
		return err
	})
	return terms, phrases, err
}
