package engine

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

	"heddle/engine/file/container"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
)

// Filter is the set of documents that pass all of its parts. A Filter without parts has all
// documents; it may have 256 parts in all. It must not change after its first use, and may be
// used by many queries at the same time. It is used by pointer.
//
// The engine makes the set once for each processor that runs its queries, and keeps it for later
// queries with an equal filter, up to Options.Filters. A reload of the index or the table makes it
// anew. A processor that has the table evaluates the predicate itself, and the set stays there.
//
// Errors of a filter have code InvalidQuery: the place of a fault in Where, a document that the
// index lacks, or a *FilterSizeError.
type Filter struct {
	// Where is a predicate (package predicate) on Table, an attribute table of the index: its row i
	// describes document i. Default: "", all documents.
	Where string
	// Table of Where, of the same engine. It must have as many rows as the index has documents.
	Table *Table
	// Bitmap has the documents that pass. Default: nil, all.
	Bitmap *roaring.Bitmap
	// Docs are docIDs that pass, in any order. An empty slice lets none pass. Default: nil, all.
	Docs []uint32
	// And are further filters that documents must pass. Default: nil, none.
	And []*Filter

	digest atomic.Pointer[[sha256.Size]byte] // digest of Bitmap and Docs; nil before its first use
}

// FilterSizeError is the error of a filter whose table is not the attribute table of the index.
type FilterSizeError struct{ Rows, Docs uint32 }

// Error states both sizes.
func (e *FilterSizeError) Error() string {
	return fmt.Sprintf("the table of the filter has %d rows and the index %d documents: row i of the table must be document i", e.Rows, e.Docs)
}

// filtering compiles the filters of a call and keeps their tables open. The zero value is ready.
type filtering struct {
	tables []*tables.Generation
	parts  []*Filter // all parts of one filter
	texts  []string
	size   int // length of the texts of all predicates so far, in bytes
}

// release ends the use of the tables.
func (in *filtering) release() {
	for _, g := range in.tables {
		g.Release()
	}
}

// open keeps a table open. All parts of a call see one generation of it.
func (in *filtering) open(t *Table) (*tables.Generation, error) {
	for _, open := range in.tables {
		if open.IsOf(t.t) {
			return open, nil
		}
	}
	g, err := t.t.Acquire()
	if err == nil {
		in.tables = append(in.tables, g)
	}
	return g, err
}

// anyFilter tells whether a query has a filter. It looks on all cores, because each of many queries
// costs a cache miss, and no processor works before.
func anyFilter(qs []Query) bool {
	var found atomic.Bool
	_ = container.ParallelRanges(uint64(len(qs)), 1<<14, func(first, end uint64) error {
		for i := first; i < end && !found.Load(); i++ {
			if qs[i].Filter != nil {
				found.Store(true)
			}
		}
		return nil
	})
	return found.Load()
}

// compileAll compiles the filters of queries; nil if there are none.
func (in *filtering) compileAll(ctx context.Context, g *lists.Generation, qs []Query, call *pool.Call) (all map[*Filter]compiledFilter, err error) {
	if !anyFilter(qs) {
		return nil, nil
	}
	for i := range qs {
		f := qs[i].Filter
		if f == nil || all[f] != (compiledFilter{}) {
			continue
		}
		if all == nil {
			all = map[*Filter]compiledFilter{}
			call.Deadline = g.Until(ctx, call).Deadline
		}
		var c compiledFilter
		if c.set, c.err = in.compile(ctx, g, f, call); c.err != nil && !query.Invalid(c.err) {
			return nil, fmt.Errorf("queries[%d]: %w", i, c.err)
		}
		all[f] = c
	}
	return all, nil
}

// compiledFilter is a set, or the reason why the filter is invalid.
type compiledFilter struct {
	set *lists.Filter
	err error
}

