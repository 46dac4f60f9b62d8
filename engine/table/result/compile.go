// Package result computes the values that a statement asks for: aggregates of groups of the
// selected rows, or columns of these rows.
//
//   - count is an unsigned integer. Sums of integers and decimals are decimals of 38 digits
//     and exact; a longer sum is ErrOverflow. Sums of floats are rounded once (package exact).
//     avg is the float64 nearest to the exact mean. min, max and quantile have the type of their
//     column. quantile(column, q) of n values is the value number ceil(q·n) in ascending order.
//   - Missing values do not count. An aggregate of no value is missing, but a count is 0.
//     Missing values of a column of GROUP BY form a group.
//   - NaN is greater than all other values and equal to itself. A sum with NaN, or with both
//     infinities, is NaN.
//   - Groups have the order of their values, and rows their order in the table, unless ORDER BY
//     says more. Missing values come last.
package result

import (
	"fmt"
	"math/big"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/statement"
)

// Query is a statement that was compiled for the columns of a table. It does not change and
// is safe for concurrent use.
type Query struct {
	plan.Aggregation
	Grouped bool // groups, else rows
	// Cells are group.Options.Cells. Default: nil.
	Cells *plan.Cells
	// Candidates are rows of the selection, among them the first ones of Sorted, in place of all rows. Default: nil.
	Candidates []uint32
	outputs    []output
	shown      int // number of outputs before the outputs that only ORDER BY names
	order      []key
	lists      []bool // by input: the values of a multi-valued column, of groups or measures
	bins       []int  // by column of GROUP BY: the number of bins; 0: codes
}

// output is a column of the result.
type output struct {
	statement.Term
	name     string
	of       *column.Column // nil for count(*)
	input    int            // index in Aggregation.Inputs
	grouping int            // index in Aggregation.Groupings, for a column of groups
	measure  int            // index in Aggregation.Measures
	fraction *big.Rat       // fraction of a quantile, 0 to 1
}

// key is a part of the order.
type key struct {
	output                   int
	descending, missingFirst bool
}

// Compile compiles a statement. An error is a *syntax.Error.
func Compile(s *statement.Statement, columns []column.Column) (*Query, error) {
	c := compiler{statement: s, columns: columns}
	for _, t := range s.Groups {
		i, err := c.find(s.GroupBy, t)
		if err != nil {
			return nil, err
		}
		at, err := c.input(s.GroupBy, i, t, columns[i].Values != nil)
		if err != nil {
			return nil, err
		}
		if slices.Contains(c.Groupings, at) {
			return nil, statement.Fail(s.GroupBy, t.At, fmt.Sprintf("column %q comes twice", columns[i].Name))
		} else if c.Groupings = append(c.Groupings, at); len(c.Groupings) > plan.MaxGroupings {
			return nil, statement.Fail(s.GroupBy, t.At, fmt.Sprintf("more than %d columns in GROUP BY", plan.MaxGroupings))
		}
		c.bins = append(c.bins, count(columns[i].Stored(), t))
	}
	if err := c.oneList(s.Groups); err != nil {
		return nil, err
	}
	c.Grouped = len(s.Groups) > 0 || slices.ContainsFunc(s.Items, func(x statement.Item) bool { return x.Function > statement.All }) ||
		slices.ContainsFunc(s.Keys, func(k statement.Key) bool { return k.Function > statement.All })
	for _, x := range s.Items {
		if err := c.item(x); err != nil {
			return nil, err
		}
	}
	c.shown = len(c.outputs)
	for _, k := range s.Keys {
		if err := c.key(k); err != nil {
			return nil, err
		}
	}
	return &c.Query, nil
}

type compiler struct {
	Query
	statement *statement.Statement
	columns   []column.Column
	inputs    []input
}

// input is a column, or the bins of a column, that an input of the query has.
type input struct {
	column int
	bins   string // empty: stored codes
	list   bool   // the values of a multi-valued column, else of such a column the rows with values
}

// find gives the column of a term of a clause.
func (c *compiler) find(clause string, t statement.Term) (int, error) {
	i, err := column.Named(c.columns, t.Column)
	if err != nil {
		return 0, statement.Fail(clause, t.ColumnAt, err.Error())
	}
	return i, nil
}

// oneList returns an error if several columns of GROUP BY are multi-valued.
func (c *compiler) oneList(groups []statement.Term) error {
	first := ""
	for k, at := range c.Groupings {
		switch name := c.columns[c.inputs[at].column].Name; {
		case !c.lists[at]:
		case first != "":
			return statement.Fail(c.statement.GroupBy, groups[k].At, fmt.Sprintf("columns %q and %q are multi-valued: GROUP BY takes one such column", first, name))
		default:
			first = name
		}
	}
	return nil
}

