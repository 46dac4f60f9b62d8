package smallcases

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// tables selects rows of a table of a tile and a part of one, whose vectors have every
// kind of tile, by every step. Strategies share kernels for words of either size, and only
// one of them counts loads: it runs the strategies that have a kernel or a launch of their
// own.
func tables(t *testing.T, backend plan.Backend, word int, count bool) {
	const rows = 300*31 + 7
	r := rand.New(rand.NewPCG(1, uint64(word)))
	tab := plantest.NewTable(rows, word)
	for _, k := range plantest.VectorKinds() {
		switch k.Name {
		case "zeros", "ones", "long fill", "literals", "short fills", "rare":
			tab.AddVector(k.Gen(r, rows))
		}
	}
	codes := make([]uint64, rows)
	for row := range codes {
		codes[row] = r.Uint64N(3)<<32 | r.Uint64N(300)
	}
	has := make([]uint64, len(tab.Bits[0]))
	for i := range has { // tiles of the column have plain, constant and sparse slices
		has[i] = ^uint64(1 << (i % 64))
	}
	has[len(has)-1] &= 1<<(rows%64) - 1
	tab.AddTiles(t, codes, has)
	few, many := make([]uint64, rows), make([]uint64, rows)
	for row := range few {
		few[row], many[row] = uint64(row)%7, uint64(row)
	}
	for row := range codes {
		if row%3000 == 1 {
			few[row] = 6
		} else {
			few[row] %= 2
		}
	}
	tab.AddTiles(t, few, plantest.NewFilter(rows, func(row uint32) bool { return tab.Bits[3][row/64]>>(row%64)&1 == 0 }))
	tab.AddTiles(t, many, nil)
	for _, n := range []uint64{9, 200} {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = uint64(row) * 7 % n
		}
		tab.AddTiles(t, codes, nil)
	}
	s := plan.SelectBatch{}
	s.Any(0, 2, 3, 4, 5)
	s.Do(plan.StepNot)
	s.Any(5, 2)
	s.Any(3)
	s.Do(plan.StepAnd)
	s.Do(plan.StepOr)
	s.Any()
	s.Do(plan.StepAndNot)
	s.Check(0, plan.CodeRange{Lo: 10, Hi: 200}, plan.CodeRange{Lo: 1 << 32, Hi: 2<<32 + 50})
	s.End()
	s.Any(1, 0, 4)
	s.End()
	ranges := make([]plan.CodeRange, 6)
	for i := range ranges {
		ranges[i] = plan.CodeRange{Lo: uint64(40 * i), Hi: uint64(40*i) + 9}
	}
	s.Do(plan.StepAll)
	s.Check(0, ranges...)
	s.Do(plan.StepAll)
	s.Check(1, plan.CodeRange{Lo: 1, Hi: 5})
	s.Do(plan.StepNot)
	s.Check(2, plan.CodeRange{Lo: 100, Hi: rows - 300})
	s.Do(plan.StepAnd)
	s.End()
	s.Do(plan.StepAll)
	s.Check(2, plan.CodeRange{Lo: 100, Hi: 104})
	s.Check(0, ranges...)
	s.End()
	for i := range ranges {
		ranges[i] = plan.CodeRange{Lo: uint64(2 * i), Hi: uint64(2 * i)}
	}
	s.Do(plan.StepAll)
	s.Check(1, ranges...)
	s.Compare(plan.Comparison{Columns: [2]uint32{1, 2}, Base: [2]uint64{700, 0}, Less: true})
	s.End()
	store, err := backend.LoadTable(t.Context(), &tab.Table)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if !count {
		countCodes(t, store, tab)
		measure(t, store, tab)
		pairs(t, store, tab)
		first(t, store, tab)
		filter(t, store, tab)
	}
	want := tab.Scan(&s)
	runs := map[plan.Strategy]bool{plan.Fused: false} // with new scans?
	if !count {
		runs[plan.Hybrid] = true
		if word == 32 {
			runs[plan.COA], runs[plan.ROA] = false, false
		}
	}
	for s.Strategy, s.Rescan = range runs {
		var out plan.Rows
		if err := store.Select(t.Context(), &s, &out); err != nil {
			t.Fatalf("%v: %v", s.Strategy, err)
		}
		if err := tab.Compare(&s, want, &out); err != nil {
			t.Errorf("wah%d, %v, rescan %t: %v", word, s.Strategy, s.Rescan, err)
		}
		if st := out.Stats; st.Probe <= 0 || s.Strategy != plan.Fused && st.Decode <= 0 {
			t.Errorf("wah%d, %v: a kernel took no time: %+v", word, s.Strategy, st)
		}
	}
}

