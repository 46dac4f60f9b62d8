// Package partial computes statements on a table that is cut into parts. Each part gives a
// state, exact parts of all aggregates or the first rows of columns; Merge computes the result
// from the states. It equals the result of the whole table.
//
// Values in a state are keys in the order of their type, which do not depend on the part.
// Strings and decimals of 128 bits are places in a dictionary of the state.
package partial

import (
	"errors"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/exact"
	"heddle/engine/table/group"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// ErrState is the error of a state that no part can have.
var ErrState = errors.New("damaged state of an aggregation")

// State is the answer of a part.
type State struct {
	Columns  []Column // all columns of the table
	Rows     []uint64 // number of rows of each group; 1 for each row if the state has rows instead of groups
	Keys     []Values // by column of GROUP BY; of columns of rows, by item and key
	Measures []Measure
}

// Column describes a column. Its dictionary has the values of the state, in any order.
type Column struct {
	Name       string
	Type       column.Type
	Scale      uint8
	List       bool // multi-valued
	Dictionary []string
}

// Values are values of a column, or numbers of bins, with the places of the missing values, ascending.
type Values struct {
	List    []uint64
	Missing []uint32
	// Ends are, of multi-valued columns of rows, the length of List behind each row; rows without values
	// are not in Missing. Else it is empty.
	Ends []uint64
}

// Measure has the parts of one plan.Measure for all groups; fields of other kinds are empty.
type Measure struct {
	Counts   []uint64 // rows with a value
	Sums     []uint64 // sums of keys: three words a group, the lowest first
	Floats   [][]byte // exact.Float.AppendBytes
	Extremes []uint64
	// The different values of group i are Different[Ends[i-1]:Ends[i]], with numbers of rows.
	Different, Frequencies, Ends []uint64
}

// Of computes the state of the selected rows of a part. Of columns of rows it has the first
// rows, opt.Offset+opt.Limit at most. Errors: of group.Run; a *syntax.Error for bins without bounds,
// which the parts do not share.
func Of(q *result.Query, columns []column.Column, t *plan.Table, rows []uint64, opt result.Options) (*State, error) {
	if term := q.TableBins(); term != nil {
		text := term.String()
		return nil, statement.Fail(text, len(text)-1, "the parts of a table have different bins: bounds such as 10, 20 are expected here")
	}
	w := writer{q: q, columns: columns, places: make([]map[uint64]uint64, len(columns))}
	for _, c := range columns {
		scale := c.Scale
		if c.Type == column.Float {
			scale = 0 // the scale belongs to the codes, not to the values
		}
		w.Columns = append(w.Columns, Column{Name: c.Name, Type: c.Type, Scale: scale, List: c.Values != nil})
	}
	if !q.Grouped {
		if opt.Limit > 0 && opt.Offset+opt.Limit < opt.Limit {
			opt.Limit = 0
		}
		if opt.Limit > 0 {
			opt.Limit += opt.Offset
		}
		opt.Offset = 0
		_, w.items = q.Items()
		w.Keys = make([]Values, len(w.items))
		return &w.State, q.RunItems(t, rows, opt, w.add)
	}
	g, err := q.Groups(t, rows, opt)
	if err != nil {
		return nil, err
	}
	w.groups(g)
	return &w.State, nil
}

// writer makes a state.
type writer struct {
	State
	q       *result.Query
	columns []column.Column
	items   []int               // columns of items and keys
	places  []map[uint64]uint64 // by column: places of codes in the dictionary
}

// value is the form of a code of a column in the state.
func (w *writer) value(c int, code uint64) uint64 {
	of := w.columns[c].Stored()
	if !of.Type.HasDictionary() {
		return of.UnscaledKey(code)
	}
	if w.places[c] == nil {
		w.places[c] = map[uint64]uint64{}
	}
	at, ok := w.places[c][code]
	if !ok {
		at = uint64(len(w.places[c]))
		w.places[c][code] = at
		w.Columns[c].Dictionary = append(w.Columns[c].Dictionary, of.Dictionary[of.Key(code)])
	}
	return at
}

// add adds rows of items.
func (w *writer) add(b values.Batch) error {
	for k, c := range w.items {
		to := &w.Keys[k]
		if b[k].Starts != nil {
			for i := range b[k].Len() {
				for _, code := range b[k].Row(i) {
					to.List = append(to.List, w.value(c, code))
				}
				to.Ends = append(to.Ends, uint64(len(to.List)))
			}
			continue
		}
		for i, code := range b[k].Codes {
			if b[k].Null(i) {
				to.Missing = append(to.Missing, uint32(len(to.List)))
				to.List = append(to.List, 0)
			} else {
				to.List = append(to.List, w.value(c, code))
			}
		}
	}
	for range b.Len() {
		w.Rows = append(w.Rows, 1)
	}
	return nil
}

// groups adds groups.
func (w *writer) groups(g *group.Groups) {
	n := g.Len()
	for i := range n {
		w.Rows = append(w.Rows, g.Rows(i))
	}
	for k, in := range w.q.Groupings {
		c, binned := int(w.q.Inputs[in].Column), w.q.Inputs[in].Bounds != nil
		keys := Values{List: make([]uint64, n)}
		for i := range n {
			switch code, ok := g.Code(k, i); {
			case !ok:
				keys.Missing = append(keys.Missing, uint32(i))
			case binned:
				keys.List[i] = code
			default:
				keys.List[i] = w.value(c, code)
			}
		}
		w.Keys = append(w.Keys, keys)
	}
	for m := range w.q.Measures {
		w.Measures = append(w.Measures, w.measure(g, m))
	}
}

// measure is the state of one measure.
func (w *writer) measure(g *group.Groups, m int) (s Measure) {
	of := &w.q.Measures[m]
	c := int(w.q.Inputs[of.Input].Column)
	var codes [][]group.Frequency
	var floats exact.Float
	if of.Kind == plan.MeasureCodes {
		codes = g.Codes(m)
	}
	for i := range g.Len() {
		n := g.Count(m, i)
		s.Counts = append(s.Counts, n)
		switch of.Kind {
		case plan.MeasureSum:
			sum := g.Sum(m, i).Times(of.Unit)
			sum.AddProduct(of.Base, n) // codes become keys
			s.Sums = append(s.Sums, sum.Low, sum.Middle, sum.High)
		case plan.MeasureFloats, plan.MeasureFloats32:
			g.Floats(m, i, &floats)
			s.Floats = append(s.Floats, floats.AppendBytes(nil))
		case plan.MeasureLeast, plan.MeasureGreatest:
			v := uint64(0)
			if n > 0 {
				v = w.value(c, g.Extreme(m, i))
			}
			s.Extremes = append(s.Extremes, v)
		case plan.MeasureCodes:
			for _, f := range codes[i] {
				s.Different = append(s.Different, w.value(c, f.Code))
				s.Frequencies = append(s.Frequencies, f.Rows)
			}
			s.Ends = append(s.Ends, uint64(len(s.Different)))
		}
	}
	return s
}
