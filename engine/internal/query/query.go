package query

import (
	"fmt"
	"strings"
	"sync"

	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/limit"
	"heddle/engine/plan"
	"heddle/engine/syntax"
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
	Fault   error       // of a filter that is invalid
	Options

	Settings Settings // of Options, when they are checked
}

// queries reuses queries.
var queries = sync.Pool{New: func() any { return new(Query) }}

// Get returns a query with arbitrary fields, except that Until, Filter and Fault are empty.
func Get() *Query { return queries.Get().(*Query) }

// Put takes back a query that no caller uses any more.
func (q *Query) Put() {
	q.Until, q.Filter, q.Fault = limit.Until{}, nil, nil
	queries.Put(q)
}

// Options are the parts of a query that rule how it runs. Queries with equal options may
// share a batch.
type Options struct {
	Match        Match
	K            int
	CountOnly    bool
	Part         bool
	Algorithm    plan.Algorithm
	Accumulators plan.Accumulators
	Scoring      *bm25.Params
	Statistics   *Statistics
}

// Match says which documents a query matches.
type Match uint8

const (
	Or    Match = iota // documents with any term; unknown terms are left out
	And                // documents with every term; none where a term is unknown
	AndOr              // And where it finds K documents, else Or (Ding et al. 2009, section 8.3)
)

// String returns the name that command line and configuration use.
func (m Match) String() string {
	switch m {
	case Or:
		return "or"
	case And:
		return "and"
	case AndOr:
		return "and-or"
	}
	return fmt.Sprintf("match(%d)", uint8(m))
}

// ParseMatch is the inverse of String. It ignores case.
func ParseMatch(s string) (Match, error) {
	for m := Or; m <= AndOr; m++ {
		if strings.EqualFold(s, m.String()) {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown mode %s (one of or, and, and-or)", syntax.Quote(s))
}
