package plantest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
)

// RunTables runs the cases of Backend.LoadTable and plan.TableStore: every strategy
// that the store has, beside a scan of row after row. It calls open as Run does. Of the
// options it takes Small and Corrupt.
func RunTables(t *testing.T, open func(t *testing.T) plan.Backend, opt Options) {
	su := suite{Options: opt, open: open}
	t.Run("strategies", su.tableStrategies)
	for _, word := range []int{32, 64} {
		t.Run(fmt.Sprintf("wah%d", word), func(t *testing.T) {
			for name, run := range map[string]func(*testing.T, int){
				"rows":     su.tableRows,
				"vectors":  su.tableVectors,
				"programs": su.tablePrograms,
				"checks":   su.tableChecks,
				"batches":  su.tableBatches,
				"random":   su.tableRandom,
				"wide":     su.tableWide,
			} {
				t.Run(name, func(t *testing.T) { run(t, word) })
			}
			if su.Corrupt {
				t.Run("corrupt", func(t *testing.T) { su.tableCorrupt(t, word) })
			}
		})
	}
	t.Run("reuse", su.tableReuse)
	t.Run("concurrent", su.tableConcurrent)
	t.Run("cancel", su.tableCancel)
	t.Run("close", su.tableClose)
	t.Run("refused", su.tableRefused)
}

// loadTable makes tab resident on a backend of its own until the test ends.
func (su *suite) loadTable(t *testing.T, tab *Table) plan.TableStore {
	t.Helper()
	if err := tab.Validate(); err != nil {
		t.Fatal(err)
	}
	st, err := su.backend(t).LoadTable(t.Context(), &tab.Table)
	if err != nil {
		t.Fatalf("load of %d vectors of %d rows: %v", len(tab.Vectors), tab.Rows, err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("closing the table: %v", err)
		}
	})
	return st
}

// verifyTable runs s under every strategy, for every output, with and without new
// scans, and compares with the oracle. It leaves s as it was.
func (su *suite) verifyTable(t *testing.T, st plan.TableStore, tab *Table, s *plan.SelectBatch) {
	t.Helper()
	if err := s.Validate(&tab.Table); err != nil {
		t.Fatal(err)
	}
	before := *s
	defer func() { s.Strategy, s.Output, s.Rescan = before.Strategy, before.Output, before.Rescan }()
	want := tab.Scan(s)
	var out plan.Rows
	for _, s.Strategy = range append(st.Strategies(), plan.StrategyAuto) {
		for _, s.Rescan = range []bool{false, true} {
			for _, s.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts, plan.OutputResident} {
				if su.Small && s.Rescan && s.Output != plan.OutputBits {
					continue
				}
				err := st.Select(t.Context(), s, &out)
				if err == nil {
					err = tab.Compare(s, want, &out)
				}
				if err != nil {
					t.Fatalf("%v, output %d, rescan %t: %v", s.Strategy, s.Output, s.Rescan, err)
				}
			}
		}
	}
}

// tableStrategies checks that the store names its strategies, takes them, says
// something of them, and refuses the others.
func (su *suite) tableStrategies(t *testing.T) {
	tab := NewTable(1000, 32)
	for _, k := range VectorKinds() {
		tab.AddVector(k.Gen(rng(t), tab.Rows))
	}
	st := su.loadTable(t, tab)
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

// everyKind makes a table of one vector a kind, and of columns of few kinds of codes.
func everyKind(t *testing.T, rows uint32, word int) *Table {
	r := rng(t)
	tab := NewTable(rows, word)
	for _, k := range VectorKinds() {
		tab.AddVector(k.Gen(r, rows))
	}
	for _, k := range []int{2, 3, 7} {
		addCodes(t, tab, k, r)
	}
	return tab
}

// addCodes adds a column of codeKinds[kind].
func addCodes(t *testing.T, tab *Table, kind int, r *rand.Rand) uint32 {
	t.Helper()
	codes := make([]uint64, tab.Rows)
	for row := range codes {
		codes[row] = codeKinds[kind].code(r, uint32(row))
	}
	return tab.AddCodes(t, codes)
}

// tableRows goes over the numbers of rows at which groups, words and tiles end.
func (su *suite) tableRows(t *testing.T, word int) {
	group := uint32(word - 1)
	sizes := []uint32{0, 1, 2, 31, 32, 33, 62, 63, 64, 65, 127, 128, 129}
	for _, tile := range []uint32{256, 512, 1024, 2048}[:su.pick(4, 1)] {
		sizes = append(sizes, tile*group-1, tile*group, tile*group+1)
	}
	if !su.Small {
		sizes = append(sizes, 3*2048*group+17, 64*group-1, 64*group, 64*group+1)
	}
	for _, rows := range sizes {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			tab := everyKind(t, rows, word)
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
			r := rng(t)
			for range su.pick(4, 2) {
				randomSteps(r, tab, &s, 4, 1+r.IntN(12))
				s.End()
			}
			su.verifyTable(t, su.loadTable(t, tab), tab, &s)
		})
	}
}

