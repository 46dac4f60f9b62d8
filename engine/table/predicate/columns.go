package predicate

import (
	"errors"
	"fmt"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// compareColumns is the rows for which column i By the other column is true, or with not
// false.
func (r *reader) compareColumns(i int, n *Node, not bool) (formula, error) {
	at := n.Values[0].At
	k, err := r.find(n.Other, at)
	if failed := (*syntax.Error)(nil); errors.As(err, &failed) {
		return formula{}, r.fail(at, failed.Reason+": a text goes in 'single quotes'")
	}
	c, other := &r.columns[i], &r.columns[k]
	for _, c := range []*column.Column{c, other} {
		if c.Values != nil {
			return formula{}, r.fail(at, fmt.Sprintf("column %q is multi-valued: it compares with values alone", c.Name))
		}
	}
	if !c.Type.ComparesWith(other.Type) {
		return formula{}, r.fail(at, fmt.Sprintf("columns %q of type %s and %q of type %s do not compare", c.Name, c.Type, other.Name, other.Type))
	}
	by := n.By
	if not {
		by = by.Not()
	}
	pair := formula{shape: pair, column: i, other: k, by: by}
	if i == k {
		pair.shape = none
		if by == column.Eq || by == column.Le || by == column.Ge {
			pair.shape = all
		}
	}
	if pair.base[0], pair.base[1], pair.sliced = c.Shifts(other); pair.sliced && i != k {
		return pair, nil
	}
	values := func(i int) formula { return r.leaf(formula{column: i, codes: complement(nil)}) }
	return r.combine(and, []formula{pair, values(i), values(k)}), nil
}

// SetOp is the kind of a Set.
type SetOp uint8

const (
	Selected SetOp = iota // the rows of a selection
	Compared              // rows by the order of their values of two columns
	Both                  // rows that all Args have
	Either                // rows that one of Args has or more
	Valued                // rows with a selected value of a multi-valued column
)

// comparison is a pair as a text such as "a < b".
func (f *formula) comparison(columns []column.Column) string {
	return fmt.Sprintf("%s %v %s", columns[f.column].Name, f.by, columns[f.other].Name)
}

// Set is the rows of a predicate that compares columns by their values, or has tests of multi-valued columns. A row without a value of one of the
// columns is decided by the Args before the comparison: Args are in the order of evaluation.
type Set struct {
	Op        SetOp
	Selection int  // number among the selections of the predicate, for Selected and Valued
	Column    int  // the multi-valued column of Valued
	Not       bool // for Valued: the rows without such a value, whether they have values or not
	A, B      int  // the columns of Compared
	By        column.Op
	Args      []Set
}

// compares reports whether f compares columns by their values, or has tests of multi-valued columns.
func (f *formula) compares() bool {
	for i := range f.args {
		if f.args[i].compares() {
			return true
		}
	}
	return f.shape == pair && !f.sliced || f.shape == some
}

// splitter divides a formula into selections and comparisons of columns.
type splitter struct {
	reader
	rows uint32
	s    *plan.SelectBatch // receives the selections of the predicate; it has no other selections
	plan Plan
}

// add notes a selection that was appended, of the table or of the values of a column.
func (x *splitter) add(p Plan, of int) {
	x.plan.Tests, x.plan.Vectors = append(x.plan.Tests, p.Tests...), x.plan.Vectors+p.Vectors
	x.plan.Of, x.plan.Sliced = append(x.plan.Of, of), append(x.plan.Sliced, p.Sliced...)
}

// set appends the selections of f.
func (x *splitter) set(f formula) (Set, error) {
	switch {
	case f.shape == pair && !f.sliced:
		x.plan.Compared = append(x.plan.Compared, f.comparison(x.columns))
		return Set{Op: Compared, A: f.column, B: f.other, By: f.by}, nil
	case f.shape == some:
		return x.list(f)
	case !f.compares():
		p, err := selection(f, x.columns, x.rows, x.s)
		if err == nil {
			x.add(p, OfTable)
		}
		return Set{Op: Selected, Selection: x.s.Len() - 1}, err
	}
	var plain, lists, pairs, mixed []formula
	for _, a := range f.args {
		switch {
		case a.shape == pair && !a.sliced:
			pairs = append(pairs, a)
		case a.shape == some:
			lists = append(lists, a)
		case a.compares():
			mixed = append(mixed, a)
		default:
			plain = append(plain, a)
		}
	}
	args := slices.Concat(lists, pairs, mixed)
	if len(plain) > 0 {
		args = append([]formula{x.combine(f.shape, plain)}, args...)
	}
	out := Set{Op: Both}
	if f.shape == or {
		out.Op = Either
	}
	for _, a := range args {
		s, err := x.set(a)
		if err != nil {
			return out, err
		}
		out.Args = append(out.Args, s)
	}
	return out, nil
}
