package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Match says which documents a query matches. Its String is the name that command line and
// configuration use: "or", "and", "and-or".
type Match = querylang.Match

// The values of Match.
const (
	Or    = querylang.AnyTerm    // documents with any term; unknown terms are left out. The default
	And   = querylang.AllTerms   // documents with every term; none if a term is unknown
	AndOr = querylang.AllElseAny // for ranked queries: And if it finds K documents, else Or (Ding et al. 2009, section 8.3)
)

// Matches returns all values.
func Matches() []Match { return []Match{Or, And, AndOr} }

// ParseMatch returns the Match with a name. It ignores case.
func ParseMatch(s string) (Match, error) {
	m, err := querylang.ParseMatch(s)
	return m, failure.Invalid("match", err)
}

// Query is one query. It must not change while it runs.
type Query struct {
	// Text is a query in the language of package querylang, such as "heaven^2 earth" or
	// "+heaven earth -hell". Match joins its words, AndOr as Or beside operators. Words are
	// analysed as the documents were.
	Text string
	// Literal takes all characters of Text as words: there are no operators, weights and
	// prefixes.
	Literal bool
	// Terms are index terms, without analysis. They are used if Text is empty.
	Terms []string
	// Weights of Terms in a ranked query: as many as there are terms, positive and finite.
	// Default: nil, each 1. A term that occurs twice counts twice.
	Weights []float64
	// Expr is an expression in place of Text and Terms. Default: nil.
	Expr *querylang.Expr

	// Filter restricts the query to some documents: other documents do not match. Scores are the
	// scores of the query without a filter. A filter without Text, Terms and Expr is the query for its
	// documents. Default: nil, all documents.
	Filter *Filter

	// Expansion rules the terms that prefixes and tolerant words of Text or Expr stand for. Default: see
	// Expansion.
	Expansion Expansion

	// QueryFields are the fields of an index with fields in which the words of Text and Expr without a field are searched, and
	// their weights, such as "title^3,body". A word matches in any of them, and its scores add up; under And each word may match
	// in another field. Terms have their field in front, as in "title:loom". Pure Go ranks queries of an index with fields.
	// Default: "", all fields with the weight 1.
	QueryFields string
	// Tie, unless nil, scores a word or phrase in several fields as in the best of them, and adds Tie times, 0 to 1, its scores
	// in the others, as Lucene's DisjunctionMaxQuery. Default: nil, the scores add up.
	Tie *float64
	// Match of Text and Terms. Default: Or.
	Match Match
	// K asks for the best K documents with their scores, 1 to plan.MaxK; another value is an
	// error with code InvalidOption. Default: 0, AllMatches.
	K int
	// Offset is the number of best documents to leave out; Offset + K is at most plan.MaxK. Default: 0.
	Offset int
	// After continues behind an earlier answer: it is Hits.After of the answer, or FirstPage to begin. The pages of
	// one content of the index, and of Table if the order depends on it, are exact; a cursor of earlier content has code
	// Gone. Default: "", there is no next page.
	After string
	// Sort is the order of the documents, such as "year desc" and "score": columns of Table, or the score. A document
	// without a value comes last, and ties are in the order of the documents. A query with Sort, Collapse or Boost and
	// without words is for all documents. Default: nil, the descending score.
	Sort  []string
	Table *Table // attribute table of the index, for Sort, Collapse and Boost
	// MinScore is the least score of a document. Hits.Total counts no others, and with CountOnly and Total they are the
	// answer. Default: 0.
	MinScore float64
	// Collapse keeps the first CollapseLimit documents with a value of this column of Table. The documents without a
	// value are one group, as in Lucene. Hits.Total and Facets count all matching documents. Default: "", all documents.
	Collapse      string
	CollapseLimit int // 1 to 100; default: 0, 1
	// Boost is added to the score. Default: nil, none.
	Boost *Boost
	// Total asks for Hits.Total, the number of matching documents: TotalExact, or a number up to which they
	// are counted. It counts the documents that Match ranks, with the filter: under AndOr the documents
	// with all terms if there are K of them, else the documents with any term. Default: 0, not counted.
	Total uint64
	// Names asks for Hits.Names, the names of the documents. Default: false.
	Names bool
	// Fields asks for Hits.Documents: parts of the documents of the answer. Default: nil, none.
	Fields *Fields
	// CountOnly asks for the number of matching documents alone. K must be 0.
	CountOnly bool

	// Scoring of a ranked query. Default: nil, bm25.Default. It must be nil for an index with
	// impacts, whose scores are sums of weight times impact, in the units of the weights that
	// the index was built from.
	Scoring *bm25.Params
	// Statistics replace the statistics of the index, so that a shard scores like the whole
	// collection. Default: nil, not replaced. An index with impacts refuses them without
	// Statistics.Shard.
	Statistics *Statistics

	// Caller names the client. Callers share the processors evenly. Default: "", one caller.
	Caller string
	// Timeout of the query, the analysis of its text included. Default: 0, Options.Timeout;
	// negative: none.
	Timeout time.Duration
	// Fresh bypasses the result cache.
	Fresh bool
	// Explain, unless nil, receives the explanation of the query: choices, stages and times. In
	// SearchAll only the first query may have it; it then describes the whole call.
	Explain *observe.Explanation
	// Override replaces choices that no answer depends on. Default: nil, none.
	Override *Override
	// Memory is an earlier answer that the caller no longer needs: Index.Search and
	// Snapshot.Search may return its slices with other contents. A caller that asks query
	// after query leaves the garbage collector less work with it. Default: nil.
	Memory *Hits
}

