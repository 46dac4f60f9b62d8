package predicate

import (
	"fmt"
	"maps"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// shape is the kind of a formula.
type shape uint8

const (
	none shape = iota // no rows
	all               // all rows
	leaf              // rows by their value of one column
	some              // rows by the values of a multi-valued column
	pair              // rows by the order of their values of two columns
	and
	or
)

// formula is the rows for which a predicate is true. It contains no NOT: each leaf is the
// rows for which its test is true, or false below a NOT. With such leaves, AND and OR of
// sets of rows follow three-valued logic.
type formula struct {
	shape shape
	// Of a leaf: the codes that rows may have, snapped (column.Snap), and whether rows
	// without a value are in it.
	column  int
	codes   []plan.CodeRange
	missing bool
	// Of some: codes are of the values, and not takes the rows without such a value.
	not bool
	// Of a pair: the second column, and the order. With sliced, the rows have values of both columns, and their order is
	// the one of base plus code (column.Shifts). Else a row without a value of one of the columns may be in it or not.
	other  int
	by     column.Op
	sliced bool
	base   [2]uint64

	args []formula // operands of and, or: at least two, no constants, and at most one leaf of each column
}

const endedEvery = 1024 // values between two calls of ended

// reader turns the tree of a predicate into a formula.
type reader struct {
	text    string
	columns []column.Column
	ended   func() error // see ParseUntil
	values  int          // so far
}

func (r *reader) fail(at int, reason string) error {
	return &syntax.Error{Text: r.text, Offset: at, Reason: reason}
}

// read gives the rows for which n is true, or with not the rows for which it is false.
func (r *reader) read(n *Node, not bool) (formula, error) {
	switch n.Op {
	case Constant:
		v := n.Values[0]
		if v.Kind == column.Boolean && (v.Text == "true") != not {
			return formula{shape: all}, nil
		}
		return formula{}, nil
	case Not:
		return r.read(&n.Args[0], !not)
	case IsTrue, IsFalse:
		f, err := r.read(&n.Args[0], n.Op == IsFalse)
		if not {
			f = r.others(f)
		}
		return f, err
	case And, Or:
		args := make([]formula, len(n.Args))
		for i := range n.Args {
			var err error
			if args[i], err = r.read(&n.Args[i], not); err != nil {
				return formula{}, err
			}
		}
		if (n.Op == And) != not {
			return r.combine(and, args), nil
		}
		return r.combine(or, args), nil
	}
	i, err := r.find(n.Column, n.At)
	if err != nil {
		return formula{}, err
	}
	c := &r.columns[i]
	switch n.Op {
	case ContainsAll:
		return r.read(n.eachValue(), not)
	case IsNull:
		f := formula{column: i, missing: !not}
		if not {
			f.codes = complement(nil)
		}
		return r.leaf(f), nil
	case Columns:
		return r.compareColumns(i, n, not)
	}
	if c.Values != nil {
		return r.anyValue(i, n, not)
	}
	codes, err := r.test(c, n, not)
	return r.leaf(formula{column: i, codes: codes}), err
}

// test gives the codes for which a test on c is true, or with not false.
func (r *reader) test(c *column.Column, n *Node, not bool) ([]plan.CodeRange, error) {
	if n.Op == Like {
		return r.like(c, n, not)
	}
	return r.codes(c, n, not)
}

// find gives the number of a column.
func (r *reader) find(name string, at int) (int, error) {
	i, err := column.Named(r.columns, name)
	if err != nil {
		return 0, r.fail(at, err.Error())
	}
	return i, nil
}

// like gives the codes of strings that a pattern describes, or with not the other codes.
func (r *reader) like(c *column.Column, n *Node, not bool) ([]plan.CodeRange, error) {
	if c.Type != column.String {
		return nil, r.fail(n.At, fmt.Sprintf("column %q is of type %s: LIKE compares strings", c.Name, c.Type))
	}
	if n.Values[0].Kind == column.Null {
		return nil, nil
	}
	escape := ""
	if len(n.Values) > 1 {
		escape = n.Values[1].Text
	}
	p, err := parsePattern(n.Values[0].Text, escape)
	if err != nil {
		return nil, r.fail(n.Values[0].At, err.Error())
	}
	codes := c.Match(p.prefix(), p.matches)
	if not {
		return complement(codes), nil
	}
	return codes, nil
}

// others is the rows that are not in f.
func (r *reader) others(f formula) formula {
	switch f.shape {
	case none:
		return formula{shape: all}
	case all:
		return formula{}
	case leaf:
		return r.leaf(formula{column: f.column, codes: complement(f.codes), missing: !f.missing})
	case pair:
		f.by = f.by.Not()
		if !f.sliced {
			return f
		}
		lacks := func(i int) formula { return r.leaf(formula{column: i, missing: true}) }
		return r.combine(or, []formula{f, lacks(f.column), lacks(f.other)})
	case some:
		f.not = !f.not
		return f
	}
	args := make([]formula, len(f.args))
	for i, a := range f.args {
		args[i] = r.others(a)
	}
	return r.combine(and+or-f.shape, args)
}

// codes gives the codes for which a test on c is true, or with not false.
func (r *reader) codes(c *column.Column, n *Node, not bool) ([]plan.CodeRange, error) {
	compare := func(by column.Op, v Value) ([]plan.CodeRange, error) {
		if r.values++; r.ended != nil && r.values%endedEvery == 0 {
			if err := r.ended(); err != nil {
				return nil, err
			}
		}
		codes, err := c.Compare(by, v.Literal)
		if err != nil {
			err = r.fail(v.At, err.Error())
		}
		return codes, err
	}
	switch n.Op {
	case Compare:
		if not {
			return compare(n.By.Not(), n.Values[0])
		}
		return compare(n.By, n.Values[0])
	case Between:
		least, most := column.Ge, column.Le
		if not {
			least, most = column.Lt, column.Gt
		}
		a, err := compare(least, n.Values[0])
		if err != nil {
			return nil, err
		}
		b, err := compare(most, n.Values[1])
		if not {
			return unite(a, b), err
		}
		return intersect(a, b), err
	}
	var in []plan.CodeRange // codes of the values
	null := false
	for _, v := range n.Values {
		codes, err := compare(column.Eq, v)
		if err != nil {
			return nil, err
		}
		in = append(in, codes...)
		null = null || v.Kind == column.Null
	}
	switch in = unite(in); {
	case not && null: // a value outside of the list may equal the unknown one
		return nil, nil
	case not:
		return complement(in), nil
	}
	return in, nil
}

// leaf brings a leaf into its form, or makes it a constant.
func (r *reader) leaf(f formula) formula {
	c := &r.columns[f.column]
	f.shape, f.codes = leaf, c.Snap(f.codes)
	f.missing = f.missing && c.Missing > 0
	n := len(c.Bins)
	switch {
	case len(f.codes) == 0 && !f.missing:
		return formula{}
	case f.missing != (c.Missing > 0): // rows without a value are left out
	case n == 0, len(f.codes) == 1 && f.codes[0] == plan.CodeRange{Lo: c.Bins[0].Lo, Hi: c.Bins[n-1].Hi}:
		return formula{shape: all}
	}
	return f
}

// combine is the AND or OR of formulas. Leaves of one column become one.
func (r *reader) combine(op shape, args []formula) formula {
	decides, drops := none, all
	if op == or {
		decides, drops = all, none
	}
	var out []formula
	leaves := map[int][]formula{} // by column
	values := map[int][]formula{} // by column: the leaves that join, likewise
	for _, a := range args {
		parts := []formula{a}
		if a.shape == op {
			parts = a.args
		}
		for _, p := range parts {
			switch p.shape {
			case decides:
				return p
			case drops:
			case leaf:
				leaves[p.column] = append(leaves[p.column], p)
			case some:
				if p.not != (op == and) {
					out = append(out, p)
					break
				}
				values[p.column] = append(values[p.column], p)
			default:
				out = append(out, p)
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(leaves)) {
		p := r.join(op, leaves[i])
		if p.shape == decides {
			return p
		}
		out = append(out, p)
	}
	for _, i := range slices.Sorted(maps.Keys(values)) {
		p := r.joinValues(values[i])
		if p.shape == decides {
			return p
		}
		out = append(out, p)
	}
	switch len(out) {
	case 0:
		return formula{shape: drops}
	case 1:
		return out[0]
	}
	return formula{shape: op, args: out}
}

// join is the AND or OR of leaves of one column.
func (r *reader) join(op shape, leaves []formula) formula {
	f := leaves[0]
	sets := make([][]plan.CodeRange, len(leaves))
	for i, l := range leaves {
		sets[i] = l.codes
		if op == or {
			f.missing = f.missing || l.missing
		} else {
			f.missing = f.missing && l.missing
		}
	}
	if op == or {
		f.codes = unite(sets...)
	} else {
		f.codes = intersect(sets...)
	}
	return r.leaf(f)
}
