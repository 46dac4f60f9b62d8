package result

import (
	"fmt"
	"slices"
	"strings"

	"heddle/engine/plan"
	"heddle/engine/table/exact"
	"heddle/engine/table/gather"
	"heddle/engine/table/group"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// Options rule Run. The zero value is the default.
type Options struct {
	Offset uint64 // number of the first rows of the result to leave out
	// Limit is the greatest number of rows of the result. Default: 0, no limit.
	Limit uint64
	// Values gives the values of a multi-valued column of the table, by its number. Default: nil, there
	// is no such column.
	Values func(column uint32) (*gather.List, error)
	group.Options
}

// end is the end of the rows of the result, of n.
func (o *Options) end(n uint64) (first, end uint64) {
	first = min(o.Offset, n)
	if o.Limit == 0 || o.Limit > n-first {
		return first, n
	}
	return first, first + o.Limit
}

// Run computes the result of the rows of a bitset and passes it to deliver, in batches that
// belong to deliver. There is at least one batch, which may have no rows. Errors: of
// group.Run, of deliver, ErrOverflow.
func (q *Query) Run(t *plan.Table, rows []uint64, opt Options, deliver func(values.Batch) error) error {
	if !q.Grouped {
		return q.project(t, rows, q.shown, &opt, deliver)
	}
	finders, a, err := q.find(t, rows, &opt)
	if err != nil {
		return err
	}
	g, err := q.groups(t, &a, rows, opt)
	if err != nil {
		return err
	}
	b, err := q.Finish(found{g, finders}, opt)
	if err != nil {
		return err
	}
	return deliver(b)
}

// Groups forms the groups of the rows of a bitset, of a query that is Grouped. Errors: of group.Run.
func (q *Query) Groups(t *plan.Table, rows []uint64, opt Options) (*group.Groups, error) {
	return q.groups(t, &q.Aggregation, rows, opt)
}

func (q *Query) groups(t *plan.Table, a *plan.Aggregation, rows []uint64, opt Options) (*group.Groups, error) {
	var err error
	if opt.Lists, err = q.openLists(&opt); err != nil {
		return nil, err
	}
	opt.Cells = q.Cells
	return group.Run(t, a, rows, opt.Options)
}

// Multivalued tells whether the query reads values of multi-valued columns, which no device does.
func (q *Query) Multivalued() bool { return slices.Contains(q.lists, true) }

// openLists returns the values of the multi-valued inputs; nil if there are none.
func (q *Query) openLists(opt *Options) (all []*gather.List, err error) {
	if !q.Multivalued() {
		return nil, nil
	}
	all = make([]*gather.List, len(q.Inputs))
	for i, in := range q.Inputs {
		if q.lists[i] && err == nil {
			all[i], err = opt.Values(in.Column)
		}
	}
	return all, err
}

// CountsCodes tells whether the groups are the codes or bins of one column, 2^16 of them at most, and
// nothing but their rows is counted. It returns the column.
func (q *Query) CountsCodes() (in plan.Input, ok bool) {
	if !q.Grouped || len(q.Inputs) != 1 || len(q.Groupings) != 1 || q.Multivalued() {
		return in, false
	}
	for _, m := range q.Measures {
		if m.Kind != plan.MeasureCount {
			return in, false
		}
	}
	return q.Inputs[0], q.Inputs[0].Top()+2 <= plan.Dense
}

// Size is about the memory of the query, in bytes: its columns, and weights and bounds.
func (q *Query) Size() (n int) {
	n = columnBytes * len(q.outputs)
	for i := range q.Measures {
		n += 16 * len(q.Measures[i].Weights)
	}
	for i := range q.Inputs {
		n += 8 * len(q.Inputs[i].Bounds)
	}
	return n
}

// columnBytes is the memory of a column of a result in Size, with its name and its measure.
const columnBytes = 256

// TableBins returns the first term that takes the bins of the table, which other tables do not
// share; nil if there is none.
func (q *Query) TableBins() *statement.Term {
	for i := range q.outputs {
		if t := &q.outputs[i].Term; t.Function == statement.Bins && len(t.Bounds) == 0 {
			return t
		}
	}
	return nil
}

// CheckBins returns an error for the number of a bin that column k of GROUP BY lacks.
func (q *Query) CheckBins(k int, bins []uint64) error {
	for i, b := range bins {
		if n := q.bins[k]; b >= uint64(n) {
			return fmt.Errorf("group %d is bin %d of column %d of GROUP BY, which has %d", i, b, k+1, n)
		}
	}
	return nil
}

// Groups are groups of rows with their measures, as group.Groups has them.
type Groups interface {
	Len() int
	Code(k, i int) (code uint64, ok bool)
	Rows(i int) uint64
	Count(m, i int) uint64
	Sum(m, i int) exact.Integer
	Floats(m, i int, sum *exact.Float)
	Extreme(m, i int) uint64
	Codes(m int) [][]group.Frequency
}

// Finish computes the result of groups, in their order. The error is ErrOverflow.
func (q *Query) Finish(g Groups, opt Options) (values.Batch, error) {
	all := make(values.Batch, len(q.outputs))
	for i := range q.outputs {
		var err error
		if all[i], err = q.outputs[i].column(g); err != nil {
			return nil, err
		}
	}
	return q.Part(all, opt), nil
}

// RunItems is Run with all items and keys, of a query that is not Grouped.
func (q *Query) RunItems(t *plan.Table, rows []uint64, opt Options, deliver func(values.Batch) error) error {
	return q.project(t, rows, len(q.outputs), &opt, deliver)
}

// Items are the columns of all items and keys, of a query that is not Grouped: the name of each,
// and the number of its column in the table.
func (q *Query) Items() (names []string, columns []int) {
	for _, o := range q.outputs {
		names, columns = append(names, o.name), append(columns, int(q.Inputs[o.input].Column))
	}
	return names, columns
}

// Part is the rows of the result, of all items and keys: the items that are shown, in the
// order of the query.
func (q *Query) Part(all values.Batch, opt Options) values.Batch {
	first, end := opt.end(uint64(all.Len()))
	if len(q.order) == 0 {
		return all[:q.shown].Cut(int(first), int(end))
	}
	return all[:q.shown].Take(q.sorted(all, int(end))[first:end])
}

// String describes the work of Run in a few words.
func (q *Query) String() string {
	var columns []string
	for _, o := range q.outputs {
		if o.of != nil && !slices.Contains(columns, o.of.Name) {
			columns = append(columns, o.of.Name)
		}
	}
	s := "columns of the rows"
	switch {
	case q.Grouped && len(q.Groupings) == 0:
		s = "one group"
	case q.Grouped:
		s = "groups"
	}
	if len(columns) > 0 {
		s += ", reads " + strings.Join(columns, ", ")
	}
	if len(q.order) > 0 {
		s += ", sorted"
	}
	return s
}

// sorted gives the first rows of a batch in the order of the query.
func (q *Query) sorted(b values.Batch, most int) []int {
	best := top[int]{most: most, compare: func(i, k int) int {
		for _, by := range q.order {
			if d := by.compare(&b[by.output], i, k); d != 0 {
				return d
			}
		}
		return i - k
	}}
	for i := range b.Len() {
		best.add(i)
	}
	return best.sorted()
}

// top keeps the first items of an order.
type top[T any] struct {
	most    int // number of items to keep
	compare func(a, b T) int
	list    []T // twice as many at most
	full    bool
	last    T // the last one of the first items so far, if full
}

// add adds an item unless it comes behind last.
func (t *top[T]) add(x T) {
	if t.most == 0 || t.full && t.compare(x, t.last) > 0 {
		return
	}
	if t.list = append(t.list, x); len(t.list)/2 >= t.most {
		t.sorted()
	}
}

// sorted gives the items that are kept, in order.
func (t *top[T]) sorted() []T {
	slices.SortFunc(t.list, t.compare)
	if len(t.list) >= t.most && t.most > 0 {
		t.list, t.full = t.list[:t.most], true
		t.last = t.list[t.most-1]
	}
	return t.list
}

// compare compares two rows by a key.
func (by *key) compare(c *values.Column, i, k int) int {
	switch a, b := c.Null(i), c.Null(k); {
	case a && b:
		return 0
	case a != b:
		if a != by.missingFirst {
			return 1
		}
		return -1
	case by.descending:
		return c.Compare(k, i)
	}
	return c.Compare(i, k)
}
