package result

import (
	"fmt"

	"heddle/engine/table/column"
	"heddle/engine/table/statement"
)

// bounds are the first codes of the bins of a term behind the first bin, as plan.Input has them.
func bounds(clause string, c *column.Column, t statement.Term) ([]uint64, error) {
	codes := []uint64{}
	if len(t.Bounds) == 0 {
		if len(c.Bins) > statement.MaxBins {
			return nil, statement.Fail(clause, t.At, fmt.Sprintf("column %q has %d bins, more than %d: give bounds, as in bins(column, 10, 20)", c.Name, len(c.Bins), statement.MaxBins))
		}
		for _, b := range c.Bins[min(1, len(c.Bins)):] {
			codes = append(codes, b.Lo)
		}
		return codes, nil
	}
	for i, b := range t.Bounds {
		code, ok, err := c.AtLeast(b.Literal)
		if err != nil {
			return nil, statement.Fail(clause, b.At, err.Error())
		}
		if ok {
			codes = append(codes, code)
		}
		if i > 0 && !c.Less(t.Bounds[i-1].Literal, b.Literal) {
			return nil, statement.Fail(clause, b.At, "the bounds of bins must ascend")
		}
	}
	return codes, nil
}

// count is the number of bins of a term; 0 for a term without bins.
func count(c *column.Column, t statement.Term) int {
	switch {
	case t.Function != statement.Bins:
		return 0
	case len(t.Bounds) > 0:
		return len(t.Bounds) + 1
	}
	return max(1, len(c.Bins))
}

// labels are the names of the bins of a term: of each bin the values that it has.
func labels(c *column.Column, t statement.Term) (all []string) {
	var bounds []string
	for _, b := range t.Bounds {
		bounds = append(bounds, b.Text)
	}
	if len(t.Bounds) == 0 {
		for _, b := range c.Bins[min(1, len(c.Bins)):] {
			bounds = append(bounds, c.Format(b.Lo))
		}
	}
	if len(bounds) == 0 {
		return []string{"all"}
	}
	all = append(all, "< "+bounds[0])
	for i, to := range bounds[1:] {
		all = append(all, "["+bounds[i]+", "+to+")")
	}
	return append(all, ">= "+bounds[len(bounds)-1])
}
