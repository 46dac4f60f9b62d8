package engine

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// gate holds the batches of a device until it opens.
type gate struct {
	open    chan struct{}
	waiting atomic.Int64
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) batch(context.Context, int64) error {
	g.waiting.Add(1)
	<-g.open
	return nil
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 12_000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s: not after a minute", what)
}

// oneLane are options of a device that runs one selection at a time, each alone.
func oneLane(d *tableDevice) Options {
	opt := devicesOnly(d)
	opt.Workers, opt.Schedule.Policy = 1, "wu-async"
	return opt
}

// TestTableDeadline has deadlines pass while selections wait and while they run.
func TestTableDeadline(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		d, g := newTableDevice(t, "device"), newGate()
		e := tableEngine(t, oneLane(d))
		x := memoryTable(t, e, 32)
		d.batch = g.batch
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := x.Select(t.Context(), Selection{Where: "TRUE", Timeout: 2 * time.Second}); CodeOf(err) != Deadline { // it starts before
				t.Errorf("while it runs: %v", err)
			}
		})
		eventually(t, "a running selection", func() bool { return g.waiting.Load() == 1 })
		_, err := x.Select(t.Context(), Selection{Where: "TRUE", Timeout: 300 * time.Millisecond})
		if CodeOf(err) != Deadline || !errors.Is(err, schedule.ErrDeadline) || !strings.Contains(err.Error(), "queued") {
			t.Errorf("while it waits: %v", err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer stop()
		if _, err := x.Select(ctx, Selection{Where: "TRUE"}); CodeOf(err) != Deadline {
			t.Errorf("by its context: %v", err)
		}
		wg.Wait()
		close(g.open)
		d.batch = nil
		checkOne(t, x, Selection{Timeout: -1}, 0)
		if n := e.Stats().Expired; n < 2 {
			t.Errorf("%d selections expired", n)
		}
	})
}

// TestTableFairness has two callers share a device evenly, though one asks ten times as
// much.
func TestTableFairness(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) { // a selection takes 1 ms: answers come in the order of the device
		d, g := newTableDevice(t, "device"), newGate()
		e := tableEngine(t, oneLane(d))
		x := memoryTable(t, e, 32)
		var mu sync.Mutex
		var order []string
		d.batch = func(ctx context.Context, n int64) error {
			err := g.batch(ctx, n)
			time.Sleep(time.Millisecond)
			return err
		}
		var wg sync.WaitGroup
		ask := func(caller string) {
			wg.Go(func() {
				if _, err := x.Select(t.Context(), Selection{Where: wheres[0], Caller: caller, Output: plan.OutputCounts}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, caller)
			})
		}
		ask("first")
		eventually(t, "a running selection", func() bool { return g.waiting.Load() == 1 })
		waiting := func() (n int) {
			w := e.Stats().Waiting
			return w.Either + w.Device + w.Host
		}
		for range 100 {
			ask("greedy")
		}
		eventually(t, "the greedy caller waits", func() bool { return waiting() == 100 })
		for range 10 {
			ask("modest")
		}
		eventually(t, "both callers wait", func() bool { return waiting() == 110 })
		close(g.open)
		wg.Wait()
		last := 0
		for i, caller := range order {
			if caller == "modest" {
				last = i
			}
		}
		// Each gets every other turn.
		if last > 25 {
			t.Errorf("the last of 10 modest selections was answered as number %d of %d", last, len(order))
		}
	})
}

