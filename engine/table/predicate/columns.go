package predicate

import (
	"errors"
	"fmt"

	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// MaxCompared is how many values the column with fewer values may have in a comparison of
// two columns.
const MaxCompared = 1000

// compareColumns is the rows for which column i By the other column is true, or with not
// false: for each value v of one column, the rows with v whose other column compares so
// with v.
func (r *reader) compareColumns(i int, n *Node, not bool) (formula, error) {
	at := n.Values[0].At
	k, err := r.find(n.Other, at)
	if failed := (*syntax.Error)(nil); errors.As(err, &failed) {
		return formula{}, r.fail(at, failed.Reason+": a text goes in 'single quotes'")
	}
	by := n.By
	if not {
		by = by.Not()
	}
	if i == k {
		if by == column.Eq || by == column.Le || by == column.Ge {
			return r.leaf(formula{column: i, codes: complement(nil)}), nil
		}
		return formula{}, nil
	}
	if few(&r.columns[k]) && (!few(&r.columns[i]) || len(r.columns[k].Bins) < len(r.columns[i].Bins)) {
		i, k, by = k, i, by.Swap()
	}
	c, other := &r.columns[i], &r.columns[k]
	if !few(c) {
		return formula{}, r.fail(at, fmt.Sprintf("columns %q and %q both have more than %d values, or several values in a bin: a comparison of columns needs one with a bin per value (bitmap build --set %s:binning=distinct)",
			c.Name, other.Name, MaxCompared, c.Name))
	}
	rows := make([]formula, len(c.Bins))
	for b, bin := range c.Bins {
		codes, err := other.Compare(by.Swap(), c.Literal(bin.Lo))
		if err != nil {
			return formula{}, r.fail(at, fmt.Sprintf("columns %q of type %s and %q of type %s do not compare", c.Name, c.Type, other.Name, other.Type))
		}
		rows[b] = r.combine(and, []formula{
			r.leaf(formula{column: i, codes: []plan.CodeRange{{Lo: bin.Lo, Hi: bin.Lo}}}),
			r.leaf(formula{column: k, codes: codes}),
		})
	}
	return r.combine(or, rows), nil
}

// few reports whether a column has few values, each in a bin of its own.
func few(c *column.Column) bool {
	for _, b := range c.Bins {
		if b.Lo != b.Hi {
			return false
		}
	}
	return len(c.Bins) <= MaxCompared
}
