package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/failure"
	"heddle/engine/file/container"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
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

	internal atomic.Pointer[filter.Filter] // nil before the first use
}

// FilterSizeError is the error of a filter whose table is not the attribute table of the index: Rows of the table, and
// Docs of the index.
type FilterSizeError = failure.FilterSizeError

// form returns the internal form of the filter; nil for nil.
func (f *Filter) form() *filter.Filter {
	parts := 0
	x, _ := f.convert(0, &parts)
	return x
}

// convert is form of a filter inside of others. It leaves out filters above a limit (whole is false then), which the
// compilation refuses.
func (f *Filter) convert(depth int, parts *int) (x *filter.Filter, whole bool) {
	if *parts++; f == nil || depth > filter.MaxDepth+1 || *parts > filter.MaxParts+1 {
		return nil, f == nil
	}
	if known := f.internal.Load(); known != nil {
		return known, true
	}
	x, whole = &filter.Filter{Where: f.Where, Bitmap: f.Bitmap, Docs: f.Docs}, true
	if f.Table != nil {
		x.Table = f.Table.Internal()
	}
	for _, a := range f.And {
		own, all := a.convert(depth+1, parts)
		x.And, whole = append(x.And, own), whole && all
	}
	if whole {
		f.internal.Store(x)
	}
	return x, whole
}

// special tells whether a query has a filter, or begins behind the best document, or has another order. It looks on all
// cores, because each of many queries costs a cache miss, and no processor works before.
func special(qs []Query) bool {
	var found atomic.Bool
	_ = container.ParallelRanges(uint64(len(qs)), 1<<14, func(first, end uint64) error {
		for i := first; i < end && !found.Load(); i++ {
			if q := &qs[i]; q.Filter != nil || q.Offset != 0 || q.MinScore != 0 || q.After != "" || q.Sort != nil || q.Collapse != "" || q.Boost != nil {
				found.Store(true)
			}
		}
		return nil
	})
	return found.Load()
}

// compileAll compiles the filters of queries; nil if there are none.
func compileAll(ctx context.Context, g *lists.Generation, qs []Query, in *filter.Compiler, call *pool.Call) (all map[*Filter]compiledFilter, err error) {
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
		if c.set, c.err = in.Compile(ctx, g, f.form(), call); c.err != nil && !query.Invalid(c.err) {
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
