package device

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan/testneeds"
)

// lateDevice is an open device without kernels, whose commands behind gate end late.
type lateDevice struct {
	*Runtime
	gate *ocl.Event
	open atomic.Bool // the gate
}

func newLateDevice(t *testing.T) *lateDevice {
	t.Helper()
	found, err := Find(testneeds.Device(t), nil, nil)
	if err != nil || len(found.Devices) == 0 {
		t.Fatalf("no device: %v", err)
	}
	rt, err := Open(t.Context(), found.Devices[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &lateDevice{Runtime: rt}
	t.Cleanup(func() {
		if n := rt.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
		// Some drivers close no context with an event that nobody sets. A second time is an error.
		_ = d.gate.SetUserEventStatus(0)
		d.gate.Release()
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	if d.gate, err = rt.context.CreateUserEvent(); err != nil {
		t.Fatal(err)
	}
	return d
}

// openSoon opens the gate after f had the time to pass without waiting, and tells whether f waited.
func (d *lateDevice) openSoon(t *testing.T, f func()) (waited bool) {
	t.Helper()
	end := make(chan error)
	go func() {
		time.Sleep(20 * time.Millisecond)
		d.open.Store(true)
		end <- d.gate.SetUserEventStatus(0)
	}()
	f()
	waited = d.open.Load()
	if err := <-end; err != nil {
		t.Fatal(err)
	}
	return waited
}

// lateFlight is a flight of two commands, of which the second one stands behind the gate.
func (d *lateDevice) lateFlight(t *testing.T) *Flight {
	t.Helper()
	x := NewFlight(d.Runtime, d.Memory)
	if err := x.Open(16, 16); err != nil {
		t.Fatal(err)
	}
	m, err := d.Buffer(ocl.MemReadWrite, 64, "a test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	if err := x.Write(m, 16); err != nil {
		t.Fatal(err)
	}
	x.After = []*ocl.Event{d.gate}
	if err := errors.Join(x.Write(m, 16), x.Queue.Flush()); err != nil {
		t.Fatal(err)
	}
	return &x
}

// TestLandWaits lands flights whose last command is under way: after a wait for an earlier command, after a
// wait that failed, and after a wait that was given up.
func TestLandWaits(t *testing.T) {
	for name, wait := range map[string]func(t *testing.T, x *Flight){
		"an earlier command": func(t *testing.T, x *Flight) {
			if err := x.WaitHere(x.Events[0].Event); err != nil {
				t.Fatal(err)
			}
		},
		"a failed wait": func(t *testing.T, x *Flight) {
			if err := x.waited(x.Last(), ocl.ErrOutOfResources); err == nil {
				t.Fatal("no error")
			}
		},
		"a wait given up": func(t *testing.T, x *Flight) {
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if err := x.WaitFor(ctx, x.Last()); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if x.ReleaseEvents(); len(x.Events) != 2 {
				t.Error("events were released while a goroutine waits for one of them")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newLateDevice(t)
			x := d.lateFlight(t)
			defer x.Release()
			wait(t, x)
			if !d.openSoon(t, x.Land) {
				t.Error("the flight landed before its last command ended")
			}
		})
	}
}

// TestWriteWordsLate uploads more than both staging buffers hold, while the commands before the third one begin
// late.
func TestWriteWordsLate(t *testing.T) {
	d := newLateDevice(t)
	words := make([]uint32, 2*uploadChunk/4+5000)
	for i := range words {
		words[i] = uint32(i)
	}
	m, err := d.Buffer(ocl.MemReadWrite, PaddedBytes(len(words)), "a test")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	uploads := 0
	d.faulty = func(step string) error {
		if step != "upload" {
			return nil
		}
		if uploads++; uploads == 1 {
			e, err := d.Transfer.EnqueueBarrierWithWaitList([]*ocl.Event{d.gate})
			e.Release()
			return err
		}
		if uploads == 2 {
			time.AfterFunc(20*time.Millisecond, func() { _ = d.gate.SetUserEventStatus(0) })
		}
		return nil
	}
	if err := d.WriteWords(t.Context(), m, 0, words); err != nil || uploads != 3 {
		t.Fatalf("%d commands, %v", uploads, err)
	}
	got := make([]uint32, len(words)+pad)
	e, err := d.Transfer.EnqueueReadBuffer(m, true, 0, 4*len(got), unsafe.Pointer(&got[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Release()
	if !slices.Equal(got, append(words, 0, 0, 0, 0)) {
		t.Error("the buffer has other words, or no zeros behind them")
	}
}