// filter makes a filter of a selection in slices alone, inside another one.
func filter(t *testing.T, store plan.TableStore, tab *plantest.Table) {
	var s plan.SelectBatch
	s.Do(plan.StepAll)
	s.Check(2, plan.CodeRange{Lo: 200, Hi: 5000})
	s.End()
	first, err := store.Filter(t.Context(), &s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	s.Reset()
	s.Do(plan.StepAll)
	s.Check(2, plan.CodeRange{Lo: 4900, Hi: 9000})
	s.End()
	second, err := store.Filter(t.Context(), &s, first)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if first.Count() != 4801 || second.Count() != 101 {
		t.Errorf("filters of %d and %d rows, want 4801 and 101", first.Count(), second.Count())
	}
}

// countCodes counts rows by the codes of a column of few codes with rows without a value, and of one
// of many codes.
func countCodes(t *testing.T, store plan.TableStore, tab *plantest.Table) {
	set := plantest.NewFilter(tab.Rows, func(row uint32) bool { return row%5 != 0 })
	columns := []plan.Input{{Column: 1, Last: 6, Missing: true, Vector: 3}, {Column: 2, Last: uint64(tab.Rows) - 1}}
	got, err := store.(plan.CodeCounter).CountCodes(t.Context(), set, columns)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range columns {
		want := make([]uint64, in.Last+2)
		for row := range tab.Rows {
			switch {
			case row%5 == 0:
			case in.Missing && tab.Bits[in.Vector][row/64]>>(row%64)&1 != 0:
				want[0]++
			default:
				want[tab.Codes[in.Column][row]+1]++
			}
		}
		if !slices.Equal(got[i], want) {
			t.Errorf("column %d: %v, want %v", in.Column, got[i], want)
		}
	}
}

// measure finds ends of wide codes, and sums and ends of them and of narrow ones in groups of a column of few codes with rows without a value,
// and of one of many codes.
func measure(t *testing.T, store plan.TableStore, tab *plantest.Table) {
	var s plan.SelectBatch
	s.Any(5)
	s.End()
	set := tab.Scan(&s)[0]
	ends := &plan.Aggregation{Inputs: []plan.Input{{Column: 0, Last: 3 << 32}}, Measures: []plan.Measure{{Kind: plan.MeasureLeast}, {Kind: plan.MeasureGreatest}, {Kind: plan.MeasureSum}}}
	if got, err := store.(plan.Measurer).Measure(t.Context(), &s, ends); err != nil || got.Ends[0][0] > got.Ends[1][0] {
		t.Errorf("ends %v, %v", got, err)
	}
	few, many := plan.Input{Column: 1, Last: 6, Missing: true, Vector: 3}, plan.Input{Column: 2, Last: uint64(tab.Rows) - 1}
	for _, of := range [][2]plan.Input{{few, {Column: 0, Last: math.MaxUint64}}, {few, many}, {many, many}} {
		by, in := of[0], of[1]
		a := &plan.Aggregation{Inputs: of[:], Groupings: []int{0}, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: 1},
			{Kind: plan.MeasureLeast, Input: 1}, {Kind: plan.MeasureGreatest, Input: 1}}}
		got, err := store.(plan.Measurer).Measure(t.Context(), &s, a)
		if err != nil {
			t.Fatal(err)
		}
		rows, sums := make([]uint64, by.Last+2), make([]uint64, by.Last+2)
		least, greatest := slices.Repeat([]uint64{math.MaxUint64}, int(by.Last+2)), make([]uint64, by.Last+2)
		for row := range tab.Rows {
			if set[row/64]>>(row%64)&1 == 0 {
				continue
			}
			place := tab.Codes[by.Column][row] + 1
			if by.Missing && tab.Bits[by.Vector][row/64]>>(row%64)&1 != 0 {
				place = 0
			}
			rows[place]++
			if has := tab.Has[in.Column]; has == nil || has[row/64]>>(row%64)&1 != 0 {
				code := tab.Codes[in.Column][row]
				sums[place] += code
				least[place], greatest[place] = min(least[place], code), max(greatest[place], code)
			}
		}
		if !slices.Equal(got.Rows, rows) || !slices.Equal(got.Sums[0], sums) {
			t.Errorf("groups of column %d are wrong", by.Column)
		}
		for place, code := range least {
			if code != math.MaxUint64 && (got.Ends[1][place] != code || got.Ends[2][place] != greatest[place]) {
				t.Errorf("column %d ends at %d and %d in place %d, want %d and %d", in.Column, got.Ends[1][place], got.Ends[2][place], place, code, greatest[place])
			}
		}
	}
}

