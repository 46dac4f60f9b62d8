package partial

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/exact"
	"heddle/engine/table/group"
	"heddle/engine/table/result"
)

// check checks measure m of n groups.
func (s *Measure) check(q *result.Query, m, n int, r *renamer) error {
	of := q.Measures[m]
	sums, floats, extremes, ends := 0, 0, 0, 0
	switch of.Kind {
	case plan.MeasureSum:
		sums = 3 * n
	case plan.MeasureFloats, plan.MeasureFloats32:
		floats = n
	case plan.MeasureLeast, plan.MeasureGreatest:
		extremes = n
	case plan.MeasureCodes:
		ends = n
	}
	if len(s.Counts) != n || len(s.Sums) != sums || len(s.Floats) != floats || len(s.Extremes) != extremes || len(s.Ends) != ends || len(s.Different) != len(s.Frequencies) {
		return fmt.Errorf("%w: other lengths than %d groups have", ErrState, n)
	}
	before := uint64(0)
	for i, end := range s.Ends {
		if end < before || end > uint64(len(s.Different)) {
			return fmt.Errorf("%w: values end at %d of %d", ErrState, end, len(s.Different))
		}
		rows := uint64(0)
		for _, n := range s.Frequencies[before:end] {
			rows += n
		}
		if rows != s.Counts[i] {
			return fmt.Errorf("%w: the values of group %d have %d rows, want %d", ErrState, i, rows, s.Counts[i])
		}
		before = end
	}
	c := int(q.Inputs[of.Input].Column)
	if err := r.rename(c, s.Extremes, func(i int) bool { return s.Counts[i] == 0 }); err != nil {
		return err
	}
	return r.rename(c, s.Different, func(int) bool { return false })
}

// key is the values of a group, of which some may be missing.
type key struct {
	codes   [plan.MaxGroupings]uint64
	missing [plan.MaxGroupings]bool
}

func (a key) compare(b key) int {
	for k := range a.codes {
		switch {
		case a.missing[k] && !b.missing[k]:
			return 1
		case b.missing[k] && !a.missing[k]:
			return -1
		case a.codes[k] != b.codes[k]:
			return cmp.Compare(a.codes[k], b.codes[k])
		}
	}
	return 0
}

// merged is a group of all parts.
type merged struct {
	key
	rows     uint64
	measures []measure
}

// measure is one measure of a group.
type measure struct {
	count   uint64
	sum     exact.Integer
	floats  *exact.Float
	extreme uint64
	codes   map[uint64]uint64 // rows of each code
}

// groups implements result.Groups.
type groups []*merged

// mergeGroups joins the groups of all parts with equal values.
func mergeGroups(q *result.Query, states []*State, opt *result.Options) (groups, error) {
	known := map[key]*merged{}
	var all groups
	codes := 0
	for _, s := range states {
		missing := make([][]bool, len(s.Keys))
		for k := range s.Keys {
			missing[k] = make([]bool, len(s.Rows))
			for _, i := range s.Keys[k].Missing {
				missing[k][i] = true
			}
		}
		for i, rows := range s.Rows {
			var at key
			for k := range s.Keys {
				at.codes[k], at.missing[k] = s.Keys[k].List[i], missing[k][i]
			}
			g := known[at]
			if g == nil {
				if g = (&merged{key: at, measures: make([]measure, len(q.Measures))}); opt.Groups > 0 && len(all) == opt.Groups {
					return nil, fmt.Errorf("%w: more than %d", group.ErrGroups, opt.Groups)
				}
				known[at] = g
				all = append(all, g)
			}
			g.rows += rows
			for m := range g.measures {
				added, err := g.measures[m].add(q.Measures[m].Kind, &s.Measures[m], i)
				if err != nil {
					return nil, err
				}
				if codes += added; opt.Codes > 0 && codes > opt.Codes {
					return nil, fmt.Errorf("%w: more than %d in all groups", group.ErrCodes, opt.Codes)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *merged) int { return a.compare(b.key) })
	return all, nil
}

// add adds group i of a part, and returns the number of further different values.
func (x *measure) add(kind plan.MeasureKind, s *Measure, i int) (added int, err error) {
	switch n := s.Counts[i]; kind {
	case plan.MeasureSum:
		x.sum.Merge(exact.Integer{Low: s.Sums[3*i], Middle: s.Sums[3*i+1], High: s.Sums[3*i+2]})
	case plan.MeasureFloats, plan.MeasureFloats32:
		sum, err := exact.ParseFloat(s.Floats[i])
		if err != nil {
			return 0, fmt.Errorf("%w: group %d: %w", ErrState, i, err)
		}
		if x.floats == nil {
			x.floats = new(exact.Float)
		}
		x.floats.Merge(&sum)
	case plan.MeasureLeast:
		if v := s.Extremes[i]; n > 0 && (x.count == 0 || v < x.extreme) {
			x.extreme = v
		}
	case plan.MeasureGreatest:
		if v := s.Extremes[i]; n > 0 && (x.count == 0 || v > x.extreme) {
			x.extreme = v
		}
	case plan.MeasureCodes:
		if x.codes == nil {
			x.codes = map[uint64]uint64{}
		}
		before := len(x.codes)
		first := uint64(0)
		if i > 0 {
			first = s.Ends[i-1]
		}
		for k := first; k < s.Ends[i]; k++ {
			x.codes[s.Different[k]] += s.Frequencies[k]
		}
		added = len(x.codes) - before
	}
	x.count += s.Counts[i]
	return added, nil
}

// Len implements result.Groups.
func (g groups) Len() int { return len(g) }

// Code implements result.Groups.
func (g groups) Code(k, i int) (code uint64, ok bool) { return g[i].codes[k], !g[i].missing[k] }

// Rows implements result.Groups.
func (g groups) Rows(i int) uint64 { return g[i].rows }

// Count implements result.Groups.
func (g groups) Count(m, i int) uint64 { return g[i].measures[m].count }

// Sum implements result.Groups.
func (g groups) Sum(m, i int) exact.Integer { return g[i].measures[m].sum }

// Floats implements result.Groups.
func (g groups) Floats(m, i int, sum *exact.Float) {
	sum.Reset()
	sum.Merge(g[i].measures[m].floats)
}

// Extreme implements result.Groups.
func (g groups) Extreme(m, i int) uint64 { return g[i].measures[m].extreme }

// Codes implements result.Groups.
func (g groups) Codes(m int) [][]group.Frequency {
	all := make([][]group.Frequency, len(g))
	for i, x := range g {
		for code, rows := range x.measures[m].codes {
			all[i] = append(all[i], group.Frequency{Code: code, Rows: rows})
		}
		slices.SortFunc(all[i], func(a, b group.Frequency) int { return cmp.Compare(a.Code, b.Code) })
	}
	return all
}
