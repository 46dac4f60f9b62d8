package query

import (
	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// addBoolean appends a query that is not ranked.
func (b *Batch) addBoolean(x *Index, q *Query) (uint64, error) {
	if q.Expr != nil {
		return b.addExpr(x, x.expression(b, *q.Expr))
	}
	terms := q.Terms
	if q.Text != "" {
		terms = x.analyze(b, q.Text)
	}
	if q.Match == Or {
		f := plan.Expr{Op: plan.OpOr}
		for _, t := range terms {
			if h, ok := x.Dictionary.Lookup(t); ok {
				f.Args = append(f.Args, plan.Expr{List: h})
			}
		}
		return b.addExpr(x, f.Simplify(x.Source))
	}
	b.handles = b.handles[:0]
	shortest := ^uint32(0)
	for _, t := range terms {
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

// Expression returns the meaning of e over the lists of the index, in canonical form
// (plan.Expr.Simplify). Each term is analysed as documents were: a term that the analysis
// splits is an AND of its parts; a term of which nothing is left, such as a stop word, drops
// out, with the terms that NOT subtracts from it; a term that no document has is the empty
// set.
func (x *Index) Expression(e querylang.Expr) plan.Expr {
	b := x.Batch()
	defer x.Put(b)
	return x.expression(b, e)
}

func (x *Index) expression(b *Batch, e querylang.Expr) plan.Expr {
	f, _ := x.translate(b, e)
	return f.Simplify(x.Source)
}

// translate returns false, and the empty set, where nothing is left of e.
func (x *Index) translate(b *Batch, e querylang.Expr) (plan.Expr, bool) {
	if e.Op == querylang.Term {
		f := plan.Expr{Op: plan.OpAnd}
		for _, t := range x.analyze(b, e.Term) {
			h, ok := x.Dictionary.Lookup(t)
			if !ok {
				return plan.Expr{Op: plan.OpOr}, true
			}
			f.Args = append(f.Args, plan.Expr{List: h})
		}
		return f, len(f.Args) > 0
	}
	f := plan.Expr{Op: map[querylang.Op]plan.OpCode{querylang.And: plan.OpAnd, querylang.Or: plan.OpOr, querylang.Not: plan.OpAndNot}[e.Op]}
	for i, a := range e.Args {
		g, ok := x.translate(b, a)
		if ok {
			f.Args = append(f.Args, g)
		} else if i == 0 && e.Op == querylang.Not {
			break
		}
	}
	return f, len(f.Args) > 0
}
