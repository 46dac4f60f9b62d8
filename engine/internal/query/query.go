package query

import (
	"strings"
	"sync"

	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/limit"
	"heddle/engine/plan"
)

// Query is one query. Its fields have the meaning of the fields of engine.Query with the same
// names.
type Query struct {
	Text    string
	Literal bool
	Terms   []string
	Weights []float64
	Expr    *querylang.Expr
	Until   limit.Until // ends the analysis
	Filter  Filter      // nil: all documents
	Fault   error       // why the filter is invalid; nil: it is valid
	Sorter  Sorter      // of a query that is not ranked; nil: all documents are wanted
	Options
}

// Wordless tells whether a query has no words. No document has a score by it, and a filter alone has documents.
func (q *Query) Wordless() bool {
	return strings.TrimSpace(q.Text) == "" && len(q.Terms) == 0 && q.Expr == nil
}

// queries reuses queries.
var queries = sync.Pool{New: func() any { return new(Query) }}

// Get returns a query with arbitrary fields, except that Until, Filter, Fault and Sorter are empty.
func Get() *Query { return queries.Get().(*Query) }

// Put takes back a query that no caller uses any more.
func (q *Query) Put() {
	q.Until, q.Filter, q.Fault, q.Sorter = limit.Until{}, nil, nil, nil
	queries.Put(q)
}

// Options are the parts of a query that rule how it runs. Queries with equal options may
// share a batch.
type Options struct {
	Match        querylang.Match
	K            int
	Total        uint64
	CountOnly    bool
	Part         bool
	Algorithm    plan.Algorithm
	Accumulators plan.Accumulators
	Scoring      *bm25.Params
	Statistics   *bm25.Statistics
	Expansion    Expansion
	Dismax       Dismax
	Fields       string // fields of words without a field, and their weights: see querylang.ParseFields; empty: all
}

// Documents is the options of the query for all documents that match it under m, without scores.
func (o *Options) Documents(m querylang.Match) Options {
	return Options{Match: m, Part: o.Part, Algorithm: o.Algorithm, Statistics: o.Statistics, Expansion: o.Expansion, Fields: o.Fields}
}

// Dismax rules the score of a word in several fields.
type Dismax struct {
	On  bool    // the score in the best field, and Tie times the scores in the others; false: they add up
	Tie float64 // 0 to 1
}

// Expansion rules the terms that prefixes and tolerant words stand for.
type Expansion struct {
	Limit int  // most terms of one; 0: Limits.Expansions of the index
	Top   bool // the most frequent terms stand for a word of more than Limit; false: that is an error
	Best  bool // a document has the score of the best of the terms; false: they add up
	Fixed int  // number of first characters that similar words have in common with their word, unless it names a number
}
