package bench

import (
	"context"
	"errors"
	"fmt"

	"heddle/cl"
	"heddle/engine"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// contestant is a backend that is measured.
type contestant struct {
	name   string // "host" or "opencl"
	info   plan.Info
	device *cl.Device // nil on the host
}

// runs tells whether the contestant runs an algorithm.
func (c contestant) runs(a plan.Algorithm) bool { return c.info.Runs(a) == nil }

// String names the contestant in panels.
func (c contestant) String() string { return c.info.Device }

// on says in a reading who was measured.
func (c contestant) on(r reading) reading {
	r.Backend, r.Device = c.info.Kind, c.info.Device
	return r
}

// access is how a backend is opened and used: what costs extra slows the rest.
type access uint8

const (
	busy     access = iota // as many workers as keep the backend busy
	alone                  // one worker: nothing else runs
	profiled               // one worker, with device times
	counting               // with the bytes that kernels ask for
)

// meet opens the backends before anything is made: a device that is asked for and
// not there is an error at once, one that is not asked for is left out. A device
// stays open for all indexes of the session, so that its kernels are built and
// tested once.
func (s *session) meet(ctx context.Context) error {
	var rows []cl.Tuning
	if s.opt.Tuning != "" { // a fault of the file shows without OpenCL too
		var err error
		if rows, err = cl.ReadTunings(s.opt.Tuning); err != nil {
			return fmt.Errorf("tuning: %w", err)
		}
	}
	names, required := s.opt.backends()
	for _, name := range names {
		if name == "host" {
			who, err := hostOf(s.opt.Threads)
			if err != nil {
				return err
			}
			s.contestants = append(s.contestants, who)
			continue
		}
		err := s.meetDevice(ctx, rows)
		if !required && errors.Is(err, plan.ErrNoDevice) {
			s.logf("%s left out: %v", name, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hostOf is pure Go on so many threads.
func hostOf(threads int) (contestant, error) {
	b := hostfallback.New(hostfallback.Options{Threads: threads})
	return contestant{name: "host", info: b.Info()}, b.Close()
}

// meetDevice opens the first device that opens, with tuning rows of its own.
func (s *session) meetDevice(ctx context.Context, rows []cl.Tuning) error {
	devices, err := cl.Devices(s.opt.Device, rows...)
	if len(devices) == 0 {
		return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: fmt.Sprintf("looking for a device named %q", s.opt.Device), Err: err}
	}
	var errs []error
	for i, d := range devices {
		b, err := cl.Open(ctx, d, cl.Options{})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.devices = map[access]*cl.Backend{alone: b}
		s.contestants = append(s.contestants, contestant{"opencl", b.Info(), d})
		s.others = devices[i+1:]
		return nil
	}
	return errors.Join(errs...)
}

// backend is the contestant's device, opened for an access.
func (s *session) backend(ctx context.Context, who contestant, a access) (*cl.Backend, error) {
	if a == busy {
		a = alone
	}
	if b := s.devices[a]; b != nil {
		return b, nil
	}
	b, err := cl.Open(ctx, who.device, cl.Options{Profiling: a == profiled, CountLoads: a == counting, SkipSelfTest: true})
	if err == nil {
		s.devices[a] = b
	}
	return b, err
}

// newIndex makes an index of lists on a contestant; threads are those of pure Go.
func (s *session) newIndex(ctx context.Context, who contestant, threads int, a access, src *plan.Source, dict engine.Dictionary) (*engine.Index, error) {
	opt := engine.Options{Backend: who.name, Threads: threads}
	if a == alone || a == profiled {
		opt.Workers = 1
	}
	if who.device != nil {
		b, err := s.backend(ctx, who, a)
		if err != nil {
			return nil, err
		}
		opt.On = b
	}
	return engine.New(ctx, src, dict, opt)
}

// closeDevices closes what meet and backend have opened.
func (s *session) closeDevices() error {
	var errs []error
	for _, b := range s.devices {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
