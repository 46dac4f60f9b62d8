package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/hostfallback"
)

func (b *faultyBackend) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	if b.f.load != nil {
		return nil, b.f.load
	}
	s, err := b.Backend.LoadTable(ctx, t)
	if err != nil {
		return nil, err
	}
	b.f.stores.Add(1)
	return &faultyTable{s, b.f}, nil
}

type faultyTable struct {
	plan.TableStore
	f *faulty
}

func (s *faultyTable) Select(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	if n := s.f.batches.Add(1); s.f.batch != nil {
		if err := s.f.batch(ctx, n); err != nil {
			*out = plan.Rows{Counts: []uint32{1, 2, 3}, Bits: []uint64{1}, Stride: 9}
			return err
		}
	}
	err := s.TableStore.Select(ctx, sel, out)
	if err == nil {
		s.f.answered.Add(int64(sel.Len()))
	}
	return err
}

func (s *faultyTable) Strategies() []plan.Strategy { return []plan.Strategy{plan.Fused} }

func (s *faultyTable) Close() error {
	s.f.stores.Add(-1)
	return s.TableStore.Close()
}

// withHost are options of devices beside pure Go, as auto has them.
func withHost(devices ...*faulty) Options {
	opt := faultyOptions(devices...)
	opt.backends = append(opt.backends, hostCandidate(opt))
	return opt
}

// sleepy makes every batch of a device take longer.
func sleepy(d time.Duration) func(context.Context, int64) error {
	return func(context.Context, int64) error { time.Sleep(d); return nil }
}

