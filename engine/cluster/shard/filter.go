package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/part"
	"heddle/engine/table/rowset"
)

// restrict returns queries with their filters: numbers has the filter of each query. No query finds a
// deleted document. It does not change all, which other shards may use.
func (p *pinned) restrict(all []engine.Query, with []*api.Filter, numbers []uint32) ([]engine.Query, error) {
	if n := len(numbers); n > 0 && n != len(all) {
		return nil, invalidOption("search", "filter has %d numbers for %d queries", n, len(all))
	}
	if p.live == nil && len(numbers) == 0 {
		return all, nil
	}
	filters := make([]*engine.Filter, 1+len(with))
	if p.live != nil {
		filters[0] = p.live.Filter
	}
	for i, f := range with {
		own, err := p.filter(f)
		if err != nil {
			return nil, err
		}
		if filters[i+1] = own; p.live != nil {
			filters[i+1] = &engine.Filter{And: []*engine.Filter{p.live.Filter, own}}
		}
	}
	all = slices.Clone(all)
	for i := range all {
		n := uint32(0)
		if len(numbers) > 0 {
			n = numbers[i]
		}
		if uint64(n) >= uint64(len(filters)) {
			return nil, invalidOption("search", "filter[%d] is %d: there are %d filters", i, n, len(with))
		}
		if n == 0 && all[i].Text == "" && len(all[i].Terms) == 0 && all[i].Expr == nil {
			all[i].Expr = &querylang.Expr{Op: querylang.Or} // no query: that documents are deleted makes it none
		}
		all[i].Filter = filters[n]
	}
	return all, nil
}

func invalidOption(op, format string, args ...any) error {
	return &engine.Error{Code: engine.InvalidOption, Op: op, Err: fmt.Errorf(format, args...)}
}

// errNoAttributes is the error of a filter or facets that need attributes.
var errNoAttributes = errors.New("the documents have no attributes: build the index or collection with an attribute table")

// filter returns the filter of a message.
func (p *pinned) filter(r *api.Filter) (f *engine.Filter, err error) {
	if f = (&engine.Filter{Where: r.GetWhere()}); f.Where != "" {
		if f.Table = p.attributes; f.Table == nil {
			return nil, &engine.Error{Code: engine.InvalidQuery, Op: "search", Err: fmt.Errorf("filter: %w", errNoAttributes)}
		}
	}
	if r.GetDocs() != nil {
		f.Docs = make([]uint32, len(r.Docs.Ids))
		for i, id := range r.Docs.Ids {
			f.Docs[i] = uint32(min(id, math.MaxUint32)) // greater ids become a document that the shard lacks
		}
	}
	if r.GetRoaring() != nil {
		if f.Bitmap, err = rowset.ReadRoaring(bytes.NewReader(r.Roaring), math.MaxUint32); err != nil {
			return nil, invalidOption("search", "filter: roaring: %w", err)
		}
	}
	for _, a := range r.GetAnd() {
		more, err := p.filter(a)
		if err != nil {
			return nil, err
		}
		f.And = append(f.And, more)
	}
	return f, nil
}

// ShardFacets implements api.ShardServiceHandler.
func (h handler) ShardFacets(ctx context.Context, r *api.ShardFacetsRequest) (*api.ShardFacetsResponse, error) {
	return use(h, r.GetTarget(), func(x *pinned) (*api.ShardFacetsResponse, error) {
		all, err := queries(r.GetQuery())
		if err != nil {
			return nil, err
		}
		if len(all) != 1 {
			return nil, invalidOption("facets", "%d queries, want one", len(all))
		}
		if x.attributes == nil {
			return nil, &engine.Error{Code: engine.InvalidQuery, Op: "facets", Err: errNoAttributes}
		}
		if all, err = x.restrict(all, r.GetQuery().GetFilters(), r.GetQuery().GetFilter()); err != nil {
			return nil, err
		}
		matches, states, err := part.Facets(ctx, x.Snapshot, &all[0], &engine.Facets{Table: x.attributes, Columns: r.GetColumns()})
		if err != nil {
			return nil, err
		}
		out := &api.ShardFacetsResponse{Epoch: r.GetTarget().GetEpoch(), Matches: matches}
		for _, s := range states {
			out.Columns = append(out.Columns, message(s))
		}
		return out, nil
	})
}

// rowsIn returns the rows of a table that a request permits; nil for all.
func rowsIn(t *engine.Table, in []byte) ([]uint64, error) {
	if len(in) == 0 {
		return nil, nil
	}
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	b, err := rowset.ReadRoaring(bytes.NewReader(in), info.Rows)
	if err != nil {
		return nil, invalidOption("select", "in: %w", err)
	}
	return rowset.FromRoaring(b, info.Rows)
}
