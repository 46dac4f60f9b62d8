package selecttest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// strategies checks that the store runs and explains the strategies that it names,
// and refuses all other strategies.
func (su suite) strategies(t *testing.T) {
	tab := plantest.NewTable(1000, 32)
	for _, k := range plantest.VectorKinds() {
		tab.AddVector(k.Gen(plantest.RNG(t), tab.Rows))
	}
	st := su.load(t, tab)
	if st.Memory() < 4*uint64(len(tab.Words32)) {
		t.Errorf("a table of %d words in %d bytes", len(tab.Words32), st.Memory())
	}
	var s plan.SelectBatch
	s.Any(0, 1, 2)
	s.End()
	s.End()
	has := st.Strategies()
	for _, s.Strategy = range append(plan.Strategies(), plan.StrategyAuto) {
		err := st.Select(t.Context(), &s, new(plan.Rows))
		switch n := len(slices.DeleteFunc(slices.Clone(has), func(x plan.Strategy) bool { return x != s.Strategy })); {
		case n > 1 || n > 0 && s.Strategy == plan.StrategyAuto:
			t.Errorf("%v is %d times among the strategies %v", s.Strategy, n, has)
		case n > 0 || s.Strategy == plan.StrategyAuto:
			if err != nil {
				t.Errorf("%v: %v", s.Strategy, err)
			}
			for i := range s.Len() {
				if st.Explain(&s, i) == "" {
					t.Errorf("%v: nothing explains selection %d", s.Strategy, i)
				}
			}
		case !errors.Is(err, plan.ErrUnsupported):
			t.Errorf("%v is none of %v, and selecting by it gives %v", s.Strategy, has, err)
		}
	}
	if len(has) == 0 {
		t.Error("a store without strategies")
	}
}

// rows has the numbers of rows at which groups, words and tiles end.
func (su suite) rows(t *testing.T, word int) {
	group := uint32(word - 1)
	sizes := []uint32{0, 1, 2, 31, 32, 33, 62, 63, 64, 65, 127, 128, 129}
	for _, tile := range []uint32{256, 512, 1024, 2048}[:su.Pick(4, 1)] {
		sizes = append(sizes, tile*group-1, tile*group, tile*group+1)
	}
	if !su.Small {
		sizes = append(sizes, 3*2048*group+17, 64*group-1, 64*group, 64*group+1)
	}
	for _, rows := range sizes {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			tab := plantest.EveryVector(t, rows, word)
			var s plan.SelectBatch
			all := make([]uint32, len(tab.Vectors))
			for v := range all {
				all[v] = uint32(v)
				s.Any(uint32(v))
				if v%2 == 0 {
					s.Do(plan.StepNot)
				}
				s.End()
			}
			s.Any(all...)
			s.End()
			s.Any(all[3:5]...)
			s.Check(2, plan.CodeRange{Lo: 1 << 31, Hi: 1<<32 - 1})
			s.End()
			s.Any()
			s.Do(plan.StepNot)
			s.Check(1, plan.CodeRange{Hi: 3})
			s.End()
			r := plantest.RNG(t)
			for range su.Pick(4, 2) {
				randomSteps(r, tab, &s, 4, 1+r.IntN(12))
				s.End()
			}
			su.verify(t, su.load(t, tab), tab, &s)
		})
	}
}

// vectors has ORs of 0 to 3,000 vectors.
func (su suite) vectors(t *testing.T, word int) {
	counts := []int{0, 1, 2, 3, 64, 65, 257}
	if !su.Small {
		counts = append(counts, 3000)
	}
	kinds := plantest.VectorKinds()
	for _, n := range counts {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := plantest.RNG(t)
			tab := plantest.NewTable(uint32(su.Pick(9000, 4000)), word)
			all := make([]uint32, n)
			for v := range all {
				gen := kinds[3].Gen // one row, so that every vector counts
				switch r.IntN(20) {
				case 0:
					gen = kinds[r.IntN(len(kinds))].Gen
				case 1, 2, 3:
					gen = plantest.RowByRow("", func(r *rand.Rand, _, _ uint32) bool { return r.IntN(2+n) == 0 }).Gen
				}
				all[v] = tab.AddVector(gen(r, tab.Rows))
			}
			var s plan.SelectBatch
			for _, from := range []int{0, n / 3, max(n-2, 0)} {
				s.Any(all[from:]...)
				s.End()
				s.Any(all[:n-from]...)
				s.Do(plan.StepNot)
				s.End()
			}
			s.Any(slices.Repeat(all[:min(n, 3)], 5)...) // one vector several times
			s.End()
			su.verify(t, su.load(t, tab), tab, &s)
		})
	}
}

