package bitmap

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// measureKey is the key of the self-test of measure_groups.
type measureKey struct{}

// selfTestMeasures computes groups on first use: few of them in local memory, with sums above 32 bits,
// many, and all rows as one, of narrow and of wide columns.
func selfTestMeasures(ctx context.Context, rt *device.Runtime) error {
	return device.TestOnce(ctx, rt, []measureKey{{}}, func([]measureKey) error {
		const rows = 70_000 // enough for several work-groups
		t, plain, err := sampleTable(rows, 32)
		columns, failed := sampleColumns(t, plain, 6, 40_000)
		err = cmp.Or(err, failed)
		eighths := make([]uint64, rows) // floats in thousandths
		for r, code := range plain.Codes[0] {
			eighths[r] = 125 * code
		}
		floats, failed := t.AppendTiles(eighths, plain.Has[0])
		if err = cmp.Or(err, failed); err != nil {
			return rt.FailedTest("preparing: %w", err)
		}
		s, err := load(ctx, rt, t)
		if err != nil {
			return err
		}
		defer s.Close()
		var sel plan.SelectBatch
		sel.Any(5) // half of the rows
		sel.End()
		for _, by := range append(columns, plan.Input{}) { // the last one stands for all rows as one group
			a := plan.Aggregation{Inputs: []plan.Input{by, columns[1], {Column: 0, Last: 3 << 32}, {Column: 0, Last: math.MaxUint64}, {Column: floats, Last: 125 * 3 << 32}},
				Groupings: []int{0}}
			what := fmt.Sprintf("groups of codes up to %d", by.Last)
			if by.Last == 0 {
				a.Groupings, what = nil, "totals (kernel measure_rows)"
			}
			for _, measured := range []int{1, 2} { // narrow columns, wide ones
				a.Measures = nil
				for _, kind := range []plan.MeasureKind{plan.MeasureSum, plan.MeasureLeast, plan.MeasureGreatest} {
					a.Measures = append(a.Measures, plan.Measure{Kind: kind, Input: measured})
				}
				if measured > 1 {
					a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureSum, Input: 3}, plan.Measure{Kind: plan.MeasureFloats, Input: 4, Base: 1 << 63, Scale: 3})
				}
				got, err := s.measure(ctx, &sel, &a)
				if err != nil {
					return err
				}
				if !rightCells(plain, plain.Bits[5], &a, got) {
					return rt.FailedTest("%s are wrong", what)
				}
			}
		}
		if s.pairs() {
			return s.selfTestPairs(ctx, plain, columns)
		}
		return nil
	})
}

// selfTestPairs adds a column up in groups by few codes, by some and by many of them, of vectors and of bounds.
func (s *Store) selfTestPairs(ctx context.Context, plain *reference.Table, columns []plan.Input) error {
	var vector, bounds plan.SelectBatch
	vector.Any(5)
	vector.End()
	set := make([]uint64, len(plain.Bits[5]))
	bounds.Do(plan.StepAll)
	bounds.Check(columns[1].Column, plan.CodeRange{Lo: 9000, Hi: 30_000})
	bounds.End()
	for r, code := range plain.Codes[columns[1].Column] {
		if code >= 9000 && code <= 30_000 {
			set[r/64] |= 1 << (r % 64)
		}
	}
	for _, by := range columns {
		a := plan.Aggregation{Inputs: []plan.Input{by, columns[1]}, Groupings: []int{0}, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: 1}}}
		for sel, set := range map[*plan.SelectBatch][]uint64{&vector: plain.Bits[5], &bounds: set} {
			got, err := s.measure(ctx, sel, &a)
			if err != nil {
				return err
			}
			if !rightCells(plain, set, &a, got) {
				return s.rt.FailedTest("sums in groups of codes up to %d are wrong (kernel pair_groups)", by.Last)
			}
		}
	}
	return nil
}

// rightCells compares cells of groups by one column, or of all rows, with numbers row by row.
func rightCells(plain *reference.Table, set []uint64, a *plan.Aggregation, got *plan.Cells) bool {
	n, by := uint64(len(got.Rows)), plain.Codes[a.Inputs[0].Column]
	rows := make([]uint64, n)
	for r, code := range by {
		rows[(code+1)%n] += set[r/64] >> (r % 64) & 1 // place 0 where there is one place
	}
	right := slices.Equal(got.Rows, rows)
	for i, m := range a.Measures {
		codes, has := plain.Codes[0], plain.Has[0] // the column of floats has eighths of them
		if m.Input == 1 {
			codes, has = plain.Codes[a.Inputs[1].Column], nil
		}
		sums, ends, values := make([]uint64, n), slices.Repeat([]uint64{math.MaxUint64}, int(n)), make([]bool, n)
		if m.Kind == plan.MeasureGreatest {
			clear(ends)
		}
		for r, code := range codes {
			if set[r/64]>>(r%64)&1 == 0 || has != nil && has[r/64]>>(r%64)&1 == 0 {
				continue
			}
			place := (by[r] + 1) % n
			sums[place] += code
			values[place] = true
			if m.Kind == plan.MeasureGreatest {
				ends[place] = max(ends[place], code)
			} else {
				ends[place] = min(ends[place], code)
			}
		}
		if m.Kind == plan.MeasureSum || m.Kind == plan.MeasureFloats {
			right = right && slices.Equal(got.Sums[i], sums)
			continue
		}
		for place, code := range ends {
			right = right && (!values[place] || got.Ends[i][place] == code)
		}
	}
	return right
}
