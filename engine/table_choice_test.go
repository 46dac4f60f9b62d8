package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// failing fails every batch from the n-th on.
func (d *tableDevice) failing(n int64, kind error) {
	d.batch = func(_ context.Context, batch int64) error {
		if batch < n {
			return nil
		}
		return d.fails(kind)
	}
}

// TestTableFailover has devices fail at the start and on the way: the next one answers.
func TestTableFailover(t *testing.T) {
	for name, fault := range map[string]func(d *tableDevice){
		"load":        func(d *tableDevice) { d.load = d.fails(plan.ErrOutOfMemory) },
		"unsupported": func(d *tableDevice) { d.load = plan.ErrUnsupported },
		"measuring":   func(d *tableDevice) { d.failing(3, plan.ErrDeviceLost) },
		"at once":     func(d *tableDevice) { d.failing(1, plan.ErrDeviceLost) },
		"memory":      func(d *tableDevice) { d.failing(2, plan.ErrOutOfMemory) },
		"later":       func(d *tableDevice) {},
	} {
		first, second := newTableDevice(t, "first"), newTableDevice(t, "second")
		fault(first)
		e := tableEngine(t, devicesOnly(first, second))
		x := memoryTable(t, e, 32)
		if name == "later" {
			first.failing(0, plan.ErrDeviceLost)
		}
		for i := range 4 {
			checkAll(t, x, Selection{})
			checkOne(t, x, Selection{}, i)
		}
		if name != "memory" { // it may run out again and again while another device answers
			checkOn(t, x, "second")
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	only := newTableDevice(t, "only")
	only.failing(2, plan.ErrDeviceLost)
	x := openTable(t, devicesOnly(only))
	checkOne(t, x, Selection{}, 0)
	for range 2 {
		if _, err := x.Select(t.Context(), Selection{Where: "TRUE"}); CodeOf(err) != NoDevice {
			t.Errorf("without another device: %v", err)
		}
	}
	dead := newTableDevice(t, "dead")
	dead.load = dead.fails(plan.ErrOutOfMemory)
	tab, columns := inTable(t, 32)
	if _, err := tableEngine(t, devicesOnly(dead)).NewTable(t.Context(), &tab.Table, columns, TableOptions{}); CodeOf(err) != OutOfMemory {
		t.Errorf("no device has room: %v", err)
	}
}

// checkOn checks that selections run on a processor.
func checkOn(t *testing.T, x *Table, name string) {
	t.Helper()
	var e TableExplanation
	if _, err := x.Select(t.Context(), Selection{Where: wheres[0], Explain: &e}); err != nil || !strings.HasPrefix(e.Processor, name) {
		t.Errorf("selections run on %q, want %s: %v", e.Processor, name, err)
	}
}

// TestTableReserve has a device that fails beside pure Go in reserve.
func TestTableReserve(t *testing.T) {
	for name, fault := range map[string]func(d *tableDevice){
		"load":      func(d *tableDevice) { d.load = d.fails(plan.ErrOutOfMemory) },
		"measuring": func(d *tableDevice) { d.failing(3, plan.ErrDeviceLost) },
		"at once":   func(d *tableDevice) { d.failing(1, plan.ErrDeviceLost) },
	} {
		device := newTableDevice(t, "device")
		fault(device)
		e := tableEngine(t, beside(t, device))
		x := memoryTable(t, e, 32)
		for i := range 3 {
			checkAll(t, x, Selection{})
			checkOne(t, x, Selection{}, i)
		}
		var x1 TableExplanation
		if _, err := x.Select(t.Context(), Selection{Where: "delay > 5", Explain: &x1}); err != nil || x1.Processor == "device" || x1.Estimates[1] >= 0 {
			t.Errorf("%s: ran on %s, estimates %v: %v", name, x1.Processor, x1.Estimates, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTableTooLarge has a device refuse batches that are too large for it.
func TestTableTooLarge(t *testing.T) {
	device := newTableDevice(t, "device")
	x := openTable(t, beside(t, device))
	device.batch = func(context.Context, int64) error { return device.fails(plan.ErrTooLarge) }
	for i := range wheres {
		checkOne(t, x, Selection{}, i)
	}
	info, err := x.Info()
	if err != nil || len(info.Resident) != 2 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestTableChoice has a device that is slower than pure Go, then a host that is slower
// than the device.
func TestTableChoice(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) { // a machine that is busy makes the host slow
		device, host := newTableDevice(t, "device"), newTableDevice(t, "other")
		device.strategies = []plan.Strategy{plan.Fused, plan.COA}
		device.batch = func(context.Context, int64) error { time.Sleep(30 * time.Millisecond); return nil }
		opt := beside(t, device)
		opt.Schedule.Policy = "wu-async" // a batch would count the start of the device once
		x := openTable(t, opt)
		measured := device.batches.Load()
		if measured == 0 || measured > 100 {
			t.Errorf("%d batches measure the device", measured)
		}
		for i := range wheres {
			checkOne(t, x, Selection{}, i)
			// The device lacks the first one, and is slower by the second one.
			checkOne(t, x, Selection{Strategy: plan.Iterative}, i)
			checkOne(t, x, Selection{Strategy: plan.Fused}, i)
		}
		if n := device.batches.Load() - measured; n != 0 {
			t.Errorf("the slow device had %d batches", n)
		}
		if _, err := x.Select(t.Context(), Selection{Where: "TRUE", Strategy: plan.ROA}); !errors.Is(err, plan.ErrUnsupported) {
			t.Errorf("a strategy that no processor has: %v", err)
		}
		before := device.batches.Load()
		if _, err := x.Select(t.Context(), Selection{Where: "TRUE", Strategy: plan.COA}); device.batches.Load() == before {
			t.Errorf("coa did not run on the device: %v", err)
		}
		var e TableExplanation
		if _, err := x.Select(t.Context(), Selection{Where: wheres[0], Explain: &e}); err != nil {
			t.Fatal(err)
		}
		if len(e.Estimates) != 2 || e.Estimates[1] < 2*time.Millisecond || e.Estimates[0] >= e.Estimates[1] || e.Processor == "device" || e.Count != uint64(wanted().Counts[0]) {
			t.Errorf("%+v", e)
		}
		for _, want := range []string{wheres[0] + "\n", "delay: 60 to ", "device: estimated ", " µs a call", "  ran on ", " rows in ", "; queued ", ", compiled in "} {
			if !strings.Contains(e.String(), want) {
				t.Errorf("no %q in\n%s", want, e.String())
			}
		}

		// Two devices, of which the second one is slower.
		fast := newTableDevice(t, "fast")
		host.batch = func(context.Context, int64) error { time.Sleep(30 * time.Millisecond); return nil }
		opt = devicesOnly(fast, host)
		opt.Schedule.Policy = "wu-async"
		y := openTable(t, opt)
		measured = fast.batches.Load()
		for i := range wheres {
			checkOne(t, y, Selection{}, i)
		}
		if n := fast.batches.Load() - measured; n != int64(len(wheres)) {
			t.Errorf("the fast device had %d batches of %d", n, len(wheres))
		}
	})
}
