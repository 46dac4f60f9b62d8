package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// fault makes the backends of an engine fail.
type fault struct {
	devices []*faulty
	alone   bool             // without a host beside them
	errors  []error          // that queries may fail with, beside errors of their callers
	out     map[string]error // devices that are taken out, and why
	none    bool             // the first device has no lists

	// A device that hangs does so until release is closed, which is when it has been taken
	// out, or with late when the engine is closed.
	release chan struct{}
	late    bool
	hanging atomic.Int64
}

var (
	errOdd  = errors.New("an error of no kind")
	lost    = broken(plan.ErrDeviceLost, "first")
	noRoom  = broken(plan.ErrOutOfMemory, "first")
	slowest = 2 * time.Second // that a batch may be, before its device hangs
)

// every n-th batch fails with err, or each from the n-th on.
func everyNth(n int64, err error) func(context.Context, int64) error {
	return func(_ context.Context, batch int64) error {
		if batch%n == 0 {
			return err
		}
		return nil
	}
}

func from(n int64, err error) func(context.Context, int64) error {
	return func(_ context.Context, batch int64) error {
		if batch >= n {
			return err
		}
		return nil
	}
}

// hang holds batches up from the n-th on and ignores their context. Batches that come back
// return err.
func (f *fault) hang(n int64, err error) func(context.Context, int64) error {
	f.release = make(chan struct{})
	return func(_ context.Context, batch int64) error {
		if batch < n {
			return nil
		}
		f.hanging.Add(1)
		defer f.hanging.Add(-1)
		<-f.release
		return err
	}
}

// faults are all of them, by name.
var faults = map[string]func(f *fault, first *faulty){
	"none":                      func(*fault, *faulty) {},
	"untyped now and then":      func(f *fault, d *faulty) { d.batch = everyNth(30, errOdd) },
	"untyped from a batch on":   func(f *fault, d *faulty) { d.batch = from(30, errOdd); f.takes(errOdd) },
	"untyped when all was done": func(f *fault, d *faulty) { d.late = everyNth(30, errOdd) },
	"lost at once":              func(f *fault, d *faulty) { d.batch = from(2, lost); f.takes(plan.ErrDeviceLost) },
	"lost in the middle":        func(f *fault, d *faulty) { d.batch = from(30, lost); f.takes(plan.ErrDeviceLost) },
	"lost when all was done": func(f *fault, d *faulty) {
		d.late = from(30, fmt.Errorf("outer: %w", lost))
		f.takes(plan.ErrDeviceLost)
	},
	"does not build": func(f *fault, d *faulty) {
		d.batch = from(30, broken(plan.ErrBuild, "first"))
		f.takes(plan.ErrBuild)
	},
	"fails its self-test": func(f *fault, d *faulty) {
		d.batch = from(30, broken(plan.ErrSelfTest, "first"))
		f.takes(plan.ErrSelfTest)
	},
	"out of memory now and then": func(_ *fault, d *faulty) { d.batch = everyNth(7, noRoom) },
	"says it has memory": func(f *fault, d *faulty) {
		d.batch, d.memory = from(2, noRoom), math.MaxUint64/2
		f.takes(plan.ErrOutOfMemory)
	},
	"says it has memory for lists": func(f *fault, d *faulty) { d.load, d.memory, f.none = noRoom, math.MaxUint64, true },
	"lost as lists are loaded":     func(f *fault, d *faulty) { d.load, f.none = lost, true },
	"one of three is lost": func(f *fault, d *faulty) {
		d.batch = from(30, lost)
		f.among(2)
		f.takes(plan.ErrDeviceLost)
	},
	"one of three hangs": func(f *fault, d *faulty) {
		d.batch = f.hang(30, nil)
		f.among(2)
		f.takes(schedule.ErrHung)
	},
	"hangs, and answers then": func(f *fault, d *faulty) { d.late = f.hang(50, nil); f.takes(schedule.ErrHung) },
	"hangs, and fails then":   func(f *fault, d *faulty) { d.batch = f.hang(50, lost); f.takes(schedule.ErrHung) },
	"hangs until all is closed": func(f *fault, d *faulty) {
		d.batch, f.late = f.hang(5, nil), true
		f.takes(schedule.ErrHung)
	},
	"late": func(_ *fault, d *faulty) {
		d.late = func(_ context.Context, n int64) error {
			time.Sleep(time.Duration(n%10) * time.Millisecond / 4)
			return nil
		}
	},
	"all are lost": func(f *fault, d *faulty) {
		f.among(1)
		d.batch, f.devices[1].batch = from(20, lost), from(40, broken(plan.ErrDeviceLost, "second"))
		f.takes(plan.ErrDeviceLost)
		f.out["second"] = plan.ErrDeviceLost
		f.errors = []error{schedule.ErrNoProcessor}
	},
	"the host fails now and then": func(f *fault, d *faulty) {
		f.among(1)
		d.host, d.batch = true, everyNth(50, errOdd)
	},
	"the host runs out of memory": func(f *fault, d *faulty) {
		f.among(1)
		d.host, d.batch = true, everyNth(7, noRoom)
	},
}

