package contents

import (
	"strings"

	"heddle/engine/syntax"
)

// Suggestion is a term of an index with the number of its documents.
type Suggestion struct {
	Term      string
	Documents uint64
}

// Correction is a word without documents, and similar terms: first terms of one edit, then of two, by descending number
// of documents.
type Correction struct {
	Word  string
	Terms []Suggestion
}

// Similar joins the similar terms: "heaven, haven".
func (c *Correction) Similar() string {
	var b strings.Builder
	for i, t := range c.Terms {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(syntax.Short(t.Term))
	}
	return b.String()
}
