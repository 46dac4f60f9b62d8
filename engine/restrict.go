package engine

import (
	"fmt"
	"math/bits"

	"heddle/engine/plan"
)

// needs is the output that the predicate must have: bits if s.In restricts the rows, else s.Output.
func (s *Selection) needs() plan.Output {
	if s.In != nil {
		return plan.OutputBits
	}
	return s.Output
}

// answer removes the rows that are not in s.In from selection i, and returns the number of the remaining rows.
func (s *Selection) answer(rows *plan.Rows, i int) Rows {
	if s.In == nil {
		return Rows{Count: uint64(rows.Counts[i])}
	}
	set, n := rows.Selection(i), 0
	common := min(len(set), len(s.In))
	for k, in := range s.In[:common] {
		set[k] &= in
		n += bits.OnesCount64(set[k])
	}
	clear(set[common:])
	return Rows{Count: uint64(n)}
}

// checkIn returns an error if In names a row that the table lacks.
func (s *Selection) checkIn(rows uint32) error {
	for k := int(rows / 64); k < len(s.In); k++ {
		w := s.In[k]
		if k == int(rows/64) {
			w = w >> (rows % 64) << (rows % 64)
		}
		if w != 0 {
			return fmt.Errorf("the set In has row %d, the table has %d rows", 64*k+bits.TrailingZeros64(w), rows)
		}
	}
	return nil
}
