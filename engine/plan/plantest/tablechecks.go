package plantest

import (
	"math"
	"testing"

	"heddle/engine/plan"
)

// tableChecks looks codes of every kind up, of no row, few, many and all of them.
func (su *suite) tableChecks(t *testing.T, word int) {
	tab := everyKind(t, uint32(su.pick(7_003, 1_503)), word)
	columns := make([]uint32, len(codeKinds))
	for kind := range codeKinds {
		columns[kind] = addCodes(t, tab, kind, rng(t))
	}
	st := su.loadTable(t, tab)
	for kind, k := range codeKinds {
		t.Run(k.name, func(t *testing.T) {
			r := rng(t)
			column := columns[kind]
			codes := tab.Codes[column]
			many := make([]uint64, 200)
			for i := range many {
				many[i] = codes[r.IntN(len(codes))]
			}
			all := plan.CodeRange{Hi: math.MaxUint64}
			some := plan.CodeRange{Lo: codes[7], Hi: codes[7]}
			var s plan.SelectBatch
			for v := range uint32(len(tab.Vectors)) {
				s.Any(v)
				s.Check(column, some)
				s.End()
			}
			for _, ranges := range [][]plan.CodeRange{
				nil, {all}, rangesOf(many), {{Lo: math.MaxUint64, Hi: math.MaxUint64}}, {{}},
				{{Hi: math.MaxUint32}}, {{Lo: 1 << 32, Hi: math.MaxUint64}}, {{Lo: math.MaxUint32 - 1, Hi: 1<<32 + 1}},
				{{Hi: 3}, {Lo: 4, Hi: 4}, {Lo: 6, Hi: 8}, {Lo: 1 << 33, Hi: 1 << 41}},
			} {
				for _, v := range []uint32{1, 12, 14} { // ones, tenth, most
					s.Any(v)
					s.Check(column, ranges...)
					s.End()
				}
			}
			s.Any(13) // a check of what a check has left, and of another column
			s.Check(column, randomRanges(r, codes)...)
			s.Do(plan.StepNot)
			s.Check(0, plan.CodeRange{Lo: 2, Hi: 7})
			s.Check(column, all)
			s.End()
			s.Any(13) // of one of two sets
			s.Any(11)
			s.Check(column, some)
			s.Do(plan.StepOr)
			s.End()
			s.Any(3) // the bin at the end of a range: whole bins or those rows of two that pass
			s.Any(12, 9)
			s.Check(column, randomRanges(r, codes)...)
			s.Do(plan.StepOr)
			s.Any(4)
			s.Do(plan.StepAndNot)
			s.End()
			su.verifyTable(t, st, tab, &s)
		})
	}
}