// tableVectors ORs any number of vectors.
func (su *suite) tableVectors(t *testing.T, word int) {
	counts := []int{0, 1, 2, 3, 64, 65, 257}
	if !su.Small {
		counts = append(counts, 3000)
	}
	kinds := VectorKinds()
	for _, n := range counts {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rng(t)
			tab := NewTable(uint32(su.pick(9000, 4000)), word)
			all := make([]uint32, n)
			for v := range all {
				gen := kinds[3].Gen // vectors that leave something to do for others
				switch r.IntN(20) {
				case 0:
					gen = kinds[r.IntN(len(kinds))].Gen
				case 1, 2, 3:
					gen = each("", func(r *rand.Rand, _, _ uint32) bool { return r.IntN(2+n) == 0 }).Gen
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
			su.verifyTable(t, su.loadTable(t, tab), tab, &s)
		})
	}
}

// tablePrograms has steps in every order that is of interest: no step, sets that are
// empty or full, the highest stack, long sequences.
func (su *suite) tablePrograms(t *testing.T, word int) {
	tab := everyKind(t, uint32(su.pick(40_000, 10_000)), word)
	st := su.loadTable(t, tab)
	n := uint32(len(tab.Vectors))
	var s plan.SelectBatch
	su.verifyTable(t, st, tab, &s) // never reset, never added to
	s.Reset()
	su.verifyTable(t, st, tab, &s)
	s.End()
	su.verifyTable(t, st, tab, &s)
	two := []plan.StepCode{plan.StepAnd, plan.StepOr, plan.StepAndNot}
	for i, code := range two {
		for x := range n { // every kind meets every other one
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
		for range plan.MaxSets { // the highest stack, taken down from the top
			s.Any(uint32(len(s.Steps)) % n)
		}
		for range plan.MaxSets - 1 {
			s.Do(code)
		}
		s.End()
		s.Any(11)
		for x := range uint32(su.pick(100, 20)) { // a long one
			s.Any(x%n, (x+3)%n)
			s.Do(two[x%3])
		}
		s.End()
	}
	s.End() // and nothing in between
	s.Any()
	s.End()
	s.Any()
	s.Do(plan.StepNot)
	s.End()
	su.verifyTable(t, st, tab, &s)
}

// tableBatches has more selections than a device takes at once.
func (su *suite) tableBatches(t *testing.T, word int) {
	tab := everyKind(t, uint32(su.pick(8_000, 3_000)), word)
	st := su.loadTable(t, tab)
	r := rng(t)
	var s plan.SelectBatch
	for range su.pick(400, 70) {
		randomSteps(r, tab, &s, 3, 1+r.IntN(4))
		s.End()
	}
	su.verifyTable(t, st, tab, &s)
}

// tableWide counts in tables of as many rows as there can be, whose vectors are a few
// words. Only Fused keeps nothing of that size.
func (su *suite) tableWide(t *testing.T, word int) {
	const rows = math.MaxUint32
	tab := NewTable(rows, word)
	for _, runs := range [][][2]uint64{{}, {{0, 1}, {rows - 1, rows}}, {{1 << 31, rows}}, {{0, rows}}} {
		tab.addRuns(func(yield func(from, to uint64) bool) {
			for _, x := range runs {
				yield(x[0], x[1])
			}
		})
	}
	st := su.loadTable(t, tab)
	if su.Small || !slices.Contains(st.Strategies(), plan.Fused) {
		t.Skip("four thousand million rows are for the full suite, and for Fused")
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
