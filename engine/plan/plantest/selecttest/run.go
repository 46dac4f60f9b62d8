// Package selecttest is the conformance suite for plan.Backend.LoadTable and
// plan.TableStore.
package selecttest

import (
	"fmt"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

type suite struct{ *plantest.Suite }

// Run runs the cases of tables: every strategy of the store against the reference
// answer. It calls open for each backend that it needs and closes the backend. Of
// the options it uses Small and Corrupt.
func Run(t *testing.T, open func(t *testing.T) plan.Backend, opt plantest.Options) {
	su := suite{plantest.New(t, open, opt)}
	t.Run("strategies", su.strategies)
	for _, word := range []int{32, 64} {
		t.Run(fmt.Sprintf("wah%d", word), func(t *testing.T) {
			testneeds.OneCaller(t)
			for name, run := range map[string]func(*testing.T, int){
				"rows":     su.rows,
				"vectors":  su.vectors,
				"programs": su.programs,
				"checks":   su.checks,
				"slices":   su.slices,
				"batches":  su.batches,
				"random":   su.random,
				"wide":     su.wide,
			} {
				t.Run(name, func(t *testing.T) { run(t, word) })
			}
			if su.Corrupt {
				t.Run("corrupt", func(t *testing.T) { su.corrupt(t, word) })
			}
		})
	}
	t.Run("filtered", su.filtered)
	t.Run("codes", su.codes)
	t.Run("measures", su.measures)
	t.Run("reuse", su.reuse)
	t.Run("concurrent", su.concurrent)
	t.Run("cancel", su.cancel)
	t.Run("close", su.close)
	t.Run("refused", su.refused)
}

// load makes tab resident on the shared backend until the test ends.
func (su suite) load(t *testing.T, tab *plantest.Table) plan.TableStore {
	t.Helper()
	return loadOn(t, su.Shared, tab)
}

// loadOn makes tab resident on b until the test ends.
func loadOn(t *testing.T, b plan.Backend, tab *plantest.Table) plan.TableStore {
	t.Helper()
	if err := tab.Validate(); err != nil {
		t.Fatal(err)
	}
	st, err := b.LoadTable(t.Context(), &tab.Table)
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

// verify runs s under every strategy, for every output, with and without Rescan,
// and compares with the reference answer. In a Small suite strategies take turns at all but bits
// without Rescan. It leaves s unchanged.
func (su suite) verify(t *testing.T, st plan.TableStore, tab *plantest.Table, s *plan.SelectBatch) {
	t.Helper()
	if err := s.Validate(&tab.Table); err != nil {
		t.Fatal(err)
	}
	before := *s
	defer func() { s.Strategy, s.Output, s.Rescan = before.Strategy, before.Output, before.Rescan }()
	want := tab.Scan(s)
	var out plan.Rows
	strategies := append(st.Strategies(), plan.StrategyAuto)
	turn := su.Turn(2 * len(strategies)) // a Small suite runs one strategy without bits or with Rescan: this one
	other := []plan.Output{plan.OutputCounts, plan.OutputResident}[turn%2]
	for i, strategy := range strategies {
		s.Strategy = strategy
		for _, s.Rescan = range []bool{false, true} {
			for _, s.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts, plan.OutputResident} {
				varied := i == turn/2 && (s.Rescan && s.Output == plan.OutputBits || !s.Rescan && s.Output == other)
				if su.Small && !varied && (s.Rescan || s.Output != plan.OutputBits) {
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
