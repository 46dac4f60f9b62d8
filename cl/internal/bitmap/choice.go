package bitmap

import "heddle/engine/plan"

// idealVectors is the number of vectors of an OR from which on plan.StrategyAuto takes ideal
// hybrid for a small table. The fused kernel has a work-group for each tile of the table and each
// selection, which reads the vectors one after the other. If less than half of the compute
// units have a group, the rest is idle, while ideal hybrid divides the vectors too. H200, 1 M
// rows, 33 tiles: 64 vectors took 55 us by fused and 57 by ideal hybrid, 256 vectors 131
// and 82, 1,024 vectors 605 and 174.
const idealVectors = 128

// strategyOf returns the strategy of sel, which plan.StrategyAuto leaves to the store.
func (s *Store) strategyOf(sel *plan.SelectBatch) plan.Strategy {
	if sel.Strategy != plan.StrategyAuto {
		return sel.Strategy
	}
	vectors, ors := 0, 0
	for _, x := range sel.Steps {
		if x.Code == plan.StepAny {
			vectors += int(x.To - x.From)
			ors++
		}
	}
	if !s.rt.Tuning.Serial && ors > 0 && vectors >= idealVectors*ors && 2*s.dir.tiles*sel.Len() <= s.rt.Info.ComputeUnits {
		return plan.IdealHybrid
	}
	return plan.Fused
}
