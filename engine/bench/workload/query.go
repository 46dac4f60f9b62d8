package workload

import (
	"heddle/engine/index/querylang"
	"heddle/engine/internal/query"
)

// Query is a query as terms.
type Query struct {
	Terms   []string
	Weights []float64 // weight of each term of a ranked query; nil: each 1
}

// Dictionary finds the list of a term. It is safe for concurrent use.
type Dictionary = query.Dictionary

// Mode selects the documents of a ranked query.
type Mode = querylang.Match

// Modes of ranked queries: any term, every term, and every term if enough documents have
// all of them.
const (
	Or    = querylang.AnyTerm
	And   = querylang.AllTerms
	AndOr = querylang.AllElseAny
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{Or, And, AndOr} }
