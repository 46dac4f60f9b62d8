package engine

import "heddle/engine/internal/query"

// Expansion rules the terms that a prefix or tolerant word stands for, such as comp*, loom~1, te?t, /b.ne/ or [a TO b]:
// terms of the index or, in a collection, of all its segments. For scores, all of them are in as many documents as the
// most frequent one. The zero value is the default.
type Expansion struct {
	// Top lets the most frequent terms stand for a word with more terms than Limits.Expansions; of equally frequent
	// terms the first ones. A word with more than 65,536 terms is an error all the same. Default: false, such a word is an error.
	Top bool
	// PrefixLength is the number of first characters that similar words have in common with their word: loom~1,2 has
	// its own. Default: 0.
	PrefixLength int
	// Best gives a document the score of the best of the terms in it, instead of their sum. Pure Go ranks such queries.
	// Default: false.
	Best bool
}

// internal returns the internal form.
func (e Expansion) internal() query.Expansion {
	return query.Expansion{Top: e.Top, Fixed: e.PrefixLength, Best: e.Best}
}
