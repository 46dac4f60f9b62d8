package group

import (
	"fmt"

	"heddle/engine/plan"
)

// take sets the quantities of all groups.
func (g *Groups) take(c *plan.Cells) error {
	fits := g.keys == nil && len(c.Rows) == len(g.rows)
	for _, n := range g.by {
		fits = fits && n.codes == nil
	}
	if !fits {
		return fmt.Errorf("%d cells do not fit the groups", len(c.Rows))
	}
	copy(g.rows, c.Rows)
	for i := range g.values {
		if g.columns[i].HasMissing() && c.Values[i] != nil && copy(g.values[i], c.Values[i]) != len(g.rows) {
			return fmt.Errorf("%d numbers of values for %d groups", len(c.Values[i]), len(g.rows))
		}
	}
	for i, to := range g.cells {
		if to == nil {
			continue
		}
		if sums, ok := to.(*sums); !ok || copy(*sums, c.Sums[i]) != len(g.rows) {
			return fmt.Errorf("measure %d has no cells", i)
		}
	}
	return nil
}
