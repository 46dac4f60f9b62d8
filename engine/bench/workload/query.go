package workload

import "heddle/engine/plan"

// Query is a query as terms.
type Query struct {
	Terms   []string
	Weights []float64 // of a ranked query; nil: 1 each
}

// Dictionary finds the list of a term. It is safe for concurrent use.
type Dictionary interface {
	Lookup(term string) (plan.Handle, bool)
}

// Mode selects the documents of a ranked query.
type Mode uint8

// Modes of ranked queries: any term, every term, and every term if enough documents have
// all of them.
const (
	Or Mode = iota
	And
	AndOr
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{Or, And, AndOr} }

// String returns the name on the command line.
func (m Mode) String() string { return [...]string{"or", "and", "and-or"}[m] }
