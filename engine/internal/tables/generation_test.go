package tables

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/table/predicate/predicatetest"
)

// TestBatches runs tasks alone and joined, with every output, and checks each answer.
func TestBatches(t *testing.T) {
	for _, mode := range []schedule.Mode{schedule.Async, schedule.Sync} {
		g := loaded(t, newPool(t, schedule.Options{Mode: mode, MaxAge: 20 * time.Millisecond}), flights(t, 32))
		var wg sync.WaitGroup
		var mu sync.Mutex
		joined := 0
		for i := range wheres {
			wg.Go(func() {
				for _, output := range []plan.Output{plan.OutputBits, plan.OutputCounts} {
					task := ask(t, g, output, i, (i+1)%len(wheres), i)
					mu.Lock()
					joined = max(joined, task.job.Trace.Batch)
					mu.Unlock()
					task.Done(nil)
				}
			})
		}
		wg.Wait()
		if mode == schedule.Sync && joined < 2 || mode == schedule.Async && joined != 1 {
			t.Errorf("%v: batches of up to %d tasks", mode, joined)
		}
	}
}

// TestTakeBits hands an answer over, which the next tasks leave alone.
func TestTakeBits(t *testing.T) {
	g := loaded(t, newPool(t, schedule.Options{}), flights(t, 64))
	var taken [][]uint64
	for i := range wheres {
		task := ask(t, g, plan.OutputBits, i)
		taken = append(taken, task.TakeBits())
		task.Done(nil)
		ask(t, g, plan.OutputBits, 0, 1, 2, 3).Done(nil)
	}
	for i, bits := range taken {
		if want := wanted(); !slices.Equal(bits, want.Selection(i)) {
			t.Errorf("%s: the rows have changed", wheres[i])
		}
	}
}

// TestChoice measures a host and a slow device, and sends tasks to the faster one, as far
// as it has the strategy.
func TestChoice(t *testing.T) {
	device := newSlow(t)
	device.by.Store(int64(20 * time.Millisecond))
	device.only = []plan.Strategy{plan.Fused, plan.COA}
	// Under Sync a batch would count its start only once.
	g := loaded(t, newPool(t, schedule.Options{Mode: schedule.Async}, device), flights(t, 32))
	models := func(p int) *cost.Model { return g.at[p].Load().models[0].Load() }
	measured := device.batches.Load()
	if measured == 0 || measured > 100 || !models(0).Fitted() || !models(1).Fitted() {
		t.Errorf("measured by %d batches", measured)
	}
	for i := range wheres {
		task := ask(t, g, plan.OutputBits, i)
		if e := task.job.Trace.Estimates; e[0] >= e[1] || e[1] < 2*time.Millisecond {
			t.Errorf("%s: estimates %v", wheres[i], e)
		}
	}
	if n := device.batches.Load(); n != measured {
		t.Errorf("the slow device had %d batches", n-measured)
	}
	for _, c := range []struct {
		strategy plan.Strategy
		host     bool // has it
	}{{plan.Iterative, true}, {plan.Fused, true}, {plan.COA, false}} {
		if !g.Has(c.strategy) {
			t.Errorf("no processor has %v", c.strategy)
		}
		task := g.NewTask(plan.OutputCounts, c.strategy, true)
		if _, _, ok := task.Estimate(0); ok != c.host {
			t.Errorf("%v: the host has an estimate: %v", c.strategy, ok)
		}
	}
	if g.Has(plan.ROA) || !slices.Equal(g.Strategies(), []plan.Strategy{plan.Fused, plan.COA, plan.Iterative, plan.Reduction}) {
		t.Errorf("strategies %v", g.Strategies())
	}
}

