package drivers

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"heddle/cl"
	"heddle/engine/internal/cputime"
)

// Test selects the devices that a child opens.
type Test string

const (
	Preferred Test = "preferred" // by automatic choice
	All       Test = "all"
)

// request is the input of a child.
type request struct {
	Driver
	Test   Test   `json:"test"`
	Device string `json:"device,omitempty"` // part of the name, case ignored
	Tuning string `json:"tuning,omitempty"` // file of tuning rows
}

// message is a line of the output of a child.
type message struct {
	Phase  string        `json:"phase,omitempty"`  // phase that begins
	CPU    time.Duration `json:"cpu,omitempty"`    // CPU time of the child and of its ended children
	Result *Result       `json:"result,omitempty"` // the last message
}

// reports is the time between two messages with the CPU time.
const reports = time.Second / 4

// Child is the work of a child process: it reads a request from in and loads the driver. It writes a
// line to out before each phase, a line with its CPU time four times a second, and a result at the end.
// It ends early if in is closed.
func Child(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(in)
	var q request
	if err := lines.Decode(&q); err != nil {
		return errors.New("standard input holds no request: heddle starts this command itself")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		var rest json.RawMessage
		_ = lines.Decode(&rest) // until the parent is gone
		orphaned()
	}()
	var mu sync.Mutex // guards to and failed
	to, failed := json.NewEncoder(out), error(nil)
	send := func(m message) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, to.Encode(m))
	}
	var reporting sync.WaitGroup
	reporting.Go(func() { report(ctx, send) })
	r := examine(ctx, q, func(phase string) { send(message{Phase: phase}) })
	stop()
	reporting.Wait()
	send(message{Result: &r})
	return failed
}

// report sends the CPU time of this process until ctx ends.
func report(ctx context.Context, send func(message)) {
	tick := time.NewTicker(reports)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			send(message{CPU: cputime.WithChildren()})
		}
	}
}

// examine loads a driver in this process. It calls begin before each phase.
func examine(ctx context.Context, q request, begin func(phase string)) Result {
	r := Result{Driver: q.Driver}
	began := time.Now()
	step := func(phase string) {
		r.Phase = phase
		begin(phase)
	}
	if len(q.Files) > 0 {
		step(Load)
		if err := loadLibrary(q.Library); err != nil {
			r.Error = "no library that this process can load: " + err.Error()
			if need := memoryNeed(r.Error); need != "" {
				r.Error = need + " (" + err.Error() + ")"
			}
			return r
		}
	}
	var rows []cl.Tuning
	if q.Tuning != "" {
		var err error
		if rows, err = cl.ReadTunings(q.Tuning); err != nil {
			r.Error = err.Error()
			return r
		}
	}
	devices, empty, err := cl.Search(step, q.Device, rows...)
	r.Took, r.Empty = time.Since(began), empty
	if err != nil && !(errors.Is(err, cl.ErrNoPlatform) && len(q.Files) > 0) { // another driver may have one
		r.Error = strings.TrimPrefix(err.Error(), "cl: ")
	}
	for _, d := range devices {
		found := Device{Info: d.Info()}
		found.Preferred, found.Reason = d.Preferred()
		if found.Preferred || q.Test == All {
			found.open(ctx, d, step)
		}
		r.Devices = append(r.Devices, found)
	}
	if r.Error == "" {
		r.Phase = ""
	} else {
		r.Phase = "devices"
		if len(devices) == 0 && len(empty) == 0 {
			r.Phase = "platforms"
		}
	}
	return r
}

// open opens the device, which tests it.
func (d *Device) open(ctx context.Context, handle *cl.Device, step func(string)) {
	began := time.Now()
	b, err := cl.Open(ctx, handle, cl.Options{Step: step})
	d.Tested, d.SelfTest = true, time.Since(began)
	if err == nil {
		err = b.Close()
	}
	if err != nil {
		d.Error = err.Error()
	}
}
