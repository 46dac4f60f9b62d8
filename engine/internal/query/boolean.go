package query

import (
	"slices"

	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// addBoolean appends a query that is not ranked.
func (b *Batch) addBoolean(x *Index, q *Query) (uint64, error) {
	terms := q.Terms
	b.source, b.phrased = x.Source, nil
	if q.Text != "" || q.Expr != nil || len(terms) > x.Limits.Terms || len(terms) == 0 && q.Filter != nil {
		e, err := x.read(b, q)
		if err != nil {
			return 0, err
		}
		if e != nil {
			f, err := x.compile(b, e)
			if err != nil {
				return 0, err
			}
			if b.phrased != nil {
				b.match.Add(x.Source)
				return b.phrased.load(x.Source) + b.phrased.inFields(x.Source), nil
			}
			load, err := b.addExpr(x, f.Expr)
			if err == nil && f.not {
				b.markComplement(x)
			}
			return load, err
		}
		terms = b.terms
	}
	if q.Match == querylang.AnyTerm {
		return b.addExpr(x, x.anyOf(slices.Values(terms)).Simplify(x.Source))
	}
	b.handles = b.handles[:0]
	for _, t := range terms {
		h, ok := x.Dictionary.Lookup(t)
		if !ok { // an unknown term is in no document
			b.handles = b.handles[:0]
			break
		}
		b.handles = append(b.handles, h)
	}
	b.match.Add(x.Source, b.handles...)
	return b.match.Load(x.Source, b.match.Queries()-1), nil
}

// addExpr appends a simplified expression. It returns the number of docIDs that it reads.
func (b *Batch) addExpr(x *Index, e plan.Expr) (uint64, error) {
	if err := b.match.AddExpr(x.Source, e); err != nil {
		return 0, invalid{err}
	}
	return b.match.Load(x.Source, b.match.Queries()-1), nil
}
