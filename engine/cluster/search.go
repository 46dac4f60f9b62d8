package cluster

import (
	"context"
	"maps"
	"slices"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/analyze"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/fetch"
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
	all, err := engine.ForParts(qs)
	if err != nil {
		return nil, nil, err
	}
	own := coordinator.Ask{Names: ask.Names, Limit: ask.Limit, Explain: ask.Explain, AllowPartial: ask.AllowPartial, Take: ask.Take}
	if f := ask.Facets; f != nil {
		own.Facets = &facet.Ask{Columns: f.Columns, Limit: f.Limit, CountOnly: f.CountOnly}
	}
	hits, cover, err := c.all.SearchAll(ctx, index, all, own)
	return hits, coverage(cover), err
}

// ExplainScore returns the score that q gives to a document, and the name of the document: see engine.Snapshot.ExplainScore.
func (c *Coordinator) ExplainScore(ctx context.Context, index string, q engine.Query, id uint64) (*engine.ScoreExplanation, string, error) {
	q.Sort, q.Collapse, q.Boost = nil, "", nil // with an order a query without words is for all documents
	own, err := engine.ForParts([]engine.Query{q})
	if err != nil {
		return nil, "", err
	}
	found, err := c.all.Score(ctx, index, &own[0], id)
	if err != nil {
		return nil, "", err
	}
	return engine.ScoreOf(found.Why), found.Name, nil
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
	own, err := engine.ForParts([]engine.Query{q})
	if err != nil {
		return nil, err
	}
	return c.all.Corrections(ctx, index, &own[0])
}

// Analysis returns the analysis of an index, and whether it has the positions of words.
func (c *Coordinator) Analysis(ctx context.Context, index string) (s analyze.Settings, positions bool, err error) {
	return c.all.Analysis(ctx, index)
}

// Statistics returns the statistics of an index, with the document frequencies of terms.
func (c *Coordinator) Statistics(ctx context.Context, index string, terms ...string) (engine.Statistics, error) {
	return c.all.Statistics(ctx, index, terms...)
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
