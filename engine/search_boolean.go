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

// addFormula appends a simplified formula to the worker's batch: as a query of
// lists if it is a conjunction, else with an empty query in its place. It returns
// the number of docIDs that there are to look at.
func (x *Index) addFormula(w *worker, f plan.Expr) (uint64, error) {
	if handles, ok := f.Conjunction(w.handles[:0]); ok {
		w.handles = handles
		w.batch.Add(x.src, handles...)
		if len(handles) == 0 {
			return 0, nil
		}
		return uint64(x.src.Lists[w.batch.Query(w.batch.Queries() - 1)[0]].Len), nil
	}
	if err := w.formulas.Add(x.src, f); err != nil {
		return 0, err
	}
	w.places = append(w.places, w.batch.Queries())
	w.batch.Add(x.src)
	load := uint64(0)
	for h := range f.Lists {
		load += uint64(x.src.Lists[h].Len)
	}
	return load, nil
}

// run answers the worker's batch and formulas on s.
func (w *worker) run(ctx context.Context, s plan.Store) error {
	switch w.formulas.Len() {
	case 0:
		return s.Intersect(ctx, &w.batch, &w.results)
	case w.batch.Queries():
		return s.Evaluate(ctx, &w.formulas, &w.results)
	}
	if err := s.Intersect(ctx, &w.batch, &w.plain); err != nil {
		return err
	}
	if err := s.Evaluate(ctx, &w.formulas, &w.sets); err != nil {
		return err
	}
	splice(&w.results, w.batch.Queries(), w.batch.CountOnly, &w.plain, &w.sets, w.places)
	return nil
}

// splice puts the answers to n queries together in their order: those at places, which
// ascend, are the answers of some, one after the other, the others stand in all.
func splice(out *plan.Results, n int, countOnly bool, all, some *plan.Results, places []int) {
	out.Reset()
	next := 0
	for i := range n {
		from, at := all, i
		if next < len(places) && places[next] == i {
			from, at = some, next
			next++
		}
		out.Offsets = append(out.Offsets, out.Offsets[i]+from.Count(at))
		if !countOnly {
			out.Docs = append(out.Docs, from.Query(at)...)
		}
	}
	out.Stats = all.Stats
	out.Stats.Add(some.Stats)
	out.Stats.Queries = uint64(n)
}
