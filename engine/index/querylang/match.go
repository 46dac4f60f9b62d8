package querylang

import (
	"fmt"
	"strings"

	"heddle/engine/syntax"
)

// Match says which documents a query without operators matches.
type Match uint8

const (
	// AnyTerm matches documents with any term; unknown terms are left out.
	AnyTerm Match = iota
	// AllTerms matches documents with every term, and none if a term is unknown.
	AllTerms
	// AllElseAny is for ranked queries: AllTerms if that finds K documents, else AnyTerm (Ding et al.
	// 2009, section 8.3).
	AllElseAny
)

// String returns the name that command line and configuration use: "or", "and", "and-or".
func (m Match) String() string {
	switch m {
	case AnyTerm:
		return "or"
	case AllTerms:
		return "and"
	case AllElseAny:
		return "and-or"
	}
	return fmt.Sprintf("match(%d)", uint8(m))
}

// Join is the operator between the words of a text that has none there.
func (m Match) Join() Op {
	if m == AllTerms {
		return And
	}
	return Or
}

// ParseMatch is the inverse of String. It ignores case.
func ParseMatch(s string) (Match, error) {
	for m := AnyTerm; m <= AllElseAny; m++ {
		if strings.EqualFold(s, m.String()) {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown mode %s (one of or, and, and-or)", syntax.Quote(s))
}
