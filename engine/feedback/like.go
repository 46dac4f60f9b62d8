package feedback

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"heddle/engine"
	"heddle/engine/syntax"
)

// Like finds documents like one document, with the parameters and defaults of Lucene's MoreLikeThis.
type Like struct {
	Terms        int // terms of the query, 1 to 1000; 0: 25
	MinFrequency int // least frequency of a term in the document; 0: 2
	MinDocuments int // least number of documents with a term; 0: 5
}

// Query returns the query of the terms of a document, with the other members of q. The value of a term is its frequency
// times 1 + ln((N + 1) / (n + 1)), where n of N documents have it; the Terms terms of the greatest values are the query, each with
// the weight 1. The query finds the document itself, too. A document without such terms is an error.
func (l Like) Query(ctx context.Context, x Index, name string, q engine.Query) (engine.Query, error) {
	err := errors.Join(within("the number of terms", &l.Terms, 25, 1000), within("the least frequency", &l.MinFrequency, 2, math.MaxInt32),
		within("the least number of documents", &l.MinDocuments, 5, math.MaxInt32))
	if err != nil {
		return q, err
	}
	d, err := x.Document(ctx, name, text)
	if err != nil {
		return q, err
	}
	a, err := analyzer(ctx, x)
	if err != nil {
		return q, err
	}
	values := frequencies(a, d.Snippet)
	maps.DeleteFunc(values, func(_ string, n float64) bool { return n < float64(l.MinFrequency) })
	w, err := look(ctx, x, slices.Sorted(maps.Keys(values)), q.QueryFields)
	if err != nil {
		return q, err
	}
	maps.DeleteFunc(values, func(t string, _ float64) bool { return w.df[t] < uint64(l.MinDocuments) })
	for t := range values {
		values[t] *= 1 + math.Log(float64(w.docs+1)/float64(w.df[t]+1))
	}
	if len(values) == 0 {
		return q, invalid("document %s has no word %d times that %d documents have: lower these numbers", syntax.Quote(name), l.MinFrequency, l.MinDocuments)
	}
	values = best(values, l.Terms)
	for t := range values {
		values[t] = 1
	}
	return w.query(q, values), nil
}
