// Package filter compiles filters, which are predicates on attribute tables and sets of documents, for queries on lists.
package filter

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/failure"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/syntax"
	"heddle/engine/table/rowset"
)

// Filter is the set of documents that pass all of its parts: see engine.Filter. It must not change after its first use.
type Filter struct {
	Where  string
	Table  *tables.Table // table of Where; nil for the attribute table of each part of an index
	Bitmap *roaring.Bitmap
	Docs   []uint32
	And    []*Filter

	digest atomic.Pointer[[sha256.Size]byte] // digest of Bitmap and Docs; nil before its first use
}

// Compiler compiles the filters of a call and keeps their tables open. The zero value is ready.
type Compiler struct {
	tables []*tables.Generation
	parts  []*Filter // all parts of one filter
	texts  []string
	size   int // length of the texts of all predicates so far, in bytes
}

// Release ends the use of the tables.
func (c *Compiler) Release() {
	for _, g := range c.tables {
		g.Release()
	}
}

// Restart begins a search of the same call: the limit of the length of predicates counts anew.
func (c *Compiler) Restart() { c.size = 0 }

// Open keeps a table open. All parts of a call see one generation of it.
func (c *Compiler) Open(t *tables.Table) (*tables.Generation, error) {
	for _, open := range c.tables {
		if open.IsOf(t) {
			return open, nil
		}
	}
	g, err := t.Acquire()
	if err == nil {
		c.tables = append(c.tables, g)
	}
	return g, err
}

// Compile returns the set of f for queries on g.
func (c *Compiler) Compile(ctx context.Context, g *lists.Generation, f *Filter, call *pool.Call) (*lists.Filter, error) {
	c.parts, c.texts = c.parts[:0], c.texts[:0]
	if err := c.flatten(f, 0); err != nil {
		return nil, err
	}
	var predicates []*tables.Predicate
	var of []*tables.Generation
	var keys [][]byte // the key of each part
	for _, p := range c.parts {
		if p.Where != "" {
			t, pred, err := c.predicate(ctx, g, p, call)
			if err != nil {
				return nil, err
			}
			predicates, of = append(predicates, pred), append(of, t)
			keys = append(keys, t.AppendKey([]byte{'p'}, pred))
			c.texts = append(c.texts, pred.Text)
		}
		if p.Bitmap != nil || p.Docs != nil {
			keys = append(keys, append([]byte{'d'}, p.sets()[:]...))
			c.texts = append(c.texts, p.describeSets())
		}
	}
	return g.Filter(digest(keys), func(s *lists.FilterSpec) error {
		s.Text = shortened(strings.Join(c.texts, " and "))
		joined := map[*tables.Generation]*tables.Predicate{} // the predicates on a table so far
		for i, p := range predicates {
			if !p.Compares() {
				if q := joined[of[i]]; q != nil {
					if both := of[i].And(q, p); both != nil {
						joined[of[i]] = both
						continue
					}
					s.Rows = append(s.Rows, of[i].NewFilter(q))
				}
				joined[of[i]] = p
				continue
			}
			rows, err := of[i].Select(ctx, p, call)
			if err != nil {
				return err
			}
			s.Bits = common(s.Bits, rows)
		}
		for _, t := range c.tables {
			if p := joined[t]; p != nil {
				s.Rows = append(s.Rows, t.NewFilter(p))
			}
		}
		for _, p := range c.parts {
			if err := p.addSets(&s.Bits, g.Source.Docs); err != nil {
				return err
			}
		}
		if s.Bits == nil && len(s.Rows) == 0 {
			s.Text, s.Bits = "of all documents", rowset.All(g.Source.Docs)
		}
		return nil
	})
}

// digest returns a digest of the keys, whose order does not matter.
func digest(keys [][]byte) [sha256.Size]byte {
	slices.SortFunc(keys, bytes.Compare)
	h := sha256.New()
	for _, k := range keys {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(k)))
		h.Write(k)
	}
	var d [sha256.Size]byte
	h.Sum(d[:0])
	return d
}