// Override replaces choices of the engine for one query. Answers do not depend on it. The zero
// value overrides nothing.
type Override struct {
	// Algorithm of a conjunction. Default: plan.Auto, Options.Algorithm.
	Algorithm plan.Algorithm
	// Part assigns a conjunction to one work-group or thread, as plan.MatchBatch.Part says. Nothing bounds the time of a launch then: a long
	// list can make the driver of a display device reset it.
	Part bool
	// Accumulators of a ranked OR. Default: plan.AutoAccumulators.
	Accumulators plan.Accumulators
	// Batch closes the batch of the query at this load: see Options.BatchCandidates, and for
	// ranked queries Options.BatchPostings. Default: 0, these options.
	Batch uint64
	// Processor is the name of the only processor that may answer (Engine.Processors). Search
	// heeds it, and SearchAll refuses it. Default: "", any. A name that no processor with the index has is an error with code InvalidOption.
	Processor string
	// Mode of the scheduler for the query: "async", "sync", or "auto". Default: "", auto.
	Mode string
}

// Statistics are the numbers that BM25 needs of a collection: Docs, Length, and DF by term. The
// statistics of shards add up (Add) to the statistics of the whole, and a shard that ranks with the
// sum gives every document the score that the whole would give it, bit for bit. The best documents
// of the whole are then among the best of the shards, under Or and And; AndOr chooses in each shard
// anew.
type Statistics = bm25.Statistics

// AllMatches is the Query.K that asks for all matching documents in the order of their docIDs, without scores.
const AllMatches = 0

// TotalExact is the Query.Total that counts all matching documents.
const TotalExact = math.MaxUint64

// Total is the number of documents that match a query.
type Total = plan.Total

