package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/table/facet"
)

// MissingError is the error of a query whose shards cannot all answer.
type MissingError = coordinator.MissingError

// ScaleError is the error of shards whose scores have different units.
type ScaleError = coordinator.ScaleError

// Search answers one query on an index. Expr and Override of the query are not supported. The
// coverage is nil unless the answer may be partial.
func (c *Coordinator) Search(ctx context.Context, index string, q engine.Query, ask api.Ask) (api.Hits, *api.Coverage, error) {
	hits, cover, err := c.SearchAll(ctx, index, []engine.Query{q}, ask)
	if err == nil && hits[0].Err != nil {
		return api.Hits{}, cover, hits[0].Err
	}
	if err != nil {
		return api.Hits{}, cover, err
	}
	return hits[0], cover, nil
}

// SearchAll answers many queries from one epoch: hits[i] is the answer of query i. A query that is
// invalid in itself has Hits.Err. Caller and Timeout of the first query hold for the call.
func (c *Coordinator) SearchAll(ctx context.Context, index string, qs []engine.Query, ask api.Ask) ([]api.Hits, *api.Coverage, error) {
	all := make([]coordinator.Query, len(qs))
	filters, fields := map[*engine.Filter]*filter.Filter{}, map[*engine.Fields]*fetch.Ask{}
	for i, q := range qs {
		if q.Expr != nil || q.Override != nil {
			return nil, nil, &engine.Error{Code: engine.Unsupported, Op: "search", Err: fmt.Errorf("queries[%d]: a coordinator takes texts and terms, without Expr and Override", i)}
		}
		if q.Filter != nil && filters[q.Filter] == nil {
			f, err := filterOf(q.Filter, 0)
			if err != nil {
				return nil, nil, err
			}
			filters[q.Filter] = f
		}
		if q.Fields != nil && fields[q.Fields] == nil {
			f := q.Fields.Internal()
			fields[q.Fields] = &f
		}
		all[i] = q.ForParts(filters[q.Filter], fields[q.Fields])
	}
	own := coordinator.Ask{Names: ask.Names, Limit: ask.Limit, Explain: ask.Explain, AllowPartial: ask.AllowPartial, Take: ask.Take}
	if f := ask.Facets; f != nil {
		own.Facets = &facet.Ask{Columns: f.Columns, Limit: f.Limit, CountOnly: f.CountOnly}
	}
	hits, cover, err := c.all.SearchAll(ctx, index, all, own)
	return hits, coverage(cover), err
}

// Document returns the document with a name, and its number. An unknown name is an error with code NotFound.
func (c *Coordinator) Document(ctx context.Context, index, name string, ask *fetch.Ask) (uint64, engine.Contents, error) {
	return c.all.Document(ctx, index, name, ask)
}

// ListDocuments returns the numbers and names of documents from a number on, at most a number of them, and the number
// behind them; 0 if there is none.
func (c *Coordinator) ListDocuments(ctx context.Context, index string, from uint64, most int) (ids []uint64, names []string, next uint64, err error) {
	return c.all.List(ctx, index, from, most)
}

// Suggest returns the terms that begin with a prefix and that the most documents have: see engine.Index.Suggest.
func (c *Coordinator) Suggest(ctx context.Context, index, prefix string, most int) ([]engine.Suggestion, error) {
	return c.all.Suggest(ctx, index, prefix, most)
}

// Corrections returns similar terms in place of the words of q that no document has: see engine.Snapshot.Corrections.
func (c *Coordinator) Corrections(ctx context.Context, index string, q engine.Query) ([]engine.Correction, error) {
	own := q.ForParts(nil, nil)
	return c.all.Corrections(ctx, index, &own)
}

// Statistics returns the statistics of an index, with the document frequencies of terms.
func (c *Coordinator) Statistics(ctx context.Context, index string, terms ...string) (engine.Statistics, error) {
	return c.all.Statistics(ctx, index, terms...)
}

// filterOf returns a filter that is inside of others in the form of coordinators, which take no tables.
func filterOf(f *engine.Filter, depth int) (*filter.Filter, error) {
	switch {
	case f == nil || depth > filter.MaxDepth:
		return nil, &engine.Error{Code: engine.InvalidQuery, Op: "search", Err: fmt.Errorf("filter: a filter in And is nil, or more than %d deep", filter.MaxDepth)}
	case f.Table != nil:
		return nil, &engine.Error{Code: engine.Unsupported, Op: "search", Err: errors.New("filter: a coordinator takes Where without Table: the shards have attribute tables of their own")}
	}
	out := &filter.Filter{Where: f.Where, Bitmap: f.Bitmap, Docs: f.Docs}
	for _, a := range f.And {
		own, err := filterOf(a, depth+1)
		if err != nil {
			return nil, err
		}
		out.And = append(out.And, own)
	}
	return out, nil
}

// coverage is the message of a coverage.
func coverage(c *coordinator.Coverage) *api.Coverage {
	if c == nil {
		return nil
	}
	out := &api.Coverage{Epoch: c.Epoch, Shards: uint32(c.Shards), ShardsAnswered: uint32(c.Answered), Docs: c.Docs, DocsAnswered: c.DocsAnswered}
	for _, i := range slices.Sorted(maps.Keys(c.Missing)) {
		out.Missing = append(out.Missing, &api.MissingShard{Shard: uint32(i), Error: c.Missing[i].Error()})
	}
	return out
}
