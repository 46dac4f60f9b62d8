package selecttest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// selections returns a table of all kinds and n random selections over it.
func (su suite) selections(t *testing.T, rows uint32, n int) (*plantest.Table, *plan.SelectBatch) {
	tab := plantest.EveryVector(t, rows, 32)
	r := plantest.RNG(t)
	s := new(plan.SelectBatch)
	for range n {
		randomSteps(r, tab, s, 3, 1+r.IntN(6))
		s.End()
	}
	return tab, s
}

// reuse runs large and small batches in turn into the same Rows.
func (su suite) reuse(t *testing.T) {
	tab, large := su.selections(t, uint32(su.Pick(10_000, 3_000)), 40)
	var small, none plan.SelectBatch
	small.Any(3, 9)
	small.End()
	st := su.load(t, tab)
	var out plan.Rows
	for i, s := range []*plan.SelectBatch{large, &small, &none, large, &small, large} {
		want := tab.Scan(s)
		for _, s.Strategy = range append(st.Strategies(), plan.StrategyAuto) {
			for _, s.Output = range []plan.Output{plan.OutputResident, plan.OutputBits, plan.OutputCounts, plan.OutputBits} {
				err := st.Select(t.Context(), s, &out)
				if err == nil {
					err = tab.Compare(s, want, &out)
				}
				if err != nil {
					t.Fatalf("batch %d, %v, output %d: %v", i, s.Strategy, s.Output, err)
				}
			}
		}
	}
}

