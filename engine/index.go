package engine

import (
	"context"

	"heddle/engine/internal/query"
	"heddle/engine/internal/serve"
)

// Index answers queries on the lists of a file. It is safe for concurrent use. Reload changes
// the file while queries run; each query is answered from one file as a whole.
type Index struct{ x *serve.Index }

// Search answers one query. The caller owns the slices of the answer.
//
// Scores come from integer arithmetic (package bm25), so they are the same on every
// processor. For queries of up to 200 terms they differ from BM25 in real numbers by less
// than 2^-20 of the sum of the weights.
//
// Errors: codes InvalidQuery, Unsupported (no frequencies, an algorithm that no processor
// has), Overloaded, Deadline, Canceled, NoDevice, Closed.
func (x *Index) Search(ctx context.Context, q Query) (Hits, error) {
	g, err := x.x.Acquire()
	if err != nil {
		return Hits{}, wrap("search", err)
	}
	defer g.Release()
	return search(ctx, g, &q)
}

// SearchAll answers many queries in batches and passes the answers of consecutive queries
// to deliver: hits[i] is the answer of query first+i. Several goroutines call deliver at the
// same time, with disjoint ranges and in no order. The hits are views that are valid during
// the call. A call holds a bounded number of answers, so a slow deliver slows it down.
// SearchAll stops at the first error, an error of deliver included; it names the query. A
// steady state allocates nothing per query.
//
// Queries may differ in kind and options: queries of one kind form batches. Caller, Timeout
// and Explain of the first query hold for the whole call. The result cache is not used.
func (x *Index) SearchAll(ctx context.Context, qs []Query, deliver func(first int, hits []Hits) error) error {
	g, err := x.x.Acquire()
	if err != nil {
		return wrap("search", err)
	}
	defer g.Release()
	return searchAll(ctx, g, qs, deliver)
}

func search(ctx context.Context, g *serve.Lists, o *Query) (Hits, error) {
	call, err := o.call()
	if err != nil {
		return Hits{}, err
	}
	q := internals.Get().(*query.Query)
	defer internals.Put(q)
	call.Load = o.internal(q)
	var h Hits
	h.Count, h.Docs, h.Scores, err = g.Search(ctx, q, &call)
	return h, wrap("search", err)
}

func searchAll(ctx context.Context, g *serve.Lists, qs []Query, deliver func(first int, hits []Hits) error) error {
	var call serve.Call
	if len(qs) > 0 {
		var err error
		if call, err = qs[0].call(); err != nil {
			return err
		}
	}
	err := g.SearchAll(ctx, queries(qs), &call, func(first int, b *serve.Block) error {
		hits := hitBlocks.Get().(*[]Hits)
		defer hitBlocks.Put(hits)
		all := (*hits)[:0]
		for i := range b.Len() {
			var h Hits
			h.Count, h.Docs, h.Scores = b.Hits(i)
			all = append(all, h)
		}
		err := deliver(first, all)
		clear(all)
		*hits = all
		return err
	})
	return wrap("search", err)
}

// Reload opens the index file at path beside the current one and answers all queries that
// arrive from then on from it. It returns when all earlier queries and snapshots have ended
// and the old file is closed. After an error the old file stays in use.
//
// If a device has no room for both, pure Go alone answers from the new file until the old
// one is closed. Without pure Go the new lists take the room that there is.
func (x *Index) Reload(ctx context.Context, path string) error {
	return wrap("reload index", x.x.Reload(ctx, path))
}

// Close refuses further queries with code Closed, waits for running ones and for snapshots,
// writes learnt costs and releases the lists and the file. A second Close returns code
// Closed.
func (x *Index) Close() error { return wrap("close index", x.x.Close()) }

// Snapshot pins the current content of the index: its answers, and the names and texts of
// its documents, belong to one file whatever Reload does. The caller closes it soon, since
// Reload and Close wait for it.
func (x *Index) Snapshot() (*Snapshot, error) {
	g, err := x.x.Acquire()
	if err != nil {
		return nil, wrap("snapshot", err)
	}
	return &Snapshot{g: g}, nil
}

// Statistics returns the statistics of the index, with the document frequencies of terms; 0
// for a term that no document has.
func (x *Index) Statistics(terms ...string) (Statistics, error) {
	g, err := x.x.Acquire()
	if err != nil {
		return Statistics{}, wrap("statistics", err)
	}
	defer g.Release()
	return Statistics(g.Statistics(terms...)), nil
}

// Info describes the index.
func (x *Index) Info() (IndexInfo, error) {
	s, err := x.Snapshot()
	if err != nil {
		return IndexInfo{}, err
	}
	defer s.Close()
	return s.Info(), nil
}
