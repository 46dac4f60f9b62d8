package bitmap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// listedKinds are codes that lists of bits hold, of tiles with trees of multiplexers and without.
var listedKinds = []struct {
	name string
	code func(r *rand.Rand, row uint64) uint64
}{
	{"one value", func(*rand.Rand, uint64) uint64 { return 5 }},
	{"50 values", func(r *rand.Rand, _ uint64) uint64 { return r.Uint64N(50) }},
	{"250 values above a base", func(r *rand.Rand, _ uint64) uint64 { return 1<<40 + 17 + r.Uint64N(250) }},
	{"widths 0 to 12 above several bases", func(r *rand.Rand, row uint64) uint64 {
		return row/2000*37 + r.Uint64N(1<<(row/2000%13))
	}},
	{"a million values", func(r *rand.Rand, _ uint64) uint64 { return r.Uint64N(1 << 20) }},
	{"few of 35 bits", func(r *rand.Rand, _ uint64) uint64 { return r.Uint64N(2000) + r.Uint64N(200)/199<<35 }},
	{"heavy tail", func(r *rand.Rand, _ uint64) uint64 { return uint64(math.Pow(1-r.Float64(), -1.1)) }},
	{"greatest codes", func(r *rand.Rand, _ uint64) uint64 { return math.MaxUint64 - r.Uint64N(300) }},
}

// listsOf are ranges of many codes: some codes of a column, all others, ranges behind the greatest code, and the longest list
// of bits, and one code more.
func listsOf(r *rand.Rand, codes []uint64) (all [][]plan.CodeRange) {
	for _, n := range []int{12, 40, 400} {
		var some []uint64
		for range n {
			some = append(some, codes[r.IntN(len(codes))])
		}
		slices.Sort(some)
		var in, out []plan.CodeRange
		from := uint64(0)
		for _, x := range slices.Compact(some) {
			in = append(in, plan.CodeRange{Lo: x, Hi: x})
			if x > from {
				out = append(out, plan.CodeRange{Lo: from, Hi: x - 1})
			}
			from = x + 1
		}
		if from > 0 {
			out = append(out, plan.CodeRange{Lo: from, Hi: math.MaxUint64})
		}
		all = append(all, in, out)
		for k := range uint64(3) {
			if last := in[len(in)-1].Hi; last < 1<<60 {
				in = append(in, plan.CodeRange{Lo: last + 2<<k, Hi: last + 3<<k})
			}
		}
		all = append(all, in)
	}
	low := slices.Min(codes)
	for _, last := range []uint64{mostListed - 1, mostListed} {
		var in []plan.CodeRange
		for k := range uint64(5) {
			in = append(in, plan.CodeRange{Lo: low + 3*k, Hi: low + 3*k + 1})
		}
		if low < math.MaxUint64-last {
			in = append(in, plan.CodeRange{Lo: low + last - 2, Hi: low + last})
		}
		all = append(all, in)
	}
	return all
}

// TestSlicesListed compares sets of many codes, alone, under NOT and with another column, with the plain evaluator.
func TestSlicesListed(t *testing.T) {
	const rows = 4096*3 + 133
	d := devicetest.Find(t, ops)
	r := plantest.RNG(t)
	tab := plantest.EveryVector(t, rows, 32)
	tab.Columns, tab.Slices, tab.Codes, tab.Has = nil, nil, nil, nil
	for i := range 2 * len(listedKinds) {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = listedKinds[i/2].code(r, uint64(row))
		}
		var has []uint64
		if i%2 == 1 {
			has = make([]uint64, (rows+63)/64)
			for row := range rows {
				if r.IntN(9) > 0 && (row < 4096 || row >= 2*4096) { // one tile has no value
					has[row/64] |= 1 << (row % 64)
				}
			}
		}
		tab.AddTiles(t, codes, has)
	}
	percent := make([]uint64, rows)
	for row := range percent {
		percent[row] = r.Uint64N(100)
	}
	few := tab.AddTiles(t, percent, nil)
	var sel plan.SelectBatch
	for c := range uint32(len(tab.Columns)) {
		for _, ranges := range listsOf(r, tab.Codes[c]) {
			sel.Do(plan.StepAll)
			if r.IntN(3) == 0 { // leaves few rows, or about as many as are few
				sel.Check(few, plan.CodeRange{Hi: r.Uint64N(9)})
			}
			sel.Check(c, ranges...)
			switch r.IntN(4) {
			case 0:
				sel.Do(plan.StepNot)
			case 1:
				sel.Do(plan.StepAll)
				sel.Check(uint32(r.IntN(len(tab.Columns))), ranges...)
				sel.Do([]plan.StepCode{plan.StepAnd, plan.StepOr, plan.StepAndNot}[r.IntN(3)])
			case 2:
				sel.Any(uint32(r.IntN(len(tab.Vectors)))) // the check has bits of its own
				sel.Do(plan.StepAnd)
			}
			sel.End()
		}
	}
	if err := sel.Validate(&tab.Table); err != nil {
		t.Fatal(err)
	}
	want := tab.Scan(&sel)
	for name, shape := range devicetest.Shapes(d) {
		rt := devicetest.OpenRow(t, d, shape, false)
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		for _, sel.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts} {
			var out plan.Rows
			if err := s.Select(t.Context(), &sel, &out); err != nil {
				t.Fatal(err)
			}
			if err := tab.Compare(&sel, want, &out); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestListedWords: ranges of more codes than a list of bits holds have none, and lists end at the greatest code.
func TestListedWords(t *testing.T) {
	ranges := func(n, step uint64) (in []plan.CodeRange) {
		for k := range n {
			in = append(in, plan.CodeRange{Lo: 7 + k*step, Hi: 7 + k*step})
		}
		return in
	}
	for _, c := range []struct {
		last          uint64
		in            []plan.CodeRange
		ranges, words int
	}{
		{math.MaxUint64, ranges(sliceRanges, 2), sliceRanges, 0},
		{math.MaxUint64, ranges(5, 8), 5, 2},
		{math.MaxUint64, append(ranges(5, 8), plan.CodeRange{Lo: 60, Hi: 7 + mostListed - 1}), 6, mostListed / 32},
		{math.MaxUint64, append(ranges(5, 8), plan.CodeRange{Lo: 60, Hi: 7 + mostListed}), 6, 0},
		{100, append(ranges(5, 8), plan.CodeRange{Lo: 60, Hi: math.MaxUint64}), 6, 3},
		{50, append(ranges(5, 8), plan.CodeRange{Lo: 60, Hi: math.MaxUint64}), 5, 2},
		{8, ranges(5, 8), 1, 0},
	} {
		cut := &cut{sel: &plan.SelectBatch{Ranges: c.in}, values: &values{columns: []valuesColumn{{last: c.last}}}}
		got, words := cut.rangesOf(plan.Step{Code: plan.StepCheck, To: uint32(len(c.in))})
		if len(got) != c.ranges || words != c.words {
			t.Errorf("%s: %d ranges, %d words, want %d, %d", fmt.Sprint(c.in), len(got), words, c.ranges, c.words)
		}
	}
}
