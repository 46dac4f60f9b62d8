package engine

import (
	"context"

	"heddle/engine/failure"
	"heddle/engine/index/contents"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/part"
	"heddle/engine/internal/suggest"
)

// Suggestion is a term with the number of its documents.
type Suggestion = contents.Suggestion

// Correction is a word of a query that no document has, and similar terms: first terms of one edit, then of two, by
// descending number of documents.
type Correction = contents.Correction

// Suggest returns the terms that begin with a prefix and that the most documents have, at most a number of them, 1 to
// 1,000; 0 is 10. The analysis of the index changes the characters of the prefix, but does not stem it. Terms of an
// index with fields have their field in front, and the prefix may have it: title:lo. Errors: codes
// InvalidOption; InvalidQuery for a prefix of no or several words, and for one of more than 65,536 terms.
func (x *Index) Suggest(ctx context.Context, prefix string, most int) ([]Suggestion, error) {
	s, err := x.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Suggest(ctx, prefix, most)
}

// Suggest is Index.Suggest on the snapshot.
func (s *Snapshot) Suggest(ctx context.Context, prefix string, most int) ([]Suggestion, error) {
	g, err := s.lists("suggest")
	if err != nil {
		return nil, err
	}
	all, err := suggest.Prefix(expanded(ctx, g), prefix, most)
	return all, failure.Wrap("suggest", err)
}

// Corrections returns similar terms in place of the words of q that no document has, of at most 8 words and 3 terms for
// each. Words of 1 or 2 characters have none, and words of at most 4 characters only terms of one edit. Excluded words count
// not. Words and terms are as the index has them, such as stems. Errors are as in WeightedTerms.
func (s *Snapshot) Corrections(ctx context.Context, q Query) ([]Correction, error) {
	g, err := s.lists("corrections")
	if err != nil {
		return nil, err
	}
	terms, _, err := s.WeightedTerms(q)
	if err != nil {
		return nil, err
	}
	statistics := s.Statistics(terms...)
	df := make([]uint64, len(terms))
	for i, t := range terms {
		df[i] = statistics.DF[t]
	}
	all, err := suggest.Correct(expanded(ctx, g), terms, df, len(statistics.Fields) > 0)
	return all, failure.Wrap("corrections", err)
}

// expanded returns the terms of a prefix or tolerant word of an index.
func expanded(ctx context.Context, g *lists.Generation) suggest.Expand {
	return func(word string) ([]string, []uint64, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		t, err := partOf(g, nil).Terms(ctx, &part.TermsRequest{Texts: []string{word}})
		if err == nil && len(t.Errors) > 0 {
			err = t.Errors[0].Err
		}
		if err != nil {
			return nil, nil, err
		}
		return t.Terms, t.DF, nil
	}
}

// Suggest returns the terms that begin with a prefix and that the most documents have: see Index.Suggest.
func (c *Collection) Suggest(ctx context.Context, prefix string, most int) ([]Suggestion, error) {
	return c.all.Suggest(ctx, c.Internal().Name(), prefix, most)
}

// Corrections returns similar terms in place of the words of q that no document has: see Snapshot.Corrections.
func (c *Collection) Corrections(ctx context.Context, q Query) ([]Correction, error) {
	asked, err := ForParts([]Query{q})
	if err != nil {
		return nil, err
	}
	return c.all.Corrections(ctx, c.Internal().Name(), &asked[0])
}
