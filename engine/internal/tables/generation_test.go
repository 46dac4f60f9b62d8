package tables

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/schedule"
	"heddle/engine/table/predicate/predicatetest"
)

func loaded(t testing.TB, d *Data, places []Place) *Generation {
	t.Helper()
	g, left, err := Load(t.Context(), d, places)
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	return g
}

// TestBatches runs tasks alone and joined, with every output, and checks each answer.
func TestBatches(t *testing.T) {
	for _, mode := range []schedule.Mode{schedule.Async, schedule.Sync} {
		g := loaded(t, flights(t, 32), placed(t, newSlow(t)))
		s := scheduled(t, g, schedule.Options{Mode: mode, MaxAge: 20 * time.Millisecond})
		var wg sync.WaitGroup
		var mu sync.Mutex
		joined := 0
		for i := range wheres {
			wg.Go(func() {
				for _, output := range []plan.Output{plan.OutputBits, plan.OutputCounts} {
					task := ask(t, g, s, output, i, (i+1)%len(wheres), i)
					mu.Lock()
					joined = max(joined, task.Job.Trace.Batch)
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
	g := loaded(t, flights(t, 64), placed(t, newSlow(t)))
	s := scheduled(t, g, schedule.Options{})
	var taken [][]uint64
	for i := range wheres {
		task := ask(t, g, s, plan.OutputBits, i)
		taken = append(taken, task.TakeBits())
		task.Done(nil)
		ask(t, g, s, plan.OutputBits, 0, 1, 2, 3).Done(nil)
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
	g := loaded(t, flights(t, 32), placed(t, newSlow(t), device))
	s := scheduled(t, g, schedule.Options{Mode: schedule.Async}) // batches would count their start only once
	if err := g.Measure(t.Context(), s.Do); err != nil {
		t.Fatal(err)
	}
	measured := device.batches.Load()
	if measured == 0 || measured > 100 || !g.places[0].models[0].Load().Fitted() || !g.places[1].models[0].Load().Fitted() {
		t.Errorf("measured by %d batches", measured)
	}
	for i := range wheres {
		task := ask(t, g, s, plan.OutputBits, i)
		if e := task.Job.Trace.Estimates; e[0] >= e[1] || e[1] < 2*time.Millisecond {
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
		if _, _, ok := g.Estimate(0, task); ok != c.host {
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
	g := loaded(t, flights(t, 32), placed(t, newSlow(t), device))
	s := scheduled(t, g, schedule.Options{})
	if err := g.Measure(t.Context(), s.Do); err != nil {
		t.Fatal(err)
	}
	for i := range wheres {
		if task := ask(t, g, s, plan.OutputBits, i); task.Job.Trace.Processor != "host" {
			t.Errorf("%s ran on %s", wheres[i], task.Job.Trace.Processor)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Measure(ctx, s.Do); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: %v", err)
	}
}

// TestLoadFaults leaves out processors without room, unless none has room.
func TestLoadFaults(t *testing.T) {
	device := newSlow(t)
	device.load = &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "device", Op: "testing"}
	d := flights(t, 32)
	g, left, err := Load(t.Context(), d, placed(t, newSlow(t), device))
	if err != nil || len(left) != 1 || left[0].Processor != 1 || !errors.Is(left[0].Err, plan.ErrOutOfMemory) {
		t.Fatalf("%v, %v", left, err)
	}
	if g.Memory(0) == 0 || g.Memory(1) != 0 || g.choice() {
		t.Errorf("%d and %d bytes", g.Memory(0), g.Memory(1))
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
	if _, _, err := Load(t.Context(), d, placed(t, newSlow(t), device)[1:]); !errors.Is(err, plan.ErrOutOfMemory) {
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
		g := loaded(t, d, placed(t, newSlow(t), newSlow(t)))
		s := scheduled(t, g, schedule.Options{})
		if err := g.Measure(t.Context(), s.Do); err != nil {
			t.Fatal(err)
		}
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
			if err := s.Do(t.Context(), &task.Job); err != nil || task.rows.Counts[0] != want {
				t.Errorf("%s: %s: %d rows, want %d: %v", name, where, task.rows.Counts, want, err)
			}
			for _, e := range task.Job.Trace.Estimates {
				if e <= 0 || e > time.Minute {
					t.Errorf("%s: %s: estimates %v", name, where, task.Job.Trace.Estimates)
				}
			}
		}
	}
}