// pairs adds row numbers up in groups of few codes, of some and of many, of a vector and in bounds.
func pairs(t *testing.T, store plan.TableStore, tab *plantest.Table) {
	var vector, bounds plan.SelectBatch
	vector.Any(5)
	vector.End()
	bounds.Do(plan.StepAll)
	bounds.Check(2, plan.CodeRange{Lo: 1000, Hi: 9000})
	bounds.End()
	numbers := plan.Input{Column: 2, Last: uint64(tab.Rows) - 1}
	for _, by := range []plan.Input{{Column: 3, Last: 8}, {Column: 4, Last: 199}, numbers} {
		for _, sel := range []*plan.SelectBatch{&vector, &bounds} {
			a := &plan.Aggregation{Inputs: []plan.Input{by, numbers}, Groupings: []int{0}, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: 1}}}
			got, err := store.(plan.Measurer).Measure(t.Context(), sel, a)
			if err != nil {
				t.Fatal(err)
			}
			set, rows, sums := tab.Scan(sel)[0], make([]uint64, by.Last+2), make([]uint64, by.Last+2)
			for row := range tab.Rows {
				if set[row/64]>>(row%64)&1 != 0 {
					place := tab.Codes[by.Column][row] + 1
					rows[place]++
					sums[place] += uint64(row)
				}
			}
			if !slices.Equal(got.Rows, rows) || !slices.Equal(got.Sums[0], sums) {
				t.Errorf("sums in groups of column %d are wrong", by.Column)
			}
		}
	}
}

// first finds the first rows of a filter by wide codes, and by few codes, which some rows lack, and a second key.
func first(t *testing.T, store plan.TableStore, tab *plantest.Table) {
	var s plan.SelectBatch
	s.Any(5)
	s.End()
	wide, few := plan.OrderKey{Last: 3 << 32}, plan.OrderKey{Column: 1, Last: 6, Descending: true, MissingFirst: true}
	for _, keys := range [][]plan.OrderKey{{wide}, {few}, {few, wide}} {
		o := &plan.Order{Keys: keys, K: 5}
		got, err := store.(plan.Sorter).First(t.Context(), &s, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range tab.Plain().First(&s, o) {
			if !slices.Contains(got.Rows, row) {
				t.Errorf("the first rows by %d keys lack row %d", len(keys), row)
			}
		}
	}
}
