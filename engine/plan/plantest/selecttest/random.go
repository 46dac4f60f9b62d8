package selecttest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// random has random steps over random tables.
func (su suite) random(t *testing.T, word int) {
	r := plantest.RNG(t)
	kinds := plantest.VectorKinds()
	for i := range su.Pick(20, 5) {
		tab := plantest.NewTable(r.Uint32N(uint32(su.Pick(40_000, 8_000))), word)
		for range 1 + r.IntN(20) {
			tab.AddVector(kinds[r.IntN(len(kinds))].Gen(r, tab.Rows))
		}
		for range r.IntN(3) {
			tab.AddColumn(t, plantest.CodeKinds[r.IntN(len(plantest.CodeKinds))], r)
		}
		var s plan.SelectBatch
		for range 12 {
			randomSteps(r, tab, &s, plan.MaxSets, r.IntN(20))
			s.End()
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { su.verify(t, su.load(t, tab), tab, &s) })
	}
}

// randomSteps appends random steps that leave one set and need a stack of at most
// depth sets.
func randomSteps(r *rand.Rand, tab *plantest.Table, s *plan.SelectBatch, depth, steps int) {
	for height := 0; steps > 0 || height != 1; steps-- {
		switch {
		case height == 0 || height < depth && steps > 0 && r.IntN(5) < 2:
			if r.IntN(6) == 0 {
				s.Do(plan.StepAll)
				height++
				continue
			}
			of := make([]uint32, r.IntN(1+r.IntN(6)))
			for i := range of {
				of[i] = r.Uint32N(uint32(len(tab.Vectors)))
			}
			s.Any(of...)
			height++
		case len(tab.Columns) > 0 && r.IntN(4) == 0:
			column := r.IntN(len(tab.Columns))
			s.Check(uint32(column), plantest.RandomRanges(r, tab.Codes[column])...)
		case len(tab.Columns) > 0 && r.IntN(6) == 0:
			s.Compare(plantest.RandomComparison(r, tab))
		case height == 1 || r.IntN(5) == 0:
			s.Do(plan.StepNot)
		default:
			s.Do([]plan.StepCode{plan.StepAnd, plan.StepOr, plan.StepAndNot}[r.IntN(3)])
			height--
		}
	}
}
