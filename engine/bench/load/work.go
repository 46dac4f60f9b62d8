package load

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
)

// Kind is the kind of the requests of a load.
type Kind string

const (
	// Search asks for the best documents of a query.
	Search Kind = "search"
	// Match asks for the documents that match a query.
	Match Kind = "match"
	// Count asks for the number of documents that match a query, or of the rows of a table for which
	// a predicate is true.
	Count Kind = "count"
)

// ParseKind returns the kind of a name.
func ParseKind(s string) (Kind, error) {
	all := []Kind{Search, Match, Count}
	if !slices.Contains(all, Kind(s)) {
		return "", fmt.Errorf("unknown kind %q (one of %s)", s, strings.Trim(fmt.Sprint(all), "[]"))
	}
	return Kind(s), nil
}

// Work describes the requests of a load.
type Work struct {
	// Index or Table is the name of the index or table. The other one is empty.
	Index, Table string
	Kind         Kind // Count for a table
	// Topics are queries or predicates. They are sent in turn.
	Topics  []string
	Literal bool   // Topics have no operators
	Mode    string // joins the words of a query: "or", "and" or "and-or"
	K       int    // documents of a ranked query
	Batch   int    // queries of a request; 1 for a table
}

// check asks the server whether it has the index or table.
func (w *Work) check(ctx context.Context, c *api.Client) error {
	var ready bool
	var err error
	if w.Table != "" {
		var t *api.Table
		t, err = c.GetTable(ctx, &api.GetTableRequest{Table: w.Table})
		ready = t.GetReady()
	} else {
		var x *api.Index
		x, err = c.GetIndex(ctx, &api.GetIndexRequest{Index: w.Index})
		ready = x.GetReady()
	}
	if err == nil && !ready {
		err = &engine.Error{Code: engine.Closed, Op: "load", Err: fmt.Errorf("%s%s is not in service yet", w.Index, w.Table)}
	}
	return err
}

// reply is the part of an answer that describes its request. Times are in milliseconds.
type reply struct {
	took, queued float64
	errors       []*api.BatchError
	digests      []digest // digest of the answer to each query
}

// ask sends request i and waits for the reply, with digests if they are wanted.
func (w *Work) ask(ctx context.Context, c *api.Client, i int, digests bool) (got reply, err error) {
	topic := w.Topics[i%len(w.Topics)]
	switch {
	case w.Table != "":
		r, err := c.Count(ctx, &api.CountRequest{Table: w.Table, Where: topic})
		got = reply{took: r.GetTookMs()}
		if digests {
			got.digests = digestOfCount(r.GetCount())
		}
		return got, err
	case w.Batch > 1:
		topics := make([]string, w.Batch)
		for n := range topics {
			topics[n] = w.Topics[(i*w.Batch+n)%len(w.Topics)]
		}
		var k *uint32
		if w.Kind == Search {
			k = new(uint32(w.K))
		}
		r, err := c.SearchBatch(ctx, &api.SearchBatchRequest{Index: w.Index, Queries: topics, Literal: w.Literal, Mode: w.Mode, K: k,
			Match: w.Kind == Match, Count: w.Kind == Count})
		got = reply{took: r.GetTookMs(), errors: r.GetErrors()}
		if digests {
			got.digests = digestsOfBatch(r, w.Batch)
		}
		return got, err
	case w.Kind == Search:
		r, err := c.Search(ctx, &api.SearchRequest{Index: w.Index, Query: topic, Literal: w.Literal, Mode: w.Mode, K: new(uint32(w.K))})
		got = reply{took: r.GetTookMs(), queued: r.GetQueuedMs()}
		if digests {
			got.digests = digestOfSearch(r)
		}
		return got, err
	}
	r, err := c.Match(ctx, &api.MatchRequest{Index: w.Index, Query: topic, Literal: w.Literal, Mode: w.Mode, Count: w.Kind == Count})
	got = reply{took: r.GetTookMs(), queued: r.GetQueuedMs()}
	if digests {
		got.digests = digestOfMatch(r)
	}
	return got, err
}

// unreachable is the name of the error of a request without any reply.
const unreachable = "unreachable"

// codeOf names the code of a failed request.
func codeOf(err error) string {
	if _, ok := api.DetailOf(err); !ok && connect.CodeOf(err) == connect.CodeUnavailable {
		return unreachable
	}
	return engine.CodeOf(err).String()
}