// concurrent has several callers on one store, each with its own batch.
func (su suite) concurrent(t *testing.T) {
	tab, s := su.selections(t, uint32(su.Pick(70_000, 5_000)), su.Pick(30, 10))
	want := tab.Scan(s)
	st := loadOn(t, su.Backend(t), tab)
	strategies := append(st.Strategies(), plan.StrategyAuto)
	var wg sync.WaitGroup
	for caller := range su.Pick(8, 3) {
		wg.Go(func() {
			var out plan.Rows
			for round := range strategies {
				mine := *s
				mine.Strategy = strategies[(round+caller/2)%len(strategies)]
				mine.Output, mine.Rescan = plan.Output(caller%3), caller%2 == 0
				err := st.Select(t.Context(), &mine, &out)
				if err == nil {
					err = tab.Compare(&mine, want, &out)
				}
				if err != nil {
					t.Errorf("caller %d, %v, output %d: %v", caller, mine.Strategy, mine.Output, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// cancel stops batches before they start and while they run.
func (su suite) cancel(t *testing.T) {
	tab, s := su.selections(t, uint32(su.Pick(100_000, 20_000)), su.Pick(60, 20))
	want := tab.Scan(s)
	st := su.load(t, tab)
	strategies := append(st.Strategies(), plan.StrategyAuto)
	var out plan.Rows
	ctx, stop := context.WithCancel(t.Context())
	stop()
	late, stop := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer stop()
	for _, s.Strategy = range strategies {
		if err := st.Select(ctx, s, &out); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v under a cancelled context: %v", s.Strategy, err)
		}
		if err := st.Select(late, s, &out); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v after the deadline: %v", s.Strategy, err)
		}
	}
	su.Interrupt(t, func(ctx context.Context, i int) error {
		s.Strategy = strategies[i%len(strategies)]
		return st.Select(ctx, s, &out)
	}, func() error { return tab.Compare(s, want, &out) })
	su.verify(t, st, tab, s)

	if st, err := su.Shared.LoadTable(ctx, &tab.Table); err == nil {
		st.Close()
		t.Error("a load under a cancelled context went through")
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("load under a cancelled context: %v", err)
	}
}

// close checks that closed stores and backends return plan.ErrClosed.
func (su suite) close(t *testing.T) {
	tab, s := su.selections(t, 500, 5)
	backend := su.Open(t)
	var stores [2]plan.TableStore
	for i := range stores {
		var err error
		if stores[i], err = backend.LoadTable(t.Context(), &tab.Table); err != nil {
			t.Fatal(err)
		}
	}
	if err := stores[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := stores[0].Select(t.Context(), s, new(plan.Rows)); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a batch on a closed table: %v", err)
	}
	if err := stores[0].Close(); err != nil && !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
	su.verify(t, stores[1], tab, s) // the other store is still open
	if err := stores[1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.LoadTable(t.Context(), &tab.Table); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a load on a closed backend: %v", err)
	}
}

// refused checks that invalid tables and batches give errors, and that the store
// stays usable.
func (su suite) refused(t *testing.T) {
	for name, spoil := range map[string]func(*plan.Table){
		"both words": func(t *plan.Table) { t.Words64 = []uint64{} },
		"unaligned":  func(t *plan.Table) { t.Vectors[1].Off++ },
		"outside":    func(t *plan.Table) { t.Vectors[1].Off = uint64(len(t.Words32)) },
		"far away":   func(t *plan.Table) { t.Vectors[1].Off = 1 << 63 },
		"no words":   func(t *plan.Table) { t.Vectors[1].Words = 0 },
		"many words": func(t *plan.Table) { t.Vectors[0].Words = t.Groups() + 1 },
		"no tiles":   func(t *plan.Table) { t.Columns[2].Tiles = nil },
		"far tile":   func(t *plan.Table) { t.Columns[2].Tiles[0].Off = 1 << 62 },
		"width":      func(t *plan.Table) { t.Columns[0].Tiles[0].Width = 65 },
	} {
		tab := plantest.EveryVector(t, 500, 32)
		spoil(&tab.Table)
		if st, err := su.Shared.LoadTable(t.Context(), &tab.Table); err == nil {
			st.Close()
			t.Errorf("%s: the table went through", name)
		}
	}

	tab, s := su.selections(t, 500, 5)
	st := su.load(t, tab)
	for name, spoil := range map[string]func(*plan.SelectBatch){
		"output":      func(s *plan.SelectBatch) { s.Output = 3 },
		"strategy":    func(s *plan.SelectBatch) { s.Strategy = 200 },
		"vector":      func(s *plan.SelectBatch) { s.Operands[1] = uint32(len(tab.Vectors)) },
		"column":      func(s *plan.SelectBatch) { s.Steps[1].Column = uint32(len(tab.Columns)) },
		"operands":    func(s *plan.SelectBatch) { s.Steps[0].To = 99 },
		"ranges":      func(s *plan.SelectBatch) { s.Steps[1].To = 99 },
		"order":       func(s *plan.SelectBatch) { s.Ranges[0], s.Ranges[1] = s.Ranges[1], s.Ranges[0] },
		"code":        func(s *plan.SelectBatch) { s.Steps[1].Code = plan.StepAll + 1 },
		"no set":      func(s *plan.SelectBatch) { s.Steps[1].Code = plan.StepAnd },
		"two sets":    func(s *plan.SelectBatch) { s.Steps[1].Code = plan.StepAny },
		"offsets":     func(s *plan.SelectBatch) { s.Offsets = []uint32{0, 2, 1} },
		"first":       func(s *plan.SelectBatch) { s.Offsets[0] = 1 },
		"last":        func(s *plan.SelectBatch) { s.Offsets[1] = 1 },
		"far offsets": func(s *plan.SelectBatch) { s.Offsets = []uint32{0, 1 << 30, 2} },
	} {
		var bad plan.SelectBatch
		bad.Any(0, 1)
		bad.Check(0, plan.CodeRange{Lo: 1, Hi: 2}, plan.CodeRange{Lo: 4, Hi: 5})
		bad.End()
		spoil(&bad)
		if err := st.Select(t.Context(), &bad, new(plan.Rows)); err == nil {
			t.Errorf("%s: the batch went through", name)
		}
	}
	su.verify(t, st, tab, s)
}

// corrupt loads damaged words. The backend may return an error or any answer
// within bounds; it must not panic.
func (su suite) corrupt(t *testing.T, word int) {
	r := plantest.RNG(t)
	for range su.Pick(120, 15) {
		tab := plantest.EveryVector(t, []uint32{1, 40, 1000, 40_000}[r.IntN(4)], word)
		for range r.IntN(4) {
			switch v := tab.Vectors[r.IntN(len(tab.Vectors))]; {
			case word == 64:
				plantest.Damage(r, tab.Words64[v.Off:v.Off+uint64(v.Words)])
			default:
				plantest.Damage(r, tab.Words32[v.Off:v.Off+uint64(v.Words)])
			}
		}
		plantest.Damage(r, tab.Slices)
		st, err := su.Shared.LoadTable(t.Context(), &tab.Table)
		if err != nil {
			continue
		}
		var out plan.Rows
		for range 6 {
			s := plan.SelectBatch{Output: plan.Output(r.IntN(3)), Rescan: r.IntN(2) == 0}
			for range 4 {
				randomSteps(r, tab, &s, 4, 1+r.IntN(8))
				s.End()
			}
			for _, s.Strategy = range append(st.Strategies(), plan.StrategyAuto) {
				if err := st.Select(t.Context(), &s, &out); err != nil {
					continue
				}
				if err := tab.Bounded(&s, &out); err != nil {
					t.Fatalf("%v: %v", s.Strategy, err)
				}
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
