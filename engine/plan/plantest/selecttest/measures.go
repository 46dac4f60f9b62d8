package selecttest

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// measures computes groups of the rows of random selections: by columns of few codes, of many, of bins
// and of rows without a value, with counts, sums, ends and frequencies of narrow and wide codes, and sums of weights and floats.
func (su suite) measures(t *testing.T) {
	tab, inputs := randomColumns(t, uint32(su.Pick(70_000, 5_000)), []uint64{0, 5, 40, 990, 70_000, 1 << 20, 1 << 33})
	eighths, hundredths := make([]uint64, tab.Rows), make([]uint64, tab.Rows) // floats from -8 on
	for row := range eighths {
		hundredths[row] = tab.Plain().Codes[3][row]
		eighths[row] = 125 * hundredths[row]
	}
	even := plan.Input{Column: tab.AddTiles(t, eighths, tab.Has[3]), Last: 125 * inputs[3].Last, Missing: inputs[3].Missing, Vector: inputs[3].Vector}
	uneven := plan.Input{Column: tab.AddTiles(t, hundredths, nil), Last: inputs[3].Last}
	store, ok := su.load(t, tab).(plan.Measurer)
	if !ok {
		t.Skip("the backend does not measure groups")
	}
	vectors, plain := uint32(len(inputs)), tab.Plain()
	su.Check(t, func(rt *rapid.T) {
		var s plan.SelectBatch
		s.Any(rapid.Uint32Range(0, vectors-1).Draw(rt, "vector"))
		if rapid.Bool().Draw(rt, "not") {
			s.Do(plan.StepNot)
		}
		if rapid.Bool().Draw(rt, "check") {
			s.Any()
			s.Do(plan.StepNot)
			s.Check(4, plan.CodeRange{Lo: 0, Hi: rapid.Uint64Range(0, 70_000).Draw(rt, "most")})
			s.Do(plan.StepAnd)
		}
		s.End()
		a := &plan.Aggregation{Inputs: slices.Clone(inputs)}
		by := rapid.SampledFrom([][]int{{}, {0}, {1}, {2}, {3}, {1, 2}, {2, 1}, {0, 3}, {0, 1, 2}, {3, 0, 1}, {2, 0, 1, 0}}).Draw(rt, "groupings")
		a.Groupings = slices.Clone(by)
		for range rapid.IntRange(0, 4).Draw(rt, "measures") {
			of := rapid.IntRange(0, len(inputs)-1).Draw(rt, "measured")
			kinds := []plan.MeasureKind{plan.MeasureCount, plan.MeasureSum, plan.MeasureLeast, plan.MeasureGreatest}
			if of < 3 {
				kinds = append(kinds, plan.MeasureCodes)
			}
			m := plan.Measure{Kind: rapid.SampledFrom(kinds).Draw(rt, "kind"), Input: of}
			if m.Kind == plan.MeasureSum && of < 3 && rapid.Bool().Draw(rt, "weights") {
				m.Weights = make([]plan.Weight, inputs[of].Last+1)
			}
			a.Measures = append(a.Measures, m)
		}
		cells := uneven.Last + 2 // of the frequencies of its codes in each group; devices take 2^20
		for _, i := range by {
			cells *= inputs[i].Last + 2
		}
		if len(by) < 3 && cells <= 1<<20 && rapid.Bool().Draw(rt, "floats of any kind") {
			a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureFloats, Input: len(a.Inputs), Base: 1<<63 - 800, Scale: 2})
			a.Inputs = append(a.Inputs, uneven)
		}
		if rapid.IntRange(0, 3).Draw(rt, "long sums") == 0 { // the bound on codes alone asks for 128 bits
			a.Inputs[5].Last = 1 << 62
		}
		if rapid.Bool().Draw(rt, "floats") {
			a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureFloats, Input: len(a.Inputs), Base: 1<<63 - 8000, Scale: 3})
			a.Inputs = append(a.Inputs, even)
		}
		if len(by) > 0 && rapid.Bool().Draw(rt, "bins") {
			in := inputs[6]
			in.Bounds = []uint64{5, 1 << 20, 1 << 32}
			a.Groupings[0] = len(a.Inputs)
			a.Inputs = append(a.Inputs, in)
		}
		got, err := store.Measure(rt.Context(), &s, a)
		if err != nil {
			rt.Fatal(err)
		}
		want := uint64(0)
		for _, g := range plain.Aggregate(a, plain.Select(&s)[0]) {
			place := 0
			for k, i := range a.Groupings {
				place *= int(a.Inputs[i].Top()) + 2
				if !g.Missing[k] {
					place += int(g.Codes[k]) + 1
				}
			}
			if want += g.Rows; got.Rows[place] != g.Rows {
				rt.Fatalf("group %d has %d rows, want %d", place, got.Rows[place], g.Rows)
			}
			for i, m := range a.Measures {
				if has := got.Values[m.Input]; has != nil && has[place] != g.Measures[i].Count {
					rt.Errorf("group %d: measure %d has %d values, want %d", place, i, has[place], g.Measures[i].Count)
				}
				if codes := got.Codes[i]; codes != nil {
					size := int(a.Inputs[m.Input].Top()) + 2
					checkCodes(rt, codes[place*size:][:size], g.Measures[i])
					continue
				}
				if m.Kind == plan.MeasureSum && (got.Sums[i][place] != g.Measures[i].Sum.Uint64() || got.High[i] != nil && got.High[i][place] != 0) {
					rt.Errorf("group %d: sum %d is %d, want %v", place, i, got.Sums[i][place], g.Measures[i].Sum)
				}
				if end := g.Measures[i]; end.Count > 0 && (m.Kind == plan.MeasureLeast && got.Ends[i][place] != end.Least || m.Kind == plan.MeasureGreatest && got.Ends[i][place] != end.Greatest) {
					rt.Errorf("measure %d ends at %d, want %d or %d", i, got.Ends[i][place], end.Least, end.Greatest)
				}
				if m.Kind == plan.MeasureFloats && m.Scale == 3 {
					sum := int64(got.Sums[i][place]) - 64*int64(g.Measures[i].Count)
					if float64(sum)/8 != g.Measures[i].Floats {
						rt.Errorf("group %d: sum %d is %d/8, want %v", place, i, sum, g.Measures[i].Floats)
					}
				}
				if missing := a.Inputs[m.Input].Missing; missing != (got.Values[m.Input] != nil) {
					rt.Errorf("measure %d: numbers of values, and rows without a value: %t", i, missing)
				}
			}
		}
		for _, n := range got.Rows {
			want -= n
		}
		if want != 0 {
			rt.Error("groups without rows have some")
		}
	})
	var all plan.SelectBatch
	all.Any()
	all.Do(plan.StepNot)
	all.End()
	for name, c := range map[string]struct {
		change func(*plan.Aggregation)
		err    error
	}{
		"a code above the last one":    {func(a *plan.Aggregation) { a.Inputs[2].Last-- }, codec.ErrCorrupt},
		"a summed code above the last": {func(a *plan.Aggregation) { a.Inputs[4].Last-- }, codec.ErrCorrupt},
		"the least code above the last": {func(a *plan.Aggregation) {
			a.Measures[0].Kind = plan.MeasureLeast
			a.Inputs[4].Last--
		}, codec.ErrCorrupt},
		"a counted code above the last one": {func(a *plan.Aggregation) {
			a.Measures[0] = plan.Measure{Kind: plan.MeasureCodes, Input: 3}
			a.Inputs[3].Last--
		}, codec.ErrCorrupt},
		"a greatest code above the last": {func(a *plan.Aggregation) {
			a.Groupings, a.Measures[0].Kind = nil, plan.MeasureGreatest
			a.Inputs[4].Last--
		}, codec.ErrCorrupt},
		"floats": {func(a *plan.Aggregation) { a.Measures[0].Kind = plan.MeasureFloats }, plan.ErrUnsupported},
		"a first float that is no multiple": {func(a *plan.Aggregation) {
			a.Inputs[4], a.Measures[0] = even, plan.Measure{Kind: plan.MeasureFloats, Input: 4, Base: 1<<63 - 801, Scale: 3}
		}, plan.ErrUnsupported},
		"frequencies of too many codes":  {func(a *plan.Aggregation) { a.Measures[0].Kind = plan.MeasureCodes }, plan.ErrUnsupported},
		"sums of too many weights":       {func(a *plan.Aggregation) { a.Measures[0].Weights = make([]plan.Weight, 70_001) }, plan.ErrUnsupported},
		"too many groups":                {func(a *plan.Aggregation) { a.Groupings[0] = 5 }, plan.ErrUnsupported},
		"too many groups of two columns": {func(a *plan.Aggregation) { a.Groupings = []int{2, 3} }, plan.ErrUnsupported},
	} {
		a := &plan.Aggregation{Inputs: slices.Clone(inputs), Groupings: []int{2}, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: 4}}}
		if c.change(a); name == "too many groups of two columns" {
			a.Inputs[2].Last, a.Inputs[3].Last = 1000, 990
		}
		if _, err := store.Measure(t.Context(), &all, a); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkCodes compares the rows of the codes of a group with those of a group of package reference.
func checkCodes(t *rapid.T, counts []uint64, want reference.Measured) {
	all := uint64(0)
	for i, n := range counts[1:] {
		if all += n; len(want.Codes) > 0 && n != want.Codes[uint64(i)] {
			t.Errorf("code %d has %d rows, want %d", i, n, want.Codes[uint64(i)])
		}
	}
	if all != want.Count {
		t.Errorf("codes have %d rows, want %d", all, want.Count)
	}
}
