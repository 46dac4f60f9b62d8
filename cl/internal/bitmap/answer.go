package bitmap

import (
	"context"
	"math/bits"
	"slices"

	"heddle/engine/plan"
)

// answer is the answer without numbers.
func (m *measuring) answer() *plan.Cells {
	lists := func() [][]uint64 { return make([][]uint64, len(m.of.Measures)) }
	return &plan.Cells{Values: make([][]uint64, len(m.of.Inputs)), Sums: lists(), High: lists(), Ends: lists(), Codes: lists()}
}

// setSums gives the sums of a column to its measures, divided. Those of lower halves come before those of upper ones.
func (m *measuring) setSums(cells *plan.Cells, c *measured, sums []uint64) {
	if by := c.inverse(); by != 1 {
		for i := range sums {
			sums[i] *= by
		}
	}
	for i, x := range m.of.Measures {
		if x.Input != c.input || x.Kind != plan.MeasureSum && x.Kind != plan.MeasureFloats || m.counted[i] {
			continue
		}
		if c.flags&columnUpper == 0 {
			cells.Sums[i] = sums
			continue
		}
		low, high := make([]uint64, len(sums)), make([]uint64, len(sums))
		for k, lower := range cells.Sums[i] {
			var carry uint64
			low[k], carry = bits.Add64(lower, sums[k]<<32, 0)
			high[k] = sums[k]>>32 + carry
		}
		cells.Sums[i], cells.High[i] = low, high
	}
}

// setEnds gives the least or greatest codes of a column to its measures.
func (m *measuring) setEnds(cells *plan.Cells, c *measured, kind plan.MeasureKind, ends []uint64) {
	for i, x := range m.of.Measures {
		if x.Input == c.input && x.Kind == kind {
			cells.Ends[i] = ends
		}
	}
}

// countCodes counts the rows of each code of inputs in each group: the rows of groups by one more column.
func (m *measuring) countCodes(ctx context.Context, sel *plan.SelectBatch, cells *plan.Cells) error {
	counts := make(map[int][]uint64, 1)
	for i, x := range m.of.Measures {
		if !m.counted[i] {
			continue
		}
		if counts[x.Input] == nil {
			by := &plan.Aggregation{Inputs: m.of.Inputs, Groupings: append(slices.Clone(m.of.Groupings), x.Input)}
			more, err := m.store.measureAll(ctx, sel, by, mostCells)
			if err != nil {
				return err
			}
			counts[x.Input] = more.Rows
			cells.Stats.Add(more.Stats)
		}
		cells.Codes[i] = counts[x.Input]
	}
	return nil
}
