package query

import (
	"slices"

	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// Meaning is Expression with the terms in place of lists, whose names the caller has, and with phrases as they were
// asked for.
func (x *Index) Meaning(q *Query, name func(plan.Handle) string) (querylang.Expr, error) {
	b := x.Batch()
	defer x.Put(b)
	s, err := x.documents(b, q)
	if err != nil {
		return querylang.Expr{}, err
	}
	if b.phrased == nil {
		return readable(s, func(h plan.Handle) querylang.Expr { return x.leaf(name(h)) }), nil
	}
	// Simplify needs a source with the phrases. It has the lists of the query alone.
	handles := slices.Compact(slices.Sorted(s.Lists))
	small := &plan.Source{}
	for _, h := range handles {
		l := plan.List{Len: 1}
		if int(h) < len(x.Source.Lists) {
			x.Source.Describe(h)
			l.Len = x.Source.Lists[h].Len
		}
		small.Lists = append(small.Lists, l)
	}
	renumber(&s.Expr, handles)
	s.Expr = s.Simplify(small)
	return readable(s, func(number plan.Handle) querylang.Expr {
		h := handles[number]
		if i := int(h) - len(x.Source.Lists); i < 0 {
			return x.leaf(name(h))
		} else if h < b.phrased.base {
			return querylang.Expr{Op: querylang.All, Field: x.Source.Fields[i].Name}
		}
		i := slices.IndexFunc(b.resolved, func(r *resolved) bool { return r.number == int(h-b.phrased.base) })
		phrase := *b.resolved[i].of
		phrase.Weight = 0
		return phrase
	}), nil
}

// renumber replaces the lists of an expression by their numbers in handles, which ascend.
func renumber(e *plan.Expr, handles []plan.Handle) {
	if e.Op == plan.OpList {
		i, _ := slices.BinarySearch(handles, e.List)
		e.List = plan.Handle(i)
	}
	for i := range e.Args {
		renumber(&e.Args[i], handles)
	}
}

// readable replaces the lists of a set by leaves.
func readable(s set, leaf func(plan.Handle) querylang.Expr) querylang.Expr {
	e := s.Expr
	if s.not {
		all := querylang.Expr{Op: querylang.All}
		switch {
		case e.Nothing():
			return all
		case e.Op == plan.OpOr:
			return querylang.Expr{Op: querylang.Not, Args: append([]querylang.Expr{all}, readable(set{Expr: e}, leaf).Args...)}
		}
		return querylang.Expr{Op: querylang.Not, Args: []querylang.Expr{all, readable(set{Expr: e}, leaf)}}
	}
	if e.Op == plan.OpList {
		return leaf(e.List)
	}
	out := querylang.Expr{Op: map[plan.OpCode]querylang.Op{plan.OpAnd: querylang.And, plan.OpOr: querylang.Or, plan.OpAndNot: querylang.Not}[e.Op]}
	for _, a := range e.Args {
		out.Args = append(out.Args, readable(set{Expr: a}, leaf))
	}
	return out
}