func (f *fault) takes(why error) { f.out = map[string]error{"first": why} }

// among has n sound devices in place of a host.
func (f *fault) among(n int) {
	f.alone = true
	for _, name := range []string{"second", "third"}[:n] {
		f.devices = append(f.devices, &faulty{name: name})
	}
}

// TestEngineFaults asks an engine 10,000 questions under each fault. Each is answered
// right and once, or fails with an error that the fault allows; then the engine can be
// closed, and nothing is left of it but batches that hang.
func TestEngineFaults(t *testing.T) {
	a := newAsking(t, 300, 200)
	var on plan.Backend // the backend of all devices; nil: one in pure Go each
	questions := pick(10000, 1000)
	if testneeds.Race { // a tenth of the speed
		questions = 1000
	}
	if !onHost() {
		on, questions = processorsOf(t)[1], 600
	}
	before := holding(t)
	var all []*fault
	t.Run("each", func(t *testing.T) {
		for name, make := range faults {
			first := &faulty{name: "first"}
			f := &fault{devices: []*faulty{first}}
			make(f, first)
			if on != nil && !f.alone {
				continue // small queries go to the host beside, few meet the fault
			}
			for _, d := range f.devices {
				d.on = on
			}
			all = append(all, f)
			t.Run(name, func(t *testing.T) {
				if f.release != nil {
					t.Parallel() // they wait, most of the time
				}
				f.under(t, a, questions)
			})
		}
	})
	hanging := before
	for _, f := range all {
		if n := int(f.hanging.Load()); n > 0 {
			hanging.goroutines += n + 2 // that close store and backends after them
		}
	}
	comeBack(t, hanging)
	for _, f := range all {
		if f.late {
			close(f.release)
		}
	}
	comeBack(t, before)
	for _, f := range all {
		nothingOpen(t, f.devices...)
	}
}

// under asks an engine whose devices have the fault.
func (f *fault) under(t *testing.T, a *asking, questions int) {
	h := heard{release: f.release}
	if f.late {
		h.release = nil
	}
	opt := Options{Observer: &h, Workers: 3, BatchCandidates: 2000}
	opt.Schedule.Hang = slowest
	if !f.alone {
		opt.candidates = append(opt.candidates, backend.Candidate{Name: "host", Host: true, Open: func(context.Context) (plan.Backend, error) {
			return hostfallback.New(hostfallback.Options{Threads: 2}), nil
		}})
	}
	for _, d := range f.devices {
		opt.candidates = append(opt.candidates, d.candidate())
	}
	src, dict := a.source()
	e, err := startSource(t.Context(), src, dict, opt)
	if err != nil {
		t.Fatal(err)
	}
	failed := a.load(t, e, questions)
	for i := range 10 { // it goes on
		for kind := range forms {
			questions++
			if err := a.qs[i].one(t.Context(), e, kind, calling{}); err != nil {
				failed = append(failed, err)
			}
		}
	}
	f.judge(t, failed)
	if n := h.queries.Load(); n != int64(questions) {
		t.Errorf("of %d questions, %d have ended", questions, n)
	}
	for name, why := range h.out {
		if want := f.out[name]; want == nil || !errors.Is(why, want) {
			t.Errorf("%s was taken out: %v", name, why)
		}
	}
	if len(h.out) != len(f.out) {
		t.Errorf("taken out: %v, want %v", h.out, f.out)
	}
	st := e.Stats()
	if n := f.devices[0].batches.Load(); (n == 0) != f.none {
		t.Errorf("the first device has run %d batches: %+v", n, st)
	}
	if n := st.Waiting; n.Either+n.Device+n.Host != 0 {
		t.Errorf("when nobody asks, %v are queued", n)
	}
	for !f.late && !e.e.pool.Idle() { // up to the time-out of the test
		time.Sleep(time.Millisecond) // released batches return
	}
	if err := e.Close(); err != nil && !(f.late && errors.Is(err, schedule.ErrHung)) {
		t.Error(err)
	}
	if !f.late {
		nothingOpen(t, f.devices...)
	}
	if err := a.qs[0].one(t.Context(), e, every, calling{}); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// judge looks for errors that the fault does not allow, and for one that it must bring.
func (f *fault) judge(t *testing.T, failed []error) {
	t.Helper()
	known, unknown := 0, map[string]int{}
failed:
	for _, err := range failed {
		for _, allowed := range f.errors {
			if errors.Is(err, allowed) && !errors.Is(err, errWrong) {
				known++
				continue failed
			}
		}
		unknown[err.Error()]++
	}
	for err, n := range unknown {
		t.Errorf("%d times: %v", n, err)
		if len(err) > 1000 {
			break
		}
	}
	if f.errors != nil && known == 0 {
		t.Error("no query has met the fault")
	}
}