// compile returns the set of f for queries on g.
func (in *filtering) compile(ctx context.Context, g *lists.Generation, f *Filter, call *pool.Call) (*lists.Filter, error) {
	in.parts, in.texts = in.parts[:0], in.texts[:0]
	if err := in.flatten(f, 0); err != nil {
		return nil, err
	}
	var predicates []*tables.Predicate
	var of []*tables.Generation
	var keys [][]byte // the key of each part
	for _, p := range in.parts {
		if p.Where != "" {
			t, pred, err := in.predicate(ctx, g, p, call)
			if err != nil {
				return nil, err
			}
			predicates, of = append(predicates, pred), append(of, t)
			keys = append(keys, t.AppendKey([]byte{'p'}, pred))
			in.texts = append(in.texts, pred.Text)
		}
		if p.Bitmap != nil || p.Docs != nil {
			keys = append(keys, append([]byte{'d'}, p.sets()[:]...))
			in.texts = append(in.texts, p.describeSets())
		}
	}
	return g.Filter(digest(keys), func(s *lists.FilterSpec) error {
		s.Text = shortened(strings.Join(in.texts, " and "))
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
			rows, err := selectRows(ctx, of[i], &Selection{Where: p.Text, Caller: call.Caller}, until(of[i], ctx, call), nil)
			if err != nil {
				return err
			}
			s.Bits = common(s.Bits, rows.Bits)
		}
		for _, t := range in.tables {
			if p := joined[t]; p != nil {
				s.Rows = append(s.Rows, t.NewFilter(p))
			}
		}
		for _, p := range in.parts {
			if err := p.addSets(&s.Bits, g.Source.Docs); err != nil {
				return err
			}
		}
		if s.Bits == nil && len(s.Rows) == 0 {
			s.Text, s.Bits = "of all documents", everyDoc(g.Source.Docs)
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

// invalidFilter returns an error with code InvalidQuery.
func invalidFilter(format string, args ...any) error {
	return query.AsInvalid(fmt.Errorf("filter: "+format, args...))
}

const (
	maxFilterDepth = 64 // filters inside one another
	// maxFilterParts bounds the filters that one filter has in And, at any depth: each of them costs
	// a pass over a bit for each document.
	maxFilterParts = 256
)

// flatten appends f and the filters that it needs to in.parts.
func (in *filtering) flatten(f *Filter, depth int) error {
	switch {
	case f == nil:
		return invalidFilter("a filter in And is nil")
	case depth > maxFilterDepth:
		return invalidFilter("filters are nested more than %d deep", maxFilterDepth)
	case len(in.parts) == maxFilterParts:
		return invalidFilter("a filter has more than %d parts", maxFilterParts)
	case (f.Where == "") != (f.Table == nil):
		return invalidFilter("a filter has Where or Table, not both: a predicate needs a table")
	}
	in.parts = append(in.parts, f)
	for _, a := range f.And {
		if err := in.flatten(a, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// predicate compiles the predicate of f and keeps its table open.
func (in *filtering) predicate(ctx context.Context, g *lists.Generation, f *Filter, call *pool.Call) (*tables.Generation, *tables.Predicate, error) {
	t, err := in.open(f.Table)
	if err != nil {
		return nil, nil, fmt.Errorf("filter: %w", err)
	}
	if t.Table.Rows != g.Source.Docs {
		return nil, nil, query.AsInvalid(&FilterSizeError{t.Table.Rows, g.Source.Docs})
	}
	in.size += len(f.Where)
	p, err := t.CompileFor(until(t, ctx, call), call.Caller, f.Where, in.size)
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
			return invalidFilter("Filter.Bitmap: a document is outside of the index: %v", err)
		}
		*bits = common(*bits, set)
	}
	if f.Docs != nil {
		set, err := rowset.FromIDs(f.Docs, docs)
		if err != nil {
			return invalidFilter("Filter.Docs: a document is outside of the index: %v", err)
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

// everyDoc returns the set of all documents.
func everyDoc(docs uint32) []uint64 {
	all := make([]uint64, plan.FilterWords(docs))
	for i := range all {
		all[i] = ^uint64(0)
	}
	if n := docs % 64; n > 0 {
		all[len(all)-1] = 1<<n - 1
	}
	return all
}
