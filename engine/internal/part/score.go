package part

import (
	"context"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/query"
)

// Scored is the score of a document in its parts.
type Scored struct {
	Name string
	Why  *query.Why // nil: the query does not match the document
}

// Score returns the score that the only query of q, which is ranked, gives to a document. Filters of q have no effect.
func (p *Part) Score(ctx context.Context, q *Queries, doc uint32) (out *Scored, err error) {
	defer func() { err = failure.Wrap("explain score", err) }()
	defer mapped.Catch(mapped.Watch(), &err)
	if q.Len() != 1 || q.K == 0 {
		return nil, invalidOption("explain score", "%d queries for %d documents, want one ranked query", q.Len(), q.K)
	}
	r, err := p.restrict(q, []*filter.Filter{{Docs: []uint32{doc}}})
	if err != nil {
		return nil, err
	}
	var in filter.Compiler
	defer in.Release()
	call, one := q.call(), query.Get()
	r.Get(0, one)
	out = new(Scored)
	if out.Why, err = in.Why(ctx, p.Generation, one, r.filters[1], &call, doc); out.Why != nil {
		out.Name, err = p.Name(doc)
	}
	return out, err
}
