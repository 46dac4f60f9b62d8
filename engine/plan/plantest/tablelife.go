package plantest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// selections makes n random ones over a table of every kind.
func (su *suite) selections(t *testing.T, rows uint32, n int) (*Table, *plan.SelectBatch) {
	tab := everyKind(t, rows, 32)
	r := rng(t)
	s := new(plan.SelectBatch)
	for range n {
		randomSteps(r, tab, s, 3, 1+r.IntN(6))
		s.End()
	}
	return tab, s
}

// tableReuse runs different batches into the same rows, from large to small and back.
func (su *suite) tableReuse(t *testing.T) {
	tab, large := su.selections(t, uint32(su.pick(10_000, 3_000)), 40)
	var small, none plan.SelectBatch
	small.Any(3, 9)
	small.End()
	st := su.loadTable(t, tab)
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

// tableConcurrent has several callers with batches of their own on one store.
func (su *suite) tableConcurrent(t *testing.T) {
	tab, s := su.selections(t, uint32(su.pick(70_000, 5_000)), su.pick(30, 10))
	want := tab.Scan(s)
	st := su.loadTable(t, tab)
	strategies := append(st.Strategies(), plan.StrategyAuto)
	var wg sync.WaitGroup
	for caller := range su.pick(8, 3) {
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

// tableCancel stops batches before they start and while they run.
func (su *suite) tableCancel(t *testing.T) {
	tab, s := su.selections(t, uint32(su.pick(100_000, 20_000)), su.pick(60, 20))
	want := tab.Scan(s)
	st := su.loadTable(t, tab)
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
	su.interrupt(t, func(ctx context.Context, i int) error {
		s.Strategy = strategies[i%len(strategies)]
		return st.Select(ctx, s, &out)
	}, func() error { return tab.Compare(s, want, &out) })
	su.verifyTable(t, st, tab, s)

	if st, err := su.backend(t).LoadTable(ctx, &tab.Table); err == nil {
		st.Close()
		t.Error("a load under a cancelled context went through")
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("load under a cancelled context: %v", err)
	}
}

// tableClose checks that what was closed says so.
func (su *suite) tableClose(t *testing.T) {
	tab, s := su.selections(t, 500, 5)
	backend := su.open(t)
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
	su.verifyTable(t, stores[1], tab, s) // a table does not care about another's end
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

// tableRefused checks that tables and batches that are not valid are errors, and that
// the store is usable after them.
func (su *suite) tableRefused(t *testing.T) {
	backend := su.backend(t)
	for name, spoil := range map[string]func(*plan.Table){
		"both words": func(t *plan.Table) { t.Words64 = []uint64{} },
		"unaligned":  func(t *plan.Table) { t.Vectors[1].Off++ },
		"outside":    func(t *plan.Table) { t.Vectors[1].Off = uint64(len(t.Words32)) },
		"far away":   func(t *plan.Table) { t.Vectors[1].Off = 1 << 63 },
		"no words":   func(t *plan.Table) { t.Vectors[1].Words = 0 },
		"many words": func(t *plan.Table) { t.Vectors[0].Words = t.Groups() + 1 },
		"values":     func(t *plan.Table) { t.Columns[2].Low.Words = uint64(len(t.Packed)) },
		"upper":      func(t *plan.Table) { t.Columns[2].High.Off = 1 << 62 },
		"directory":  func(t *plan.Table) { t.Columns[0].Low.Words = 2 },
	} {
		tab := everyKind(t, 500, 32)
		spoil(&tab.Table)
		if st, err := backend.LoadTable(t.Context(), &tab.Table); err == nil {
			st.Close()
			t.Errorf("%s: the table went through", name)
		}
	}

	tab, s := su.selections(t, 500, 5)
	st := su.loadTable(t, tab)
	for name, spoil := range map[string]func(*plan.SelectBatch){
		"output":      func(s *plan.SelectBatch) { s.Output = 3 },
		"strategy":    func(s *plan.SelectBatch) { s.Strategy = 200 },
		"vector":      func(s *plan.SelectBatch) { s.Operands[1] = uint32(len(tab.Vectors)) },
		"column":      func(s *plan.SelectBatch) { s.Steps[1].Column = uint32(len(tab.Columns)) },
		"operands":    func(s *plan.SelectBatch) { s.Steps[0].To = 99 },
		"ranges":      func(s *plan.SelectBatch) { s.Steps[1].To = 99 },
		"order":       func(s *plan.SelectBatch) { s.Ranges[0], s.Ranges[1] = s.Ranges[1], s.Ranges[0] },
		"code":        func(s *plan.SelectBatch) { s.Steps[1].Code = plan.StepCheck + 1 },
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
	su.verifyTable(t, st, tab, s)
}

// tableCorrupt loads words that no builder wrote. An error is fine, and so is any
// answer within bounds; a panic is not.
func (su *suite) tableCorrupt(t *testing.T, word int) {
	r := rng(t)
	backend := su.backend(t)
	for range su.pick(120, 15) {
		tab := everyKind(t, []uint32{1, 40, 1000, 40_000}[r.IntN(4)], word)
		for range r.IntN(4) {
			switch v := tab.Vectors[r.IntN(len(tab.Vectors))]; {
			case word == 64:
				damage(r, tab.Words64[v.Off:v.Off+uint64(v.Words)])
			default:
				damage(r, tab.Words32[v.Off:v.Off+uint64(v.Words)])
			}
		}
		damage(r, tab.Packed)
		st, err := backend.LoadTable(t.Context(), &tab.Table)
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

// damage changes some of words: single bits, fills of any length, anything.
func damage[W wah.Word](r *rand.Rand, words []W) {
	if len(words) == 0 {
		return
	}
	for range 1 + r.IntN(4) {
		switch i := r.IntN(len(words)); r.IntN(3) {
		case 0:
			words[i] ^= 1 << r.Uint64N(wah.GroupBits[W]()+1)
		case 1:
			words[i] = 1<<wah.GroupBits[W]() | W(r.Uint64())>>r.IntN(int(wah.GroupBits[W]()))
		default:
			words[i] = W(r.Uint64())
		}
	}
}
