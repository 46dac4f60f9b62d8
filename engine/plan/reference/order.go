package reference

import (
	"cmp"
	"slices"

	"heddle/engine/plan"
)

// First returns the first rows of the only selection of s in an order, and the rows tied with the last one if the order asks for
// them.
func (t *Table) First(s *plan.SelectBatch, o *plan.Order) (rows []uint32) {
	for row := range t.Rows {
		if t.Selected(s, s.Selection(0), row) {
			rows = append(rows, row)
		}
	}
	keys := func(a, b uint32) int {
		for _, k := range o.Keys {
			if d := t.compare(&k, a, b); d != 0 {
				return d
			}
		}
		return 0
	}
	slices.SortFunc(rows, func(a, b uint32) int { return cmp.Or(keys(a, b), cmp.Compare(a, b)) })
	n := min(o.K, len(rows))
	for o.Tied && n > 0 && n < len(rows) && keys(rows[o.K-1], rows[n]) == 0 {
		n++
	}
	return rows[:n]
}

// compare compares two rows by a key.
func (t *Table) compare(k *plan.OrderKey, a, b uint32) int {
	x, y := t.has(k.Column, a), t.has(k.Column, b)
	switch d := cmp.Compare(t.Codes[k.Column][a], t.Codes[k.Column][b]); {
	case !x && !y:
		return 0
	case x != y:
		if x == k.MissingFirst {
			return 1
		}
		return -1
	case k.Descending:
		return -d
	default:
		return d
	}
}
