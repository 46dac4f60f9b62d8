package query

import (
	"cmp"
	"slices"

	"heddle/engine/index/snippet"
)

// WeightedTerms returns the terms of q that add to scores, analysed as documents were, and
// their weights. It keeps duplicates.
func (x *Index) WeightedTerms(q *Query) ([]string, []float64, error) {
	b := x.Batch()
	defer x.Put(b)
	if err := x.readScored(b, q); err != nil {
		return nil, nil, err
	}
	for _, r := range b.scoredPhrases {
		b.terms = slices.AppendSeq(b.terms, r.terms())
		b.weigh(cmp.Or(r.of.Weight, 1))
	}
	return slices.Clone(b.terms), slices.Clone(b.weights), nil
}

// readScored sets the terms and phrases of b to the terms and phrases of q that add to scores.
func (x *Index) readScored(b *Batch, q *Query) error {
	e, err := x.read(b, q)
	if err == nil && e != nil {
		err = x.scored(b, e)
	}
	return err
}

// Marked returns the terms and phrases of q that add to scores, for the marks of snippets.
func (x *Index) Marked(q *Query) (terms []string, phrases []snippet.Phrase, err error) {
	b := x.Batch()
	defer x.Put(b)
	if err := x.readScored(b, q); err != nil {
		return nil, nil, err
	}
	for _, r := range b.scoredPhrases {
		p := snippet.Phrase{Kind: r.kind(), Distance: r.of.Distance}
		for _, place := range r.places {
			p.Slots = append(p.Slots, snippet.Slot{Offset: place.offset, Terms: place.terms})
		}
		phrases = append(phrases, p)
	}
	return slices.Clone(b.terms), phrases, nil
}
