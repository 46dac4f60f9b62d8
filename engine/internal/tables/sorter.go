package tables

import (
	"context"

	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// Sorter finds the first rows of an order on processors. It implements query.Sorter. The generation must be in use as long as a
// query has it.
type Sorter struct {
	g     *Generation
	order plan.Order
}

// SortKey is a column of an order.
type SortKey struct {
	Column     string
	Descending bool
}

// NewSorter returns the sorter of the first k rows, ties by row, or with all rows that are tied with row k; ok is false for
// columns that give no order.
func (g *Generation) NewSorter(keys []SortKey, k int, tied bool) (s *Sorter, ok bool) {
	s = &Sorter{g, plan.Order{K: k, Tied: tied}}
	for _, key := range keys {
		at, err := column.Named(g.Columns, key.Column)
		if err != nil || g.Columns[at].Values != nil {
			return nil, false
		}
		by := plan.OrderKey{Column: uint32(at), Descending: key.Descending}
		if bins := g.Columns[at].Bins; len(bins) > 0 {
			by.Last = bins[len(bins)-1].Hi
		}
		s.order.Keys = append(s.order.Keys, by)
	}
	return s, s.order.Validate(g.Table) == nil
}

// Has implements query.Sorter.
func (s *Sorter) Has(p int) bool {
	r := s.g.at[p].Load()
	if r == nil {
		return false
	}
	_, ok := r.store.(plan.Sorter)
	return ok
}

// First implements query.Sorter.
func (s *Sorter) First(ctx context.Context, p int, set plan.Filter) (*plan.First, error) {
	r := s.g.at[p].Load()
	if r == nil {
		return nil, plan.ErrUnsupported
	}
	if !r.Enter() {
		return nil, plan.ErrClosed
	}
	defer r.Leave()
	sorter, ok := r.store.(plan.Sorter)
	if !ok {
		return nil, plan.ErrUnsupported
	}
	var all plan.SelectBatch
	all.Do(plan.StepAll)
	all.End()
	return sorter.First(ctx, &all, set, &s.order)
}
