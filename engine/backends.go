package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"heddle/cl"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// candidate is a backend that may be opened.
type candidate struct {
	name string
	open func(ctx context.Context) (plan.Backend, error)
	kept bool // stays open: somebody else closes it
	host bool // pure Go
}

func hostCandidate(opt Options) candidate {
	return candidate{name: "host", host: true, open: func(context.Context) (plan.Backend, error) {
		return hostfallback.New(hostfallback.Options{Threads: opt.Threads, MemoryLimit: opt.HostMemory, Lazy: opt.Lazy}), nil
	}}
}

// keptCandidate is a backend that is open, and that somebody else closes.
func keptCandidate(b plan.Backend) candidate {
	info := b.Info()
	return candidate{name: info.Device, host: info.Kind == "host", kept: true, open: func(context.Context) (plan.Backend, error) { return b, nil }}
}

func clCandidate(d *cl.Device, opt Options) candidate {
	return candidate{name: d.String(), open: func(ctx context.Context) (plan.Backend, error) {
		return cl.Open(ctx, d, cl.Options{
			MemoryLimit: opt.DeviceMemory, Profiling: opt.Profiling, CountLoads: opt.CountLoads, Log: opt.Log})
	}}
}

// logger is that of the options, or one that writes nothing.
func (opt Options) logger() zerolog.Logger {
	if opt.Log == nil {
		return zerolog.Nop()
	}
	return *opt.Log
}

// candidates lists the backends that opt allows, best first.
func (opt Options) candidates(log zerolog.Logger) ([]candidate, error) {
	if opt.backends != nil {
		return opt.backends, nil
	}
	if opt.On != nil {
		return []candidate{keptCandidate(opt.On)}, nil
	}
	var rows []cl.Tuning
	if opt.Tuning != "" { // a fault of the file shows without OpenCL too
		var err error
		if rows, err = cl.ReadTunings(opt.Tuning); err != nil {
			return nil, fmt.Errorf("tuning: %w", err)
		}
	}
	switch opt.Backend {
	case "host":
		return []candidate{hostCandidate(opt)}, nil
	case "", "auto", "opencl":
	default:
		return nil, fmt.Errorf("unknown backend %q (one of auto, host, opencl)", opt.Backend)
	}
	explicit := opt.Backend == "opencl"
	devices, err := cl.Devices(opt.Device, rows...)
	if explicit && len(devices) == 0 {
		return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: "looking for " + deviceWanted(opt), Err: err}
	}
	if err != nil { // one broken driver says nothing about the others
		log.Debug().Err(err).Msg("looking for OpenCL devices")
	}
	if opt.Device != "" && len(devices) == 0 {
		log.Warn().Str("device", opt.Device).Msg("no OpenCL device of that name, pure Go takes its place")
	}
	var list []candidate
	for _, d := range devices {
		if preferred, _ := d.Preferred(); preferred || explicit || opt.Device != "" {
			list = append(list, clCandidate(d, opt))
		}
	}
	if !explicit {
		list = append(list, hostCandidate(opt))
	}
	return list, nil
}

// processors lists the same backends for use side by side: the host first, if it is one
// of them.
func (opt Options) processors(log zerolog.Logger) ([]candidate, error) {
	list, err := opt.candidates(log)
	i := slices.IndexFunc(list, func(c candidate) bool { return c.host })
	if i > 0 {
		if opt.Threads == 0 && opt.backends == nil {
			opt.Threads = HostThreads(len(list) - 1)
			list[i] = hostCandidate(opt)
		}
		list = slices.Concat(list[i:i+1], list[:i], list[i+1:])
	}
	return list, err
}

// HostThreads is how many threads pure Go should have beside so many devices, whether they
// open or not: all cores but one in eight for each device, at least half of them; below
// eight cores all. Where every core computes, what
// has waited for a device gets one milliseconds later.
func HostThreads(devices int) int {
	cores := runtime.GOMAXPROCS(0)
	return max(cores-devices*(cores/8), (cores+1)/2)
}

func deviceWanted(opt Options) string {
	if opt.Device == "" {
		return "an OpenCL device"
	}
	return fmt.Sprintf("an OpenCL device named %q", opt.Device)
}

// opened is a candidate whose backend is open.
type opened struct {
	candidate
	backend plan.Backend
	info    plan.Info
}

// close closes the backend, unless somebody else does.
func (o opened) close() error {
	if o.kept {
		return nil
	}
	return o.backend.Close()
}

// openAll opens all of list at the same time, and with that tests the devices. Those that
// fail are left out. An error is ctx.Err(), and nothing stays open then.
func openAll(ctx context.Context, list []candidate, log zerolog.Logger) (open []opened, left []LeftOut, err error) {
	all, errs := make([]opened, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, c := range list {
		wg.Go(func() {
			all[i].candidate = c
			if all[i].backend, errs[i] = c.open(ctx); errs[i] == nil {
				all[i].info = all[i].backend.Info()
			}
		})
	}
	wg.Wait()
	for i, o := range all {
		if errs[i] == nil {
			open = append(open, o)
		} else if ctx.Err() == nil {
			log.Warn().Err(errs[i]).Str("backend", o.name).Msg("backend not usable")
			left = append(left, LeftOut{o.name, errs[i]})
		}
	}
	if ctx.Err() == nil {
		return open, left, nil
	}
	for _, o := range open {
		err = errors.Join(err, o.close())
	}
	return nil, nil, errors.Join(ctx.Err(), err)
}
