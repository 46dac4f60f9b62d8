package plantest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
)

// tableRandom has random programs over random tables.
func (su *suite) tableRandom(t *testing.T, word int) {
	r := rng(t)
	kinds := VectorKinds()
	for i := range su.pick(20, 5) {
		tab := NewTable(r.Uint32N(uint32(su.pick(40_000, 8_000))), word)
		for range 1 + r.IntN(20) {
			tab.AddVector(kinds[r.IntN(len(kinds))].Gen(r, tab.Rows))
		}
		for range r.IntN(3) {
			addCodes(t, tab, r.IntN(len(codeKinds)), r)
		}
		var s plan.SelectBatch
		for range 12 {
			randomSteps(r, tab, &s, plan.MaxSets, r.IntN(20))
			s.End()
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { su.verifyTable(t, su.loadTable(t, tab), tab, &s) })
	}
}

// randomSteps appends random steps that make one set and need at most depth.
func randomSteps(r *rand.Rand, tab *Table, s *plan.SelectBatch, depth, steps int) {
	for height := 0; steps > 0 || height != 1; steps-- {
		switch {
		case height == 0 || height < depth && steps > 0 && r.IntN(5) < 2:
			of := make([]uint32, r.IntN(1+r.IntN(6)))
			for i := range of {
				of[i] = r.Uint32N(uint32(len(tab.Vectors)))
			}
			s.Any(of...)
			height++
		case len(tab.Columns) > 0 && r.IntN(4) == 0:
			column := r.IntN(len(tab.Columns))
			s.Check(uint32(column), randomRanges(r, tab.Codes[column])...)
		case height == 1 || r.IntN(5) == 0:
			s.Do(plan.StepNot)
		default:
			s.Do([]plan.StepCode{plan.StepAnd, plan.StepOr, plan.StepAndNot}[r.IntN(3)])
			height--
		}
	}
}

// randomRanges are a few ranges that some of codes lie in.
func randomRanges(r *rand.Rand, codes []uint64) []plan.CodeRange {
	ends := make([]uint64, 2*r.IntN(4))
	for i := range ends {
		if ends[i] = r.Uint64() >> r.IntN(64); len(codes) > 0 {
			ends[i] = codes[r.IntN(len(codes))] + r.Uint64N(3) - 1
		}
	}
	return rangesOf(ends)
}

// rangesOf makes ascending, disjoint ranges that end at some of ends.
func rangesOf(ends []uint64) (ranges []plan.CodeRange) {
	slices.Sort(ends)
	for i := 0; i+1 < len(ends); i += 2 {
		if i == 0 || ends[i] > ranges[len(ranges)-1].Hi {
			ranges = append(ranges, plan.CodeRange{Lo: ends[i], Hi: ends[i+1]})
		}
	}
	return ranges
}