// TestTableFailover has devices fail at the start and on the way.
func TestTableFailover(t *testing.T) {
	for name, fault := range map[string]*faulty{
		"load":        {load: broken(plan.ErrOutOfMemory, "first")},
		"open":        {open: broken(plan.ErrBuild, "first")},
		"unsupported": {load: plan.ErrUnsupported},
		"at once":     {batch: after(1, plan.ErrDeviceLost, "first")},
		"on the way":  {batch: after(3, plan.ErrOutOfMemory, "first")},
	} {
		fault.name = "first"
		second := &faulty{name: "second"}
		x := openTable(t, faultyOptions(fault, second))
		var out plan.Rows
		for range 4 {
			if err := x.Select(t.Context(), wheres, TableOptions{}, &out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkRows(t, &out, TableOptions{})
		}
		if x.Backend().Device != "second" {
			t.Errorf("%s: batches run on %s", name, x.Backend().Device)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		nothingOpen(t, fault, second)
	}
	only := &faulty{name: "only", batch: after(2, plan.ErrDeviceLost, "only")}
	x := openTable(t, faultyOptions(only))
	if _, err := x.Count(t.Context(), "TRUE"); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Count(t.Context(), "TRUE"); !errors.Is(err, plan.ErrDeviceLost) {
		t.Errorf("without another device: %v", err)
	}
	dead := &faulty{name: "dead", load: broken(plan.ErrOutOfMemory, "dead")}
	tab, columns := inTable(t, 32)
	if _, err := NewTable(t.Context(), &tab.Table, columns, faultyOptions(dead)); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("no device: %v", err)
	}
	nothingOpen(t, dead)
}

// TestTableSpare has devices beside the host that fail: while they are measured, in a
// batch, at the start.
func TestTableSpare(t *testing.T) {
	for name, fault := range map[string]*faulty{
		"load":      {load: broken(plan.ErrOutOfMemory, "first")},
		"measuring": {batch: after(3, plan.ErrDeviceLost, "first")},
		"at once":   {batch: after(1, plan.ErrDeviceLost, "first")},
	} {
		fault.name = "first"
		opt := withHost(fault)
		var log logged
		opt.Log = log.logger()
		x := openTable(t, opt)
		var out plan.Rows
		for range 2 {
			if err := x.Select(t.Context(), wheres, TableOptions{}, &out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkRows(t, &out, TableOptions{})
		}
		if x.Backend().Kind != "host" {
			t.Errorf("%s: batches run on %s", name, x.Backend().Device)
		}
		e, err := x.Explain(t.Context(), "delay > 5", TableOptions{})
		if err != nil || len(e.Estimates) != 0 || e.Backend.Kind != "host" {
			t.Errorf("%s: %v, %v", name, e, err)
		}
		log.expect(t, "info", "table resident", "host")
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		nothingOpen(t, fault)
	}
}

// TestTableChoice has a device that is slower than the host, then one that seems to be
// faster.
func TestTableChoice(t *testing.T) {
	slow := &faulty{name: "slow", batch: sleepy(30 * time.Millisecond)} // more than the host, however busy it is
	x := openTable(t, withHost(slow))
	var wg sync.WaitGroup
	for range 4 { // who comes first measures
		wg.Go(func() {
			var out plan.Rows
			if err := x.Select(t.Context(), wheres, TableOptions{}, &out); err != nil {
				t.Error(err)
			}
			checkRows(t, &out, TableOptions{})
		})
	}
	wg.Wait()
	measured := slow.batches.Load()
	var out plan.Rows
	if err := x.Select(t.Context(), wheres, TableOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	if n := slow.batches.Load(); n != measured || n > 100 {
		t.Errorf("the slow device had %d batches, then %d", measured, n)
	}
	if x.Backend().Device != "slow" {
		t.Errorf("the device is %s", x.Backend().Device)
	}
	e, err := x.Explain(t.Context(), wheres[0], TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Estimates) != 2 || e.Estimates[0].Backend.Device != "slow" || e.Estimates[0].Time < 2*time.Millisecond ||
		e.Estimates[1].Time >= e.Estimates[0].Time || e.Backend.Kind != "host" {
		t.Errorf("%+v", e)
	}
	for _, want := range []string{wheres[0] + "\n", "delay: 60 to ", "estimated", " µs a call", "ran on host", "rows in ", "; compiled in "} {
		if !strings.Contains(e.String(), want) {
			t.Errorf("no %q in\n%s", want, e)
		}
	}
	// The device has not one of these strategies, and is slower by the other.
	for _, strategy := range []plan.Strategy{plan.Iterative, plan.Fused} {
		opt := TableOptions{Strategy: strategy}
		before := slow.batches.Load()
		if err := x.Select(t.Context(), wheres, opt, &out); err != nil {
			t.Error(err)
		}
		checkRows(t, &out, opt)
		if slow.batches.Load() > before {
			t.Errorf("%v went to the device", strategy)
		}
	}
	if err := x.Select(t.Context(), wheres, TableOptions{Strategy: plan.COA}, &out); !errors.Is(err, plan.ErrUnsupported) {
		t.Errorf("a strategy that neither has: %v", err)
	}

	// The device wins where its model says so.
	c := *x.costs.Load()
	c.onHost[workCall] = 1
	x.costs.Store(&c)
	before := slow.answered.Load()
	if err := x.Select(t.Context(), wheres, TableOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	checkRows(t, &out, TableOptions{})
	if slow.answered.Load() == before {
		t.Error("the batch did not go to the device")
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, slow)
}

// TestCancelMeasuring ends the wait for who measures, and the measuring.
func TestCancelMeasuring(t *testing.T) {
	slow := &faulty{name: "slow", batch: func(ctx context.Context, n int64) error { <-ctx.Done(); return ctx.Err() }}
	x := openTable(t, withHost(slow))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer stop()
			if _, err := x.Count(ctx, "delay > 5"); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	slow.batch = nil
	if n, err := x.Count(t.Context(), wheres[0]); err != nil || n != uint64(wanted().Counts[0]) {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestTableOn keeps a backend that is open already.
func TestTableOn(t *testing.T) {
	back := hostfallback.New(hostfallback.Options{Threads: 1})
	defer back.Close()
	for range 2 {
		x := openTable(t, Options{On: back})
		if n, err := x.Count(t.Context(), wheres[0]); err != nil || n != uint64(wanted().Counts[0]) {
			t.Errorf("%d rows, %v", n, err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