// Hits is the answer of a query.
type Hits struct {
	// Count is the number of matching documents; of a ranked query the number of Docs.
	Count uint64 `json:"count"`
	// Docs are docIDs: ascending, or of a ranked query by descending score, then ascending
	// docID. It is nil exactly if only the count was asked for; without documents it is empty.
	Docs []uint32 `json:"docs"`
	// Scores of Docs. It is nil exactly if the query was not ranked.
	Scores []float64 `json:"scores,omitempty"`
	// Names of Docs, if Query.Names asked for them. A document without a name has an empty one.
	Names []string `json:"names,omitempty"`
	// Documents are parts of Docs, if Query.Fields asked for them.
	Documents []Contents `json:"documents,omitempty"`
	// Unit is the value of 1 in the integer sums behind Scores: each score is a whole multiple of
	// it. The answers of shards can be merged if their units are equal, as Statistics of the
	// whole make them. It is 0 if the query was not ranked.
	Unit float64 `json:"unit,omitempty"`
	// After is the cursor of the next page, if Query.After asked for it; empty behind the last page.
	After string `json:"after,omitempty"`
	// Total is the number of matching documents, if Query.Total asked for it.
	Total Total `json:"total,omitzero"`
	// Err says why a query of SearchAll is invalid: code InvalidQuery, or Unsupported for a
	// query above a limit. The other fields have no documents then.
	Err error `json:"-"`
}

// internal sets q to the internal form of the query. It returns the load that closes its
// batch.
func (o *Query) internal(q *query.Query) (load uint64) {
	q.Text, q.Literal, q.Terms, q.Weights, q.Expr, q.Filter = o.Text, o.Literal, o.Terms, o.Weights, o.Expr, nil
	q.Options = query.Options{Match: o.Match, K: o.K + o.Offset, Total: o.Total, CountOnly: o.CountOnly, Scoring: o.Scoring, Statistics: o.Statistics, Expansion: o.Expansion.internal(), Dismax: o.dismax(), Fields: o.QueryFields}
	if t := o.Override; t != nil {
		q.Algorithm, q.Part, q.Accumulators = t.Algorithm, t.Part, t.Accumulators
		return t.Batch
	}
	return 0
}

// total returns Hits.Total of the query: of a query that is not ranked from the number of its documents.
func (o *Query) total(count uint64, ranked Total) Total {
	if o.K == 0 && o.Total > 0 {
		ranked = plan.UpTo(count, o.Total)
	}
	return ranked
}

// call returns the caller of the query and how it runs.
func (o *Query) call() (lists.Call, error) {
	c := lists.Call{Call: pool.Call{Caller: o.Caller, Timeout: o.Timeout, Explain: o.Explain}, Fresh: o.Fresh}
	if o.Memory != nil {
		c.Docs, c.Scores = o.Memory.Docs, o.Memory.Scores
	}
	if o.Override == nil {
		return c, nil
	}
	c.Processor = o.Override.Processor
	if o.Override.Mode != "" {
		var err error
		if c.Mode, err = schedule.ParseMode(o.Override.Mode); err != nil {
			return c, failure.Invalid("search", err)
		}
	}
	return c, nil
}

// queries are the queries of a call.
type queries struct {
	all     []Query
	filters map[*Filter]compiledFilter // nil: no query has a filter
}

func (q *queries) Len() int { return len(q.all) }

func (q *queries) Get(i int, to *query.Query) (load uint64) {
	load = q.all[i].internal(to)
	q.restrict(i, to)
	return load
}

// restrict sets the filter of query i.
func (q *queries) restrict(i int, to *query.Query) {
	to.Filter, to.Fault = nil, nil
	if f := q.all[i].Filter; f != nil {
		c := q.filters[f]
		if to.Fault = c.err; c.err == nil {
			to.Filter = c.set
		}
	}
}

func (q *queries) Next(i int, to *query.Query) (changed bool) {
	a, b := &q.all[i-1], &q.all[i]
	defer q.restrict(i, to)
	if a.Match != b.Match || a.K+a.Offset != b.K+b.Offset || a.Total != b.Total || a.CountOnly != b.CountOnly || a.Scoring != b.Scoring || a.Statistics != b.Statistics || a.Override != b.Override || a.Expansion != b.Expansion || a.QueryFields != b.QueryFields || a.dismax() != b.dismax() {
		b.internal(to)
		return true
	}
	to.Text, to.Literal, to.Terms, to.Weights, to.Expr = b.Text, b.Literal, b.Terms, b.Weights, b.Expr
	return false
}

