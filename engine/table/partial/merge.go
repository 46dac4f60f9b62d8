package partial

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/engine/table/column"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// Merge computes the result of a statement from the states of all parts, in the order of their
// rows. It changes the states. Errors: ErrState (also if there are no states), *syntax.Error,
// result.ErrOverflow, group.ErrGroups, group.ErrCodes.
func Merge(c statement.Clauses, states []*State, opt result.Options) (values.Batch, error) {
	columns, err := join(states)
	if err != nil {
		return nil, err
	}
	q, names, keys, err := compile(c, columns)
	if err != nil {
		return nil, err
	}
	for i, s := range states {
		if err := s.check(q, columns, keys); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	if q.Grouped {
		g, err := mergeGroups(q, states, &opt)
		if err != nil {
			return nil, err
		}
		return q.Finish(g, opt)
	}
	all := make(values.Batch, len(keys))
	for k, at := range keys {
		to := &all[k]
		to.Column = *columns[at].Stored()
		to.Name = names[k]
		if columns[at].Values != nil {
			to.Starts = []uint32{0}
		}
		for _, s := range states {
			if to.Starts != nil {
				if err := appendLists(to, &s.Keys[k]); err != nil {
					return nil, err
				}
				continue
			}
			first := len(to.Codes)
			to.Codes = append(to.Codes, s.Keys[k].List...)
			if to.Missing = append(to.Missing, make([]bool, len(s.Keys[k].List))...); len(s.Keys[k].Missing) > 0 {
				for _, i := range s.Keys[k].Missing {
					to.Missing[first+int(i)] = true
				}
			}
		}
		if !slices.Contains(to.Missing, true) {
			to.Missing = nil
		}
	}
	return q.Part(all, opt), nil
}

// appendLists adds the rows of a multi-valued column.
func appendLists(to *values.Column, v *Values) error {
	before := uint64(len(to.Codes))
	if before+uint64(len(v.List)) > math.MaxUint32 {
		return fmt.Errorf("column %q: the answer has more than %d values", to.Name, uint32(math.MaxUint32))
	}
	to.Codes = append(to.Codes, v.List...)
	for _, end := range v.Ends {
		to.Starts = append(to.Starts, uint32(before+end))
	}
	return nil
}

// Check tells whether s can be the state of a part for a statement. It sorts the dictionaries of s.
// Errors: ErrState, *syntax.Error.
func (s *State) Check(c statement.Clauses) error {
	columns, err := join([]*State{s})
	if err != nil {
		return err
	}
	q, _, keys, err := compile(c, columns)
	if err != nil {
		return err
	}
	if err := s.check(q, columns, keys); err != nil {
		return err
	}
	for i := range s.Columns {
		s.Columns[i].Dictionary = columns[i].Stored().Dictionary
	}
	return nil
}

// compile compiles a statement. It returns the columns of State.Keys too, -1 for bins, and the names
// of items.
func compile(c statement.Clauses, columns []column.Column) (q *result.Query, names []string, keys []int, err error) {
	s, err := statement.Parse(c)
	if err != nil {
		return nil, nil, nil, err
	}
	if q, err = result.Compile(s, columns); err != nil {
		return nil, nil, nil, err
	}
	if !q.Grouped {
		names, keys = q.Items()
		return q, names, keys, nil
	}
	for _, in := range q.Groupings {
		if of := &q.Inputs[in]; of.Bounds == nil {
			keys = append(keys, int(of.Column))
		} else {
			keys = append(keys, -1)
		}
	}
	return q, nil, keys, nil
}

// join gives all parts the same dictionaries, and returns the columns of the table.
func join(states []*State) ([]column.Column, error) {
	if len(states) == 0 {
		return nil, fmt.Errorf("%w: there are no parts", ErrState)
	}
	first := states[0].Columns
	columns := make([]column.Column, len(first))
	for c := range first {
		columns[c] = column.Column{Name: first[c].Name, Type: first[c].Type, Scale: first[c].Scale}
		if first[c].List {
			values := columns[c]
			columns[c].Values = &values
		}
	}
	for i, s := range states {
		for _, c := range s.Columns {
			if c.Scale > c.Type.MaxScale() {
				return nil, fmt.Errorf("%w: part %d: column %q of type %s has scale %d", ErrState, i, c.Name, c.Type, c.Scale)
			}
		}
		same := func(a, b Column) bool {
			return a.Name == b.Name && a.Type == b.Type && a.Scale == b.Scale && a.List == b.List
		}
		if !slices.EqualFunc(s.Columns, first, same) {
			return nil, fmt.Errorf("%w: part %d has other columns than part 0", ErrState, i)
		}
		for c := range columns {
			for k, entry := range s.Columns[c].Dictionary {
				if columns[c].Type == column.Decimal128 && len(entry) != column.WideSize || !columns[c].Type.HasDictionary() {
					return nil, fmt.Errorf("%w: entry %d of column %q has %d bytes", ErrState, k, columns[c].Name, len(entry))
				}
			}
			stored := columns[c].Stored()
			stored.Dictionary = append(stored.Dictionary, s.Columns[c].Dictionary...)
		}
	}
	for c := range columns {
		stored := columns[c].Stored()
		slices.Sort(stored.Dictionary)
		stored.Dictionary = slices.Compact(stored.Dictionary)
	}
	return columns, nil
}

// check checks the lengths of all lists, and replaces places in the dictionary of the state by
// places in the dictionaries of columns. of are the columns of s.Keys.
func (s *State) check(q *result.Query, columns []column.Column, of []int) error {
	n := len(s.Rows)
	if len(s.Keys) != len(of) || len(s.Measures) != len(q.Measures) || q.Grouped && len(of) == 0 && n != 1 {
		return fmt.Errorf("%w: %d columns of keys, %d measures, %d groups", ErrState, len(s.Keys), len(s.Measures), n)
	}
	r := renamer{whole: columns, columns: s.Columns}
	for k, c := range of {
		keys := &s.Keys[k]
		if err := keys.check(n, !q.Grouped && c >= 0 && columns[c].Values != nil); err != nil {
			return err
		}
		missing := make([]bool, max(n, len(keys.List)))
		for _, i := range keys.Missing {
			if uint64(i) >= uint64(n) {
				return fmt.Errorf("%w: missing key %d of %d", ErrState, i, n)
			}
			missing[i] = true
		}
		if c < 0 {
			if err := q.CheckBins(k, keys.List); err != nil {
				return fmt.Errorf("%w: %w", ErrState, err)
			}
			continue
		}
		if err := r.rename(c, keys.List, func(i int) bool { return missing[i] }); err != nil {
			return err
		}
	}
	for m := range s.Measures {
		if err := s.Measures[m].check(q, m, n, &r); err != nil {
			return fmt.Errorf("measure %d: %w", m, err)
		}
	}
	return nil
}

// check checks the lengths of n rows, of a multi-valued column or another one.
func (v *Values) check(n int, list bool) error {
	if !list {
		if len(v.List) != n || len(v.Ends) != 0 {
			return fmt.Errorf("%w: %d keys and %d ends for %d groups", ErrState, len(v.List), len(v.Ends), n)
		}
		return nil
	}
	if len(v.Ends) != n || len(v.Missing) > 0 || !slices.IsSorted(v.Ends) || n > 0 && v.Ends[n-1] != uint64(len(v.List)) || n == 0 && len(v.List) > 0 {
		return fmt.Errorf("%w: %d ends of %d values for %d rows", ErrState, len(v.Ends), len(v.List), n)
	}
	return nil
}

// renamer replaces places in the dictionaries of a part.
type renamer struct {
	whole   []column.Column
	columns []Column         // columns of the part
	places  map[int][]uint64 // by column: the place of each entry in the dictionary of the query
}

// rename replaces the values of a column, except the values that are left out.
func (r *renamer) rename(c int, list []uint64, omit func(i int) bool) error {
	if !r.columns[c].Type.HasDictionary() {
		return nil
	}
	places, ok := r.places[c]
	if !ok {
		all := r.whole[c].Stored().Dictionary
		for _, entry := range r.columns[c].Dictionary {
			at, _ := slices.BinarySearchFunc(all, entry, strings.Compare)
			places = append(places, uint64(at))
		}
		if r.places == nil {
			r.places = map[int][]uint64{}
		}
		r.places[c] = places
	}
	for i, v := range list {
		if omit(i) {
			list[i] = 0
			continue
		}
		if v >= uint64(len(places)) {
			return fmt.Errorf("%w: value %d of column %q: place %d of %d", ErrState, i, r.columns[c].Name, v, len(places))
		}
		list[i] = places[v]
	}
	return nil
}
