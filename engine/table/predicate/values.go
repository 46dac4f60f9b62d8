package predicate

import (
	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// anyValue is the rows of which a value of multi-valued column i has a test, or with not the rows with
// values of which none has it. A test with NULL may be neither true nor false for a value.
func (r *reader) anyValue(i int, n *Node, not bool) (formula, error) {
	if n.Op == Compare && n.By == column.Ne { // no value is equal, in place of: some value is different
		equal := *n
		equal.By = column.Eq
		return r.anyValue(i, &equal, !not)
	}
	codes, err := r.test(r.columns[i].Values, n, not)
	if err != nil {
		return formula{}, err
	}
	if !not {
		return r.some(formula{column: i, codes: codes}), nil
	}
	present := r.leaf(formula{column: i, codes: complement(nil)})
	return r.combine(and, []formula{present, r.some(formula{column: i, codes: complement(codes), not: true})}), nil
}

// some brings the rows with, or without, a value in codes into their form. It may be a leaf or a
// constant.
func (r *reader) some(f formula) formula {
	c := r.columns[f.column].Values
	f.shape, f.codes = some, c.Snap(f.codes)
	n := len(c.Bins)
	switch {
	case len(f.codes) == 0 && f.not:
		return formula{shape: all}
	case len(f.codes) == 0:
		return formula{}
	case len(f.codes) > 1 || f.codes[0] != plan.CodeRange{Lo: c.Bins[0].Lo, Hi: c.Bins[n-1].Hi}:
		return f
	case f.not: // rows without values
		return r.leaf(formula{column: f.column, missing: true})
	}
	return r.leaf(formula{column: f.column, codes: complement(nil)})
}

// joinValues is the OR of rows with values, or the AND of rows without values, of one column.
func (r *reader) joinValues(all []formula) formula {
	f := all[0]
	sets := make([][]plan.CodeRange, len(all))
	for i, p := range all {
		sets[i] = p.codes
	}
	f.codes = unite(sets...)
	return r.some(f)
}

// eachValue is the AND of comparisons that ContainsAll stands for.
func (n *Node) eachValue() *Node {
	out := &Node{Op: And, At: n.At}
	for _, v := range n.Values {
		out.Args = append(out.Args, Node{Op: Compare, By: column.Eq, Column: n.Column, Values: []Value{v}, At: n.At})
	}
	return out
}

// list appends the selection of the values of f.
func (x *splitter) list(f formula) (Set, error) {
	c := x.columns[f.column].Values
	rows := uint32(0)
	for _, b := range c.Bins {
		rows += b.Rows
	}
	codes := formula{shape: leaf, codes: f.codes}
	p, err := selection(codes, []column.Column{*c}, rows, x.s)
	if err != nil {
		return Set{}, err
	}
	x.add(p, f.column)
	x.plan.Joined = append(x.plan.Joined, c.Name)
	return Set{Op: Valued, Column: f.column, Not: f.not, Selection: x.s.Len() - 1}, nil
}
