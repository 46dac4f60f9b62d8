package harness

import (
	"context"
	"errors"
	"fmt"

	"heddle/cl"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// Contestant is a backend under measurement.
type Contestant struct {
	Name   string // "host" or "opencl"
	Info   plan.Info
	Device *cl.Device // nil for pure Go
}

// Runs reports whether the contestant implements an algorithm.
func (c Contestant) Runs(a plan.Algorithm) bool { return c.Info.Runs(a) == nil }

// String names the contestant in panels: the name of its device.
func (c Contestant) String() string { return c.Info.Device }

// On returns the reading with the name of the contestant's backend and device.
func (c Contestant) On(r Reading) Reading {
	r.Backend, r.Device = c.Info.Kind, c.Info.Device
	return r
}

// Access says how a backend is opened and used. Each kind of extra information slows
// the rest.
type Access uint8

const (
	Busy     Access = iota // as many workers as keep the backend busy
	Alone                  // one worker, so that batches do not overlap
	Profiled               // one worker, with times from the device's clock
	Counting               // with the number of bytes that kernels request
)

// meet opens the backends before any workload is made. A missing device is an error if
// the options ask for it; otherwise it is left out. A device stays open for the whole
// run, so that its kernels are built and tested once.
func (r *Runner) meet(ctx context.Context) error {
	var rows []cl.Tuning
	if r.Opt.Tuning != "" { // report a faulty file without OpenCL too
		var err error
		if rows, err = cl.ReadTunings(r.Opt.Tuning); err != nil {
			return fmt.Errorf("tuning: %w", err)
		}
	}
	names, required := r.Opt.backends()
	for _, name := range names {
		if name == "host" {
			who, err := PureGo(r.Opt.Threads)
			if err != nil {
				return err
			}
			r.Contestants = append(r.Contestants, who)
			continue
		}
		err := r.meetDevice(ctx, rows)
		if !required && errors.Is(err, plan.ErrNoDevice) {
			r.Logf("%s left out: %v", name, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// PureGo returns pure Go on a number of threads.
func PureGo(threads int) (Contestant, error) {
	b := hostfallback.New(hostfallback.Options{Threads: threads})
	return Contestant{Name: "host", Info: b.Info()}, b.Close()
}

// meetDevice opens the first usable device, with tuning rows of the user.
func (r *Runner) meetDevice(ctx context.Context, rows []cl.Tuning) error {
	devices, err := cl.Devices(r.Opt.Device, rows...)
	if len(devices) == 0 {
		return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: fmt.Sprintf("looking for a device named %q", r.Opt.Device), Err: err}
	}
	var errs []error
	for i, d := range devices {
		b, err := cl.Open(ctx, d, cl.Options{})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.devices = map[Access]*cl.Backend{Alone: b}
		r.Contestants = append(r.Contestants, Contestant{"opencl", b.Info(), d})
		r.Others = devices[i+1:]
		return nil
	}
	return errors.Join(errs...)
}

// Backend returns the contestant's device, opened for an access. The runner closes it.
func (r *Runner) Backend(ctx context.Context, who Contestant, a Access) (*cl.Backend, error) {
	if a == Busy {
		a = Alone
	}
	if b := r.devices[a]; b != nil {
		return b, nil
	}
	b, err := cl.Open(ctx, who.Device, cl.Options{Profiling: a == Profiled, CountLoads: a == Counting, SkipSelfTest: true})
	if err == nil {
		r.devices[a] = b
	}
	return b, err
}

// closeDevices closes all devices that the runner opened.
func (r *Runner) closeDevices() error {
	var errs []error
	for _, b := range r.devices {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
