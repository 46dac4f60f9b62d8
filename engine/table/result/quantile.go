package result

import (
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/group"
	"heddle/engine/table/statement"
)

// found is one group of rows, whose quantiles of some measures Finders find in place of the codes of all rows.
type found struct {
	Groups
	finders map[int]*group.Finder // by measure
}

// find makes a Finder for each measure of a query without GROUP BY that nothing but quantiles needs, where that pays. It returns
// the aggregation without these measures.
func (q *Query) find(t *plan.Table, rows []uint64, opt *Options) (map[int]*group.Finder, plan.Aggregation, error) {
	finders, a := map[int]*group.Finder{}, q.Aggregation
	if len(q.Groupings) > 0 || q.Cells != nil || q.Multivalued() {
		return nil, a, nil
	}
	for m, of := range q.Measures {
		if of.Kind != plan.MeasureCodes || q.counts(m) || !group.Finds(q.Inputs[of.Input], rows) {
			continue
		}
		f, err := group.NewFinder(t, q.Inputs[of.Input], rows, &opt.Options)
		if err != nil {
			return nil, a, err
		}
		if len(finders) == 0 {
			a.Measures = slices.Clone(a.Measures)
		}
		finders[m], a.Measures[m].Kind = f, plan.MeasureCount
	}
	return finders, a, nil
}

// counts tells whether an output counts the different values of a measure.
func (q *Query) counts(m int) bool {
	for i := range q.outputs {
		if o := &q.outputs[i]; o.measure == m && o.Function == statement.CountDistinct {
			return true
		}
	}
	return false
}
