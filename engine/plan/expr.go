package plan

import (
	"cmp"
	"slices"
)

// Expr is a boolean expression over lists, a tree. The zero value is list 0.
type Expr struct {
	// Op is OpList, OpAnd, OpOr or OpAndNot.
	Op   OpCode
	List Handle // the list of OpList
	// Args are the operands. OpAnd and OpOr take any number; without operands they
	// are the empty set. OpAndNot is Args[0] without the documents of Args[1:].
	Args []Expr

	need uint32 // greatest number of sets at a time that evaluation takes; 0 before Simplify
}

// Nothing reports whether e, simplified, is the empty set.
func (e Expr) Nothing() bool { return e.Op != OpList && len(e.Args) == 0 }

// Simplify returns an expression with the same documents in canonical form:
//
//   - it contains no empty lists, and no operands that are empty because of them;
//   - nested ANDs are one AND, and nested ORs are one OR;
//   - all exclusions of an AND are one AND NOT around it: the first operand of an AND NOT is
//     a list, an AND or an OR, and each excluded operand is a list, an AND or an AND NOT, because an
//     excluded OR is as many excluded operands;
//   - operands are ordered and distinct: lists first, the shortest first;
//   - no list is both required and excluded.
//
// It does not change e. Time and stack grow with the size and depth of e.
func (e Expr) Simplify(src *Source) Expr {
	if e.Op == OpList {
		if src.Describe(e.List); src.Lists[e.List].Len == 0 {
			return nothing()
		}
		return Expr{List: e.List, need: 1}
	}
	args := make([]Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.Simplify(src)
	}
	s := simplifier{src}
	switch {
	case len(args) == 0:
		return nothing()
	case e.Op == OpAnd:
		return s.and(args)
	case e.Op == OpOr:
		return s.or(args)
	}
	return s.without(args[0], args[1:])
}

func nothing() Expr { return Expr{Op: OpOr, need: 1} }

// simplifier joins operands that are in canonical form.
type simplifier struct{ src *Source }

func (s simplifier) or(args []Expr) Expr {
	var flat []Expr
	for _, a := range args {
		if a.Op == OpOr {
			flat = append(flat, a.Args...)
		} else {
			flat = append(flat, a)
		}
	}
	return s.node(OpOr, flat)
}

func (s simplifier) and(args []Expr) Expr {
	var required, excluded []Expr
	for _, a := range args {
		if a.Nothing() {
			return a
		}
		if a.Op == OpAndNot {
			excluded = append(excluded, a.Args[1:]...)
			a = a.Args[0]
		}
		if a.Op == OpAnd {
			required = append(required, a.Args...)
		} else {
			required = append(required, a)
		}
	}
	e := s.node(OpAnd, required)
	if len(excluded) == 0 {
		return e
	}
	return s.without(e, excluded)
}

// without takes the documents of excluded from e.
func (s simplifier) without(e Expr, excluded []Expr) Expr {
	if e.Op == OpAndNot {
		excluded = slices.Concat(e.Args[1:], excluded)
		e = e.Args[0]
	}
	not := s.or(excluded)
	if e.Nothing() || not.Nothing() {
		return e
	}
	exclude := []Expr{not}
	if not.Op == OpOr {
		exclude = not.Args
	}
	known := func(a Expr) bool {
		_, found := slices.BinarySearchFunc(exclude, a, s.compare)
		return found
	}
	switch {
	case known(e) || e.Op == OpAnd && slices.ContainsFunc(e.Args, known):
		return nothing()
	case e.Op == OpOr && slices.ContainsFunc(e.Args, known):
		left := s.node(OpOr, slices.DeleteFunc(slices.Clone(e.Args), known))
		return s.without(left, exclude)
	}
	return treeOf(OpAndNot, append([]Expr{e}, exclude...))
}

// node makes an AND or OR of operands none of which is empty or of the same kind.
func (s simplifier) node(op OpCode, args []Expr) Expr {
	slices.SortFunc(args, s.compare)
	args = slices.CompactFunc(args, func(a, b Expr) bool { return s.compare(a, b) == 0 })
	switch len(args) {
	case 0:
		return nothing()
	case 1:
		return args[0]
	}
	return treeOf(op, args)
}

// treeOf makes an expression and sets need. The operand that needs most sets is evaluated first.
// Each further operand is evaluated while one more set exists: the result so far.
func treeOf(op OpCode, args []Expr) Expr {
	e := Expr{Op: op, Args: args}
	h := e.heaviest()
	e.need = args[h].need
	for i, a := range args {
		if i != h {
			e.need = max(e.need, a.need+1)
		}
	}
	return e
}

// heaviest returns the index of the first operand with the greatest need.
func (e Expr) heaviest() (h int) {
	for i, a := range e.Args {
		if a.need > e.Args[h].need {
			h = i
		}
	}
	return h
}

// appendOps appends the steps that evaluate e, simplified and not empty.
func (e Expr) appendOps(ops []Op) []Op {
	if e.Op == OpList {
		return append(ops, Op{Code: OpList, List: e.List})
	}
	h := e.heaviest()
	ops = e.Args[h].appendOps(ops)
	for i, a := range e.Args {
		switch {
		case i == h:
		case i == 0 && e.Op == OpAndNot:
			ops = append(a.appendOps(ops), Op{Code: OpNotAnd})
		default:
			ops = append(a.appendOps(ops), Op{Code: e.Op})
		}
	}
	return ops
}

// compare orders expressions in canonical form: lists first, by length and
// handle; then by kind, number of operands and operands.
func (s simplifier) compare(a, b Expr) int {
	if a.Op == OpList && b.Op == OpList {
		return cmp.Or(cmp.Compare(s.src.Lists[a.List].Len, s.src.Lists[b.List].Len), cmp.Compare(a.List, b.List))
	}
	return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(len(a.Args), len(b.Args)), slices.CompareFunc(a.Args, b.Args, s.compare))
}

// Lists yields every list of e, as often as e names it.
func (e Expr) Lists(yield func(Handle) bool) { e.lists(yield) }

func (e Expr) lists(yield func(Handle) bool) bool {
	if e.Op == OpList {
		return yield(e.List)
	}
	for _, a := range e.Args {
		if !a.lists(yield) {
			return false
		}
	}
	return true
}

// Conjunction appends the lists of e, simplified, to dst if e is nothing but an
// AND of lists, one list or none included.
func (e Expr) Conjunction(dst []Handle) ([]Handle, bool) {
	switch {
	case e.Nothing():
		return dst, true
	case e.Op == OpList:
		return append(dst, e.List), true
	case e.Op != OpAnd || slices.ContainsFunc(e.Args, func(a Expr) bool { return a.Op != OpList }):
		return dst, false
	}
	for _, a := range e.Args {
		dst = append(dst, a.List)
	}
	return dst, true
}