// TestMeasureFault has a device that fails while it is measured: the host answers.
func TestMeasureFault(t *testing.T) {
	device := newSlow(t)
	var lost error = &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: "device", Op: "testing"}
	device.fail.Store(&lost)
	p := newPool(t, schedule.Options{}, device)
	g := loaded(t, p, flights(t, 32))
	for i := range wheres {
		if task := ask(t, g, plan.OutputBits, i); task.job.Trace.Processor != "host" {
			t.Errorf("%s ran on %s", wheres[i], task.job.Trace.Processor)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewTable(ctx, p, flights(t, 32), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: %v", err)
	}
}

// TestCancelMeasure ends a measurement that hangs with its context.
func TestCancelMeasure(t *testing.T) {
	device := newSlow(t)
	device.by.Store(int64(200 * time.Millisecond))
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := NewTable(ctx, newPool(t, schedule.Options{}, device), flights(t, 32), Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestLoadFaults leaves out processors without room, unless none has room.
func TestLoadFaults(t *testing.T) {
	device := newSlow(t)
	device.load = &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "device", Op: "testing"}
	g := loaded(t, newPool(t, schedule.Options{}, device), flights(t, 32))
	if g.Memory(0) == 0 || g.Memory(1) != 0 || g.loaded() != 1 {
		t.Errorf("%d and %d bytes", g.Memory(0), g.Memory(1))
	}
	ask(t, g, plan.OutputBits, 0, 1, 2)
	only, err := pool.New([]backend.Opened{{Candidate: backend.Candidate{Kept: true}, Backend: device, Info: plan.Info{Device: "device"}}}, pool.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer only.Close()
	if _, err := NewTable(t.Context(), only, flights(t, 32), Options{}); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("no processor has room: %v", err)
	}
}

// TestSmallTables has tables that leave little to measure: costs are finite, and answers
// are exact.
func TestSmallTables(t *testing.T) {
	for name, c := range predicatetest.SmallTables() {
		tab, columns := predicatetest.Table(t, 32, c.Columns...)
		d, err := New(&tab.Table, columns)
		if err != nil {
			t.Fatal(err)
		}
		g := loaded(t, newPool(t, schedule.Options{}, newSlow(t)), d)
		for where, want := range map[string]uint32{"TRUE": tab.Rows, "FALSE": 0, "a = 5": c.Equal, "a > 5 AND a < 5": 0} {
			if columns == nil && where[0] == 'a' {
				continue
			}
			p, err := d.Compile(where)
			if err != nil {
				t.Fatal(err)
			}
			task := g.NewTask(plan.OutputCounts, plan.StrategyAuto, false)
			task.Add(p)
			if err := task.Do(t.Context(), &pool.Call{}); err != nil || task.rows.Counts[0] != want {
				t.Errorf("%s: %s: %d rows, want %d: %v", name, where, task.rows.Counts, want, err)
			}
			for _, e := range task.job.Trace.Estimates {
				if e <= 0 || e > time.Minute {
					t.Errorf("%s: %s: estimates %v", name, where, task.job.Trace.Estimates)
				}
			}
		}
	}
}

// TestProbe: a probe compares the number of rows.
func TestProbe(t *testing.T) {
	g := loaded(t, newPool(t, schedule.Options{}), flights(t, 32))
	r := g.at[0].Load()
	if err := r.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	for v := range g.vectorRows {
		g.vectorRows[v]++
	}
	if err := r.Probe(t.Context()); err == nil {
		t.Error("a wrong number of rows passes")
	}
}

// TestMemory: a table takes the memory of its values and of the values of all lists.
func TestMemory(t *testing.T) {
	g := loaded(t, newPool(t, schedule.Options{}), flights(t, 32))
	values := &Generation{at: g.at}
	all := &Generation{at: g.at, lists: map[int]*Generation{1: values, 2: values}}
	if got, one := all.Memory(0), g.Memory(0); one == 0 || got != 3*one {
		t.Errorf("%d bytes, want three times %d", got, one)
	}
}

// hookedStore calls hook before it selects.
type hookedStore struct {
	plan.TableStore
	hook func(*plan.SelectBatch)
}

func (s hookedStore) Select(ctx context.Context, b *plan.SelectBatch, out *plan.Rows) error {
	s.hook(b)
	return s.TableStore.Select(ctx, b, out)
}

// TestGivenUp ends the first task of a batch while it runs: the others get their own rows.
func TestGivenUp(t *testing.T) {
	g := loaded(t, newPool(t, schedule.Options{Mode: schedule.Sync, MaxAge: 20 * time.Millisecond}), flights(t, 32))
	numbers := map[int]int{} // of predicates, by their steps
	for _, i := range []int{0, 5, 7} {
		p, err := g.Compile(wheres[i])
		if err != nil {
			t.Fatal(err)
		}
		numbers[len(p.Steps.Steps)] = i
	}
	if len(numbers) != 3 {
		t.Fatalf("steps do not tell the predicates: %v", numbers)
	}
	calls := map[int]context.CancelFunc{}
	var ended map[int]chan struct{}
	gone := -1
	r := g.at[0].Load()
	r.store = hookedStore{r.store, func(b *plan.SelectBatch) {
		if b.Len() > 1 && gone < 0 {
			gone = numbers[len(b.Selection(0))]
			calls[gone]()
			<-ended[gone]
		}
	}}
	for gone < 0 { // until tasks meet in a batch
		contexts := map[int]context.Context{}
		ended = map[int]chan struct{}{}
		for _, i := range numbers {
			contexts[i], calls[i] = context.WithCancel(t.Context())
			defer calls[i]()
			ended[i] = make(chan struct{})
		}
		var wg sync.WaitGroup
		for _, i := range numbers {
			wg.Go(func() {
				defer close(ended[i])
				p, err := g.Compile(wheres[i])
				if err != nil {
					t.Error(err)
					return
				}
				task := g.NewTask(plan.OutputBits, plan.StrategyAuto, false)
				task.Add(p)
				if err := task.Do(contexts[i], &pool.Call{}); err == nil {
					check(t, task, i)
				} else if contexts[i].Err() == nil {
					t.Errorf("%s: %v", wheres[i], err)
				}
			})
		}
		wg.Wait()
	}
}
