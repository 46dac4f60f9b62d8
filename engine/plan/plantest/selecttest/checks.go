package selecttest

import (
	"math"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// checks looks up codes of every kind, for no row, few, many and all rows.
func (su suite) checks(t *testing.T, word int) {
	tab := plantest.EveryVector(t, uint32(su.Pick(7_003, 1_503)), word)
	columns := make([]uint32, len(plantest.CodeKinds))
	for kind := range plantest.CodeKinds {
		columns[kind] = tab.AddColumn(t, plantest.CodeKinds[kind], plantest.RNG(t))
	}
	st := su.load(t, tab)
	for kind, k := range plantest.CodeKinds {
		t.Run(k.Name, func(t *testing.T) {
			r := plantest.RNG(t)
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
				nil, {all}, plantest.RangesBetween(many), {{Lo: math.MaxUint64, Hi: math.MaxUint64}}, {{}},
				{{Hi: math.MaxUint32}}, {{Lo: 1 << 32, Hi: math.MaxUint64}}, {{Lo: math.MaxUint32 - 1, Hi: 1<<32 + 1}},
				{{Hi: 3}, {Lo: 4, Hi: 4}, {Lo: 6, Hi: 8}, {Lo: 1 << 33, Hi: 1 << 41}},
			} {
				for _, v := range []uint32{1, 12, 14} { // ones, tenth, most
					s.Any(v)
					s.Check(column, ranges...)
					s.End()
				}
			}
			s.Any(13) // checks of the rows of an earlier check, of two columns
			s.Check(column, plantest.RandomRanges(r, codes)...)
			s.Do(plan.StepNot)
			s.Check(0, plan.CodeRange{Lo: 2, Hi: 7})
			s.Check(column, all)
			s.End()
			s.Any(13) // a check of one of two sets
			s.Any(11)
			s.Check(column, some)
			s.Do(plan.StepOr)
			s.End()
			s.Any(3) // a range over bins: one whole bin, and the matching rows of two bins
			s.Any(12, 9)
			s.Check(column, plantest.RandomRanges(r, codes)...)
			s.Do(plan.StepOr)
			s.Any(4)
			s.Do(plan.StepAndNot)
			s.End()
			su.verify(t, st, tab, &s)
		})
	}
}
