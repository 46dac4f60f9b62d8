package engine

import (
	"context"

	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// Formula says what e means over the lists of the index, in canonical form
// (plan.Expr.Simplify). Each term goes through the analyzer that the documents
// went through: what it splits is an AND of its parts; a term of which nothing is
// left, such as a stop word, drops out, and so does what is to be subtracted from
// it; a term that no document has is the empty set.
func (x *Index) Formula(e querylang.Expr) plan.Expr {
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	return x.formula(w, e)
}

func (x *Index) formula(w *worker, e querylang.Expr) plan.Expr {
	f, _ := x.translate(w, e)
	return f.Simplify(x.src)
}

// translate gives false, and the empty set, where nothing is left of e.
func (x *Index) translate(w *worker, e querylang.Expr) (plan.Expr, bool) {
	if e.Op == querylang.Term {
		f := plan.Expr{Op: plan.OpAnd}
		for _, t := range x.analyze(w, e.Term) {
			h, ok := x.dict.Lookup(t)
			if !ok {
				return plan.Expr{Op: plan.OpOr}, true
			}
			f.Args = append(f.Args, plan.Expr{List: h})
		}
		return f, len(f.Args) > 0
	}
	f := plan.Expr{Op: map[querylang.Op]plan.OpCode{querylang.And: plan.OpAnd, querylang.Or: plan.OpOr, querylang.Not: plan.OpAndNot}[e.Op]}
	for i, a := range e.Args {
		g, ok := x.translate(w, a)
		if ok {
			f.Args = append(f.Args, g)
		} else if i == 0 && e.Op == querylang.Not {
			break
		}
	}
	return f, len(f.Args) > 0
}

// addExpr appends a simplified expression to the worker's batch and returns the
// number of docIDs that it reads.
func (x *Index) addExpr(w *worker, e plan.Expr) (uint64, error) {
	if err := w.batch.AddExpr(x.src, e); err != nil {
		return 0, err
	}
	return w.batch.Load(x.src, w.batch.Queries()-1), nil
}

// run answers the worker's batch on s.
func (w *worker) run(ctx context.Context, s plan.Store) error {
	return s.Match(ctx, &w.batch, &w.results)
}