// programs has every order of steps that could matter: no step, sets that are
// empty or full, the highest stack, long sequences.
func (su suite) programs(t *testing.T, word int) {
	tab := plantest.EveryVector(t, uint32(su.Pick(40_000, 10_000)), word)
	st := su.load(t, tab)
	n := uint32(len(tab.Vectors))
	var s plan.SelectBatch
	su.verify(t, st, tab, &s) // never reset, never added to
	s.Reset()
	su.verify(t, st, tab, &s)
	s.End()
	su.verify(t, st, tab, &s)
	two := []plan.StepCode{plan.StepAnd, plan.StepOr, plan.StepAndNot}
	for i, code := range two {
		for x := range n { // each kind with another kind
			s.Any(x)
			s.Any((x*7 + uint32(i)) % n)
			s.Do(code)
			s.End()
		}
		for _, pair := range [][2]uint32{{0, 1}, {1, 0}, {1, 1}, {0, 0}, {12, 12}, {0, 12}, {12, 1}} { // zeros, ones, half
			s.Any(pair[0])
			s.Any(pair[1])
			s.Do(code)
			s.Do(plan.StepNot)
			s.Do(plan.StepNot)
			s.End()
		}
		for range plan.MaxSets { // the highest stack, joined from the top
			s.Any(uint32(len(s.Steps)) % n)
		}
		for range plan.MaxSets - 1 {
			s.Do(code)
		}
		s.End()
		s.Any(11)
		for x := range uint32(su.Pick(100, 20)) { // a long sequence
			s.Any(x%n, (x+3)%n)
			s.Do(two[x%3])
		}
		s.End()
	}
	s.End() // no step
	s.Any()
	s.End()
	s.Any()
	s.Do(plan.StepNot)
	s.End()
	su.verify(t, st, tab, &s)
}

// batches has more selections than a device runs at the same time.
func (su suite) batches(t *testing.T, word int) {
	tab := plantest.EveryVector(t, uint32(su.Pick(8_000, 3_000)), word)
	st := su.load(t, tab)
	r := plantest.RNG(t)
	var s plan.SelectBatch
	for range su.Pick(400, 70) {
		randomSteps(r, tab, &s, 3, 1+r.IntN(4))
		s.End()
	}
	su.verify(t, st, tab, &s)
}

// wide counts rows of the largest table, whose vectors have few words. Only Fused
// needs no memory in proportion to the rows.
func (su suite) wide(t *testing.T, word int) {
	const rows = math.MaxUint32
	tab := plantest.NewTable(rows, word)
	for _, runs := range [][][2]uint64{{}, {{0, 1}, {rows - 1, rows}}, {{1 << 31, rows}}, {{0, rows}}} {
		tab.AddRuns(func(yield func(from, to uint64) bool) {
			for _, x := range runs {
				yield(x[0], x[1])
			}
		})
	}
	st := su.load(t, tab)
	if su.Small || !slices.Contains(st.Strategies(), plan.Fused) {
		t.Skip("2^32 rows are for the full suite and for Fused")
	}
	s := plan.SelectBatch{Output: plan.OutputCounts, Strategy: plan.Fused}
	for v := range uint32(len(tab.Vectors)) {
		s.Any(v)
		s.End()
	}
	s.Any(1)
	s.Any(2)
	s.Do(plan.StepAndNot)
	s.End()
	s.Any(1, 2)
	s.Do(plan.StepNot)
	s.End()
	var out plan.Rows
	if err := st.Select(t.Context(), &s, &out); err != nil {
		t.Fatal(err)
	}
	if want := []uint32{0, 2, rows - 1<<31, rows, 1, 1<<31 - 1}; !slices.Equal(out.Counts, want) {
		t.Errorf("counts %d, want %d", out.Counts, want)
	}
}
