package selecttest

import (
	"fmt"
	"testing"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// slices checks columns of every kind, with and without missing rows, for rows that end at and beside the tiles of
// slices and of vectors.
func (su suite) slices(t *testing.T, word int) {
	group := uint32(word - 1)
	sizes := []uint32{0, 1, 63, 128, 2048*group + 1, 3*bitslice.TileRows - 1, 3 * bitslice.TileRows, 40_000}
	for _, rows := range sizes {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			r := plantest.RNG(t)
			tab := plantest.EveryVector(t, rows, word)
			tab.Columns, tab.Slices, tab.Codes, tab.Has = nil, nil, nil, nil
			for i, kind := range plantest.CodeKinds {
				codes := make([]uint64, rows)
				for row := range codes {
					codes[row] = kind.Code(r, uint32(row))
				}
				var has []uint64
				if i%2 == 1 {
					has = tab.Bits[r.IntN(len(tab.Bits))]
				}
				tab.AddTiles(t, codes, has)
			}
			var s plan.SelectBatch
			for c := range uint32(len(tab.Columns)) {
				ranges := plantest.RandomRanges(r, tab.Codes[c])
				s.Do(plan.StepAll)
				s.Check(c, ranges...)
				s.End()
				s.Do(plan.StepAll)
				s.Check(c, ranges...)
				s.Do(plan.StepAll)
				s.Check((c+1)%uint32(len(tab.Columns)), plantest.RandomRanges(r, tab.Codes[0])...)
				s.Do(plan.StepOr)
				s.Do(plan.StepNot)
				s.End()
				s.Any(12)
				s.Check(c, ranges...)
				s.End()
				s.Do(plan.StepAll)
				s.Check(c, manyRanges(tab.Codes[c])...)
				s.End()
			}
			for range su.Pick(30, 8) {
				randomSteps(r, tab, &s, plan.MaxSets, r.IntN(20))
				s.End()
			}
			su.verify(t, su.load(t, tab), tab, &s)
		})
	}
}

// manyRanges returns ranges of single codes.
func manyRanges(codes []uint64) []plan.CodeRange {
	var ends []uint64
	for i := 0; i < min(len(codes), 100); i++ {
		ends = append(ends, codes[i], codes[i])
	}
	return plantest.RangesBetween(ends)
}