var hitBlocks sync.Pool // *[]Hits: reuses the answers that SearchAll delivers

// search answers a query on the lists of an index.
func search(ctx context.Context, g *lists.Generation, o *Query) (Hits, error) {
	if o.Filter == nil && !o.ordered() {
		return searchIn(ctx, g, o, nil)
	}
	in := new(filter.Compiler)
	defer in.Release()
	return searchIn(ctx, g, o, in)
}

// searchIn is search with tables that may be open already; nil: the query has no filter and no order.
func searchIn(ctx context.Context, g *lists.Generation, o *Query, in *filter.Compiler) (h Hits, err error) {
	defer failure.Catch("search", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	if o.ordered() {
		return searchOrdered(ctx, g, o, in)
	}
	if _, err := o.Page(); err != nil {
		return Hits{}, failure.Wrap("search", err)
	}
	call, err := o.call()
	if err != nil {
		return Hits{}, err
	}
	q := query.Get()
	call.Load = o.internal(q)
	a, err := in.Search(ctx, g, q, o.Filter.form(), &call)
	if err != nil {
		return Hits{}, failure.Wrap("search", err)
	}
	h = Hits{Count: a.Count, Docs: a.Docs, Scores: a.Scores, Unit: a.Unit, Total: o.total(a.Count, a.Total)}
	o.cut(g, &h)
	if o.fetches() {
		err = fetchHits(ctx, g, o, &h)
	}
	return h, err
}

// searchAll answers queries on the lists of an index: see Index.SearchAll.
func searchAll(ctx context.Context, g *lists.Generation, qs []Query, deliver func(first int, hits []Hits) error) (err error) {
	defer failure.Catch("search", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	var call lists.Call
	if len(qs) > 0 {
		if call, err = qs[0].call(); err != nil {
			return err
		}
		if call.Processor != "" {
			return failure.Invalid("search", errors.New("Override.Processor is for single queries"))
		}
	}
	all, in := queries{all: qs}, filter.Compiler{}
	defer in.Release()
	if special(qs) {
		if slices.ContainsFunc(qs, apart) {
			return searchMixed(ctx, g, qs, &in, deliver)
		}
		if all.filters, err = compileAll(ctx, g, qs, &in, &call.Call); err != nil {
			return failure.Wrap("search", err)
		}
	}
	var wrong queryError
	err = g.SearchAll(ctx, &all, &call, func(first int, b *lists.Block) (err error) {
		defer mapped.Catch(mapped.Watch(), &err) // deliver may read names
		hits, _ := hitBlocks.Get().(*[]Hits)
		if hits == nil {
			hits = new([]Hits)
		}
		defer hitBlocks.Put(hits)
		all := (*hits)[:0]
		for i := range b.Len() {
			var h Hits
			h.Count, h.Docs, h.Scores = b.Hits(i)
			if h.Unit, h.Err = b.Unit(i), failure.Wrap("search", b.Err(i)); h.Err == nil {
				q := &qs[first+i]
				h.Total = q.total(h.Count, b.Total(i))
				if q.cut(g, &h); q.fetches() {
					err := fetchHits(ctx, g, q, &h)
					if failure.OfQuery(err) {
						h = Hits{Err: failure.Wrap("search", query.AsInvalid(err))}
						wrong.note(first+i, h.Err)
					} else if err != nil {
						return err
					}
				}
			}
			all = append(all, h)
		}
		err = deliver(first, all)
		clear(all)
		*hits = all
		return err
	})
	return failure.Wrap("search", cmp.Or(err, wrong.err))
}

// queryError is the error of the first query whose documents cannot be read.
type queryError struct {
	mu    sync.Mutex
	query int
	err   error
}

func (e *queryError) note(query int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil || query < e.query {
		e.query, e.err = query, err
	}
}