// input is the input of a column for a term of a clause. list takes the values of a multi-valued column,
// in place of the rows with values.
func (c *compiler) input(clause string, i int, t statement.Term, list bool) (int, error) {
	of := input{column: i, list: list}
	if t.Function == statement.Bins {
		of.bins = t.String()
	}
	if at := slices.Index(c.inputs, of); at >= 0 {
		return at, nil
	}
	in := plan.Input{Column: uint32(i)}
	stored := &c.columns[i]
	if list {
		stored = stored.Stored()
	}
	if bins := stored.Bins; len(bins) > 0 {
		in.Last = bins[len(bins)-1].Hi
	}
	in.Vector, in.Missing = c.columns[i].MissingVector()
	if t.Function == statement.Bins {
		var err error
		if in.Bounds, err = bounds(clause, stored, t); err != nil {
			return 0, err
		}
	}
	c.inputs, c.Inputs, c.lists = append(c.inputs, of), append(c.Inputs, in), append(c.lists, list)
	return len(c.Inputs) - 1, nil
}

// item adds the outputs of a part of the select list.
func (c *compiler) item(x statement.Item) error {
	clause := c.statement.Select
	if x.Function == statement.All {
		if c.Grouped {
			return statement.Fail(clause, x.At, "* stands for all columns: it cannot stand beside aggregates or GROUP BY")
		}
		for i := range c.columns {
			if err := c.item(statement.Item{Term: statement.Term{Column: c.columns[i].Name, At: x.At, ColumnAt: x.At}}); err != nil {
				return err
			}
		}
		return nil
	}
	o, err := c.output(clause, x.Term)
	if err != nil {
		return err
	}
	if o.name = x.Name; x.Name == "" && x.Function == statement.Column {
		o.name = o.of.Name
	} else if x.Name == "" {
		o.name = x.Term.String()
	}
	if slices.ContainsFunc(c.outputs, func(p output) bool { return p.name == o.name }) {
		return statement.Fail(clause, x.At, fmt.Sprintf("the name %q comes twice: give one of the two another name with AS", o.name))
	}
	c.outputs = append(c.outputs, o)
	return nil
}

// key adds a part of ORDER BY.
func (c *compiler) key(k statement.Key) error {
	clause := c.statement.OrderBy
	at := k.Place - 1
	if at >= c.shown {
		return statement.Fail(clause, k.At, fmt.Sprintf("there are %d items in the select list", c.shown))
	}
	if at < 0 && k.Function == statement.Column {
		at = slices.IndexFunc(c.outputs[:c.shown], func(o output) bool { return o.name == k.Column })
	}
	if at < 0 {
		at = slices.IndexFunc(c.outputs, func(o output) bool { return o.Same(k.Term) })
	}
	if at < 0 {
		o, err := c.output(clause, k.Term)
		if err != nil {
			return err
		}
		at, c.outputs = len(c.outputs), append(c.outputs, o)
	}
	if o := &c.outputs[at]; !c.Grouped && o.of != nil && o.of.Values != nil {
		return statement.Fail(clause, k.At, fmt.Sprintf("column %q is multi-valued: rows have no order by it", o.of.Name))
	}
	c.order = append(c.order, key{at, k.Descending, k.MissingFirst})
	return nil
}

// output compiles a term of a clause.
func (c *compiler) output(clause string, t statement.Term) (o output, err error) {
	o = output{Term: t, input: -1, grouping: -1, measure: -1}
	if t.Function == statement.Rows {
		return o, nil
	}
	i, err := c.find(clause, t)
	if err != nil {
		return o, err
	}
	o.of = &c.columns[i]
	if o.input, err = c.input(clause, i, t, o.of.Values != nil && t.Function != statement.Count); err != nil {
		return o, err
	}
	if o.of.Values != nil && t.Function > statement.Bins && slices.Contains(c.Groupings, o.input) {
		return o, statement.Fail(clause, t.At, fmt.Sprintf("%s: column %q is multi-valued and in GROUP BY, where rows are counted in the group of each of their values: take count(*) of the groups, or leave the column out of GROUP BY", t, o.of.Name))
	}
	if t.Function <= statement.Bins {
		switch o.grouping = slices.Index(c.Groupings, o.input); {
		case o.grouping >= 0:
		case t.Function == statement.Bins:
			err = statement.Fail(clause, t.At, fmt.Sprintf("%s is not in GROUP BY", t))
		case c.Grouped:
			err = statement.Fail(clause, t.At, fmt.Sprintf("column %q is neither in GROUP BY nor in an aggregate such as min(%s)", o.of.Name, t))
		}
		return o, err
	}
	if t.Function == statement.Quantile {
		o.fraction, _ = new(big.Rat).SetString(t.Fraction)
	}
	m, err := measure(t.Function, o.of.Stored())
	if err != nil {
		return o, statement.Fail(clause, t.At, err.Error())
	}
	m.Input = o.input
	same := func(n plan.Measure) bool { return n.Kind == m.Kind && n.Input == m.Input }
	if o.measure = slices.IndexFunc(c.Measures, same); o.measure < 0 {
		o.measure, c.Measures = len(c.Measures), append(c.Measures, m)
	}
	return o, nil
}
