// Package suggest proposes terms of an index: for the beginning of a word, and in place of words that no document has.
package suggest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/engine/failure"
	"heddle/engine/index/bm25"
	"heddle/engine/index/contents"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/query"
)

// Term and Correction are the answers.
type (
	Term       = contents.Suggestion
	Correction = contents.Correction
)

// Expand returns the terms that a prefix or tolerant word stands for, with the numbers of their documents.
type Expand func(word string) (terms []string, df []uint64, err error)

// Bounds of suggestions.
const (
	MostTerms    = 1000 // of a prefix
	DefaultTerms = 10
	similar      = 3 // terms in place of a word
	corrected    = 8 // words of a query
)

// Prefix returns the terms with a beginning that the most documents have, at most a number of them; 0 is DefaultTerms. Equally
// frequent terms are in their order.
func Prefix(expand Expand, prefix string, most int) ([]Term, error) {
	switch {
	case strings.TrimSpace(prefix) == "":
		return nil, query.Option(errors.New("prefix: want the beginning of a word, found none"))
	case most < 0 || most > MostTerms:
		return nil, query.Option(fmt.Errorf("limit %d: want 1 to %d", most, MostTerms))
	}
	terms, df, err := expandPrefix(expand, prefix)
	if err != nil {
		return nil, err
	}
	return best(terms, df, cmp.Or(most, DefaultTerms)), nil
}

// expandPrefix returns the terms with a beginning, which may be the beginning of a word of a field: title:lo.
func expandPrefix(expand Expand, prefix string) ([]string, []uint64, error) {
	if name, word, ok := strings.Cut(prefix, bm25.FieldMark); ok && word != "" && querylang.IsField(name) {
		leaf := querylang.Expr{Op: querylang.Prefix, Field: name, Term: word}
		if terms, df, err := expand(leaf.String()); !failure.OfQuery(err) { // else the index has no such field
			return terms, df, err
		}
	}
	leaf := querylang.Expr{Op: querylang.Prefix, Term: prefix}
	return expand(leaf.String())
}

// best returns the most frequent terms that documents have.
func best(terms []string, df []uint64, most int) (all []Term) {
	for i, t := range terms {
		if df[i] > 0 {
			all = append(all, Term{Term: t, Documents: df[i]})
		}
	}
	slices.SortFunc(all, func(a, b Term) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Term, b.Term))
	})
	all = all[:min(most, len(all))]
	for i := range all {
		all[i].Term = strings.ToValidUTF8(all[i].Term, "\uFFFD")
	}
	return all
}

// Correct returns corrections of the terms without documents: of at most 8 of them. Terms of an index with fields are words of
// fields.
func Correct(expand Expand, terms []string, df []uint64, fields bool) (all []Correction, err error) {
	seen := map[string]bool{}
	for i, t := range terms {
		if df[i] > 0 || seen[t] || len(seen) == corrected {
			continue
		}
		seen[t] = true
		c := Correction{Word: strings.ToValidUTF8(t, "\uFFFD")}
		word := querylang.Expr{Term: t}
		if fields {
			word.Field, word.Term, _ = strings.Cut(t, bm25.FieldMark)
		}
		for edits := 1; edits <= mostEdits(word.Term) && len(c.Terms) == 0; edits++ {
			near, df, err := expand(fmt.Sprintf("%s~%d", word.String(), edits))
			if failure.OfQuery(err) { // the word is too long, or has characters that no similar word has
				break
			}
			if err != nil {
				return nil, err
			}
			c.Terms = best(near, df, similar)
		}
		if len(c.Terms) > 0 {
			all = append(all, c)
		}
	}
	return all, nil
}

// mostEdits is the most edits for a word: none for 1 or 2 characters, one for up to 4.
func mostEdits(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < 3:
		return 0
	case n < 5:
		return 1
	}
	return 2
}