// shortened returns at most the first 500 bytes of a text.
func shortened(text string) string {
	const most = 500
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// until returns the end of the time of a call.
func until(t *tables.Generation, ctx context.Context, call *pool.Call) *limit.Until {
	u := t.Until(ctx, call)
	return &u
}

// invalid returns an error with code InvalidQuery.
func invalid(format string, args ...any) error {
	return query.AsInvalid(fmt.Errorf("filter: "+format, args...))
}

const (
	MaxDepth = 64 // greatest number of filters inside one another
	// MaxParts bounds the filters that one filter has in And, at any depth: each of them costs
	// a pass over a bit for each document.
	MaxParts = 256
)

// flatten appends f and the filters that it needs to c.parts.
func (c *Compiler) flatten(f *Filter, depth int) error {
	switch {
	case f == nil:
		return invalid("a filter in And is nil")
	case depth > MaxDepth:
		return invalid("filters are nested more than %d deep", MaxDepth)
	case len(c.parts) == MaxParts:
		return invalid("a filter has more than %d parts", MaxParts)
	case (f.Where == "") != (f.Table == nil):
		return invalid("a predicate needs a table of attributes, and a table a predicate")
	}
	c.parts = append(c.parts, f)
	for _, a := range f.And {
		if err := c.flatten(a, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// CheckRows returns an error unless row i of a table describes document i.
func CheckRows(g *lists.Generation, t *tables.Generation) error {
	if t.Table.Rows != g.Source.Docs {
		return query.AsInvalid(&failure.FilterSizeError{Rows: t.Table.Rows, Docs: g.Source.Docs})
	}
	return nil
}

// predicate compiles the predicate of f and keeps its table open.
func (c *Compiler) predicate(ctx context.Context, g *lists.Generation, f *Filter, call *pool.Call) (*tables.Generation, *tables.Predicate, error) {
	t, err := c.Open(f.Table)
	if err != nil {
		return nil, nil, fmt.Errorf("filter: %w", err)
	}
	if err := CheckRows(g, t); err != nil {
		return nil, nil, err
	}
	c.size += len(f.Where)
	p, err := t.CompileFor(until(t, ctx, call), call.Caller, f.Where, c.size)
	if err != nil {
		return nil, nil, fmt.Errorf("filter: %w", err)
	}
	return t, p, nil
}

// sets returns the digest of Bitmap and Docs.
func (f *Filter) sets() *[sha256.Size]byte {
	if d := f.digest.Load(); d != nil {
		return d
	}
	h := sha256.New()
	if f.Bitmap != nil {
		fmt.Fprintf(h, "bitmap %d ", f.Bitmap.GetSerializedSizeInBytes())
		_, _ = f.Bitmap.WriteTo(h) // a hash takes all bytes
	}
	if f.Docs != nil {
		fmt.Fprintf(h, "docs %d ", len(f.Docs))
		_ = binary.Write(h, binary.LittleEndian, f.Docs)
	}
	var d [sha256.Size]byte
	h.Sum(d[:0])
	f.digest.Store(&d)
	return &d
}

// describeSets describes Bitmap and Docs.
func (f *Filter) describeSets() string {
	var parts []string
	if f.Bitmap != nil {
		parts = append(parts, fmt.Sprintf("bitmap of %d", f.Bitmap.GetCardinality()))
	}
	if f.Docs != nil {
		parts = append(parts, fmt.Sprintf("%d docIDs", len(f.Docs)))
	}
	return strings.Join(parts, " and ")
}

// addSets removes the documents that Bitmap and Docs lack from bits; nil bits have all documents.
func (f *Filter) addSets(bits *[]uint64, docs uint32) error {
	if f.Bitmap != nil {
		set, err := rowset.FromRoaring(f.Bitmap, docs)
		if err != nil {
			return invalid("Filter.Bitmap: a document is outside of the index: %v", err)
		}
		*bits = common(*bits, set)
	}
	if f.Docs != nil {
		set, err := rowset.FromIDs(f.Docs, docs)
		if err != nil {
			return invalid("Filter.Docs: a document is outside of the index: %v", err)
		}
		*bits = common(*bits, set)
	}
	return nil
}

// common returns the documents of a and b, in the memory of b. A nil a has all documents.
func common(a, b []uint64) []uint64 {
	for i, x := range a {
		b[i] &= x
	}
	return b
}

// Search answers a query, which it gives back, with a filter; nil: all documents.
func (c *Compiler) Search(ctx context.Context, g *lists.Generation, q *query.Query, f *Filter, call *lists.Call) (a lists.Answer, err error) {
	if call.Processor != "" && !g.On(call.Processor) {
		return a, query.Option(fmt.Errorf("processor %s does not have the index", syntax.Quote(call.Processor)))
	}
	if f != nil {
		call.Deadline = g.Until(ctx, &call.Call).Deadline
		if q.Filter, err = c.Compile(ctx, g, f, &call.Call); err != nil {
			return a, err
		}
	}
	return g.Search(ctx, q, call)
}

// Why returns the parts of the score that q, a ranked query, which it gives back, gives to a document; nil: q does not match
// the document.
func (c *Compiler) Why(ctx context.Context, g *lists.Generation, q *query.Query, f *Filter, call *lists.Call, doc uint32) (*query.Why, error) {
	again := *q
	a, err := c.Search(ctx, g, q, f, call)
	if err != nil || len(a.Docs) == 0 {
		return nil, err
	}
	return g.Why(ctx, &again, call, doc)
}
