package query

import (
	"slices"

	"heddle/engine/plan"
)

// addBoolean appends a query that is not ranked.
func (b *Batch) addBoolean(x *Index, q *Query) (uint64, error) {
	e, err := x.read(b, q)
	switch {
	case err != nil:
		return 0, err
	case e != nil:
		f, err := x.formula(b, e)
		if err != nil {
			return 0, err
		}
		return b.addExpr(x, f)
	case q.Match == Or:
		return b.addExpr(x, x.anyOf(slices.Values(b.terms)).Simplify(x.Source))
	}
	b.handles = b.handles[:0]
	shortest := ^uint32(0)
	for _, t := range b.terms {
		h, ok := x.Dictionary.Lookup(t)
		if !ok { // an unknown term is in no document
			b.handles = b.handles[:0]
			break
		}
		b.handles = append(b.handles, h)
		shortest = min(shortest, x.Source.Lists[h].Len)
	}
	b.match.Add(x.Source, b.handles...)
	if len(b.handles) == 0 {
		return 0, nil
	}
	return uint64(shortest), nil
}

// addExpr appends a simplified expression. It returns the number of docIDs that it reads.
func (b *Batch) addExpr(x *Index, e plan.Expr) (uint64, error) {
	if err := b.match.AddExpr(x.Source, e); err != nil {
		return 0, invalid{err}
	}
	return b.match.Load(x.Source, b.match.Queries()-1), nil
}