// TestTableRefusal has more selections than may wait.
func TestTableRefusal(t *testing.T) {
	d, g := newTableDevice(t, "device"), newGate()
	opt := oneLane(d)
	opt.Schedule.Queue = 4
	e := tableEngine(t, opt)
	x := memoryTable(t, e, 32)
	d.batch = g.batch
	var wg sync.WaitGroup
	var answered, refused atomic.Int64
	for range 20 {
		wg.Go(func() {
			_, err := x.Select(t.Context(), Selection{Where: "TRUE"})
			switch {
			case err == nil:
				answered.Add(1)
			case CodeOf(err) == Overloaded && errors.Is(err, schedule.ErrFull):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	eventually(t, "refusals", func() bool { return refused.Load() >= 15 })
	close(g.open)
	wg.Wait()
	if answered.Load()+refused.Load() != 20 || answered.Load() < 2 || e.Stats().Refused != uint64(refused.Load()) {
		t.Errorf("%d answered, %d refused", answered.Load(), refused.Load())
	}
}

// TestTableFailoverUnderLoad loses a device while many callers use it. Each selection is
// answered, once and exactly.
func TestTableFailoverUnderLoad(t *testing.T) {
	for _, policy := range []string{"cooperative", "device-first", "wu-async", "wu-sync", "ding"} {
		d := newTableDevice(t, "device")
		opt := beside(t, d)
		opt.Schedule.Policy = policy
		e := tableEngine(t, opt)
		x := memoryTable(t, e, 32)
		d.failing(d.batches.Load()+5, plan.ErrDeviceLost)
		var wg sync.WaitGroup
		for caller := range 8 {
			wg.Go(func() {
				for i := range 20 {
					checkOne(t, x, Selection{Caller: string(rune('a' + caller)), Strategy: plan.Fused}, (caller+i)%len(wheres))
				}
			})
		}
		wg.Wait()
		st := e.Stats()
		if st.Failed != 0 || st.Expired != 0 {
			t.Errorf("%s: %+v", policy, st)
		}
	}
}

// TestTableReload exchanges files while callers select. Each answer is of one file as a
// whole, and prepared predicates follow.
func TestTableReload(t *testing.T) {
	all := tableFile(t, 32)
	few := tableFile(t, 64, 0, 1)          // delay and distance alone
	e := tableEngine(t, backendOptions(t)) // after the files, which stay until it has ended
	x, err := e.OpenTable(t.Context(), all, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := x.Prepare(t.Context(), Selection{Where: wheres[0]}) // both tables have its columns
	if err != nil {
		t.Fatal(err)
	}
	cancelled, err := x.Prepare(t.Context(), Selection{Where: "cancelled"})
	if err != nil {
		t.Fatal(err)
	}
	want := wanted()
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range pick(6, 3) {
		wg.Go(func() {
			for ctx.Err() == nil {
				r, err := x.Select(t.Context(), Selection{Prepared: p})
				if err != nil || r.Count != uint64(want.Counts[0]) || !slices.Equal(r.Bits, want.Selection(0)) {
					t.Errorf("%d rows, want %d: %v", r.Count, want.Counts[0], err)
					return
				}
				out, err := selectAll(t.Context(), x, selections(Selection{}, wheres[1], wheres[5], wheres[10]))
				switch {
				case err != nil && CodeOf(err) == InvalidQuery && strings.Contains(err.Error(), "unknown column \"cancelled\""):
				case err != nil || out.Counts[0] != want.Counts[1] || out.Counts[1] != want.Counts[5] || out.Counts[2] != want.Counts[10]:
					t.Errorf("%d rows: %v", out.Counts, err)
					return
				}
			}
		})
	}
	for i := range pick(6, 4) {
		if err := x.Reload(t.Context(), []string{few, all}[i%2]); err != nil {
			t.Error(err)
		}
		info, err := x.Info()
		if err != nil || len(info.Columns) != []int{2, 6}[i%2] {
			t.Errorf("%d columns after reload %d: %v", len(info.Columns), i, err)
		}
	}
	stop()
	wg.Wait()
	checkAll(t, x, Selection{})
	if err := x.Reload(t.Context(), "none.hdb"); CodeOf(err) != NotFound {
		t.Errorf("a file that is not there: %v", err)
	}
	damaged, err := os.ReadFile(few)
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)/2] ^= 1 // values of a column, which opening does not read
	if err := os.WriteFile(few+".damaged", damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := x.Reload(t.Context(), few+".damaged"); CodeOf(err) != Corrupt {
		t.Errorf("a damaged file: %v", err)
	}
	checkAll(t, x, Selection{})
	if err := x.Reload(t.Context(), few); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Select(t.Context(), Selection{Prepared: cancelled}); CodeOf(err) != InvalidQuery {
		t.Errorf("a prepared predicate on a column that is gone: %v", err)
	}
}

// TestTableReloadCrowded reloads a table on a device that has room for one: pure Go
// answers meanwhile. Without pure Go the old table stays.
func TestTableReloadCrowded(t *testing.T) {
	path := tableFile(t, 32)
	probe := newTableDevice(t, "probe")
	e := tableEngine(t, devicesOnly(probe))
	if _, err := e.OpenTable(t.Context(), path, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	size := probe.highest
	for _, reserve := range []bool{true, false} {
		d := newTableDevice(t, "device")
		d.room = size * 3 / 2
		opt := devicesOnly(d)
		if reserve {
			opt = beside(t, d)
		}
		x, err := tableEngine(t, opt).OpenTable(t.Context(), path, TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Reload(t.Context(), path); (err == nil) != reserve || err != nil && CodeOf(err) != OutOfMemory {
			t.Errorf("with a reserve %v: %v", reserve, err)
		}
		checkAll(t, x, Selection{})
		info, err := x.Info()
		if err != nil || info.Resident[len(info.Resident)-1].Processor != "device" || d.used != size {
			t.Errorf("with a reserve %v: %+v, %v", reserve, info.Resident, err)
		}
	}
}

// TestTableExplanation explains selections of a batch and reports them to the observer.
func TestTableExplanation(t *testing.T) {
	testneeds.Clock(t)
	testneeds.OneCaller(t)
	opt := backendOptions(t)
	seen := new(seenSelections)
	opt.Observer = seen
	e := tableEngine(t, opt)
	x := memoryTable(t, e, 32)
	all := selections(Selection{Output: plan.OutputCounts}, wheres...)
	explained := make([]TableExplanation, len(all))
	for i := range all {
		all[i].Explain = &explained[i]
	}
	out, err := selectAll(t.Context(), x, all)
	if err != nil {
		t.Fatal(err)
	}
	for i, ex := range explained {
		if ex.Kind != "select" || ex.Queries != len(all) || ex.Count != uint64(out.Counts[i]) || ex.Where == "" || ex.How == "" ||
			ex.Attempts != 1 || ex.Processor != e.Processors()[0].Name || ex.Estimate <= 0 || ex.Ran <= 0 || ex.Compile <= 0 || ex.Stats.Wall <= 0 || ex.Bytes == 0 && ex.Plan.Vectors > 0 {
			t.Errorf("%s: %+v", wheres[i], ex)
		}
		if s := ex.String(); !strings.Contains(s, ex.Where) || !strings.Contains(s, "  ran on "+ex.Processor) || !strings.Contains(s, " rows in ") {
			t.Error(s)
		}
	}
	if _, err := x.Select(t.Context(), Selection{Where: "TRUE", Timeout: time.Nanosecond, Explain: &explained[0]}); CodeOf(err) != Deadline || explained[0].Err == nil {
		t.Errorf("%v, %+v", err, explained[0])
	}
	if n := seen.answered.Load(); n != 2 {
		t.Errorf("the observer received %d calls", n)
	}
}

// seenSelections counts reports.
type seenSelections struct{ answered atomic.Int64 }

func (s *seenSelections) Answered(_ context.Context, q *observe.Explanation) { s.answered.Add(1) }
func (s *seenSelections) Happened(observe.Event)                             {}
