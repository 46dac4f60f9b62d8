package backend

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"heddle/cl"
	"heddle/engine/internal/drivers"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// Values of Options.Kind.
const (
	Auto   = "auto"   // the best device, with the host in reserve; the host alone without a device
	Host   = "host"   // pure Go
	OpenCL = "opencl" // the best device
	All    = "all"    // the host and all devices side by side
)

// Kinds returns all values of Options.Kind.
func Kinds() []string { return []string{Auto, Host, OpenCL, All} }

// Options choose backends. The fields have the meaning and the defaults of the fields of
// engine.Options with the same names.
type Options struct {
	Kind         string
	Device       string
	Tuning       string
	Probe        string
	ProbeLimit   time.Duration
	Threads      int
	DeviceMemory uint64
	HostMemory   uint64
	Profiling    bool
	CountLoads   bool
	Passed       func(plan.Info) bool
	Log          zerolog.Logger
}

// Candidate is a backend that may be opened.
type Candidate struct {
	Name    string
	Host    bool   // pure Go
	Reserve bool   // runs only jobs that no other processor can run
	Kept    bool   // the caller of the engine closes it
	Reason  string // why the backend is chosen
	Open    func(ctx context.Context) (plan.Backend, error)
}

// Kept returns a candidate for a backend that is already open and that the caller of the
// engine closes.
func Kept(b plan.Backend) Candidate {
	info := b.Info()
	return Candidate{Name: info.Device, Host: info.Kind == "host", Kept: true, Reason: "given by the caller",
		Open: func(context.Context) (plan.Backend, error) { return b, nil }}
}

func (opt *Options) host(reason string) Candidate {
	h := hostfallback.Options{Threads: opt.Threads, MemoryLimit: opt.HostMemory}
	return Candidate{Name: "host", Host: true, Reason: reason, Open: func(context.Context) (plan.Backend, error) { return hostfallback.New(h), nil }}
}

func (opt *Options) device(d *cl.Device, reason string) Candidate {
	passed := opt.Passed != nil && !opt.CountLoads && opt.Passed(d.Info()) // counting needs other kernels
	return Candidate{Name: d.String(), Reason: reason, Open: func(ctx context.Context) (plan.Backend, error) {
		return cl.Open(ctx, d, cl.Options{Passed: passed, MemoryLimit: opt.DeviceMemory, Profiling: opt.Profiling, CountLoads: opt.CountLoads, Log: &opt.Log})
	}}
}

// Candidates lists the backends that opt allows. The host comes first, then devices, the
// best one first. Under Auto and OpenCL the caller opens devices until one of them works.
func (opt *Options) Candidates(ctx context.Context) ([]Candidate, error) {
	var rows []cl.Tuning
	if opt.Tuning != "" { // a fault of the file shows without OpenCL too
		var err error
		if rows, err = cl.ReadTunings(opt.Tuning); err != nil {
			return nil, fmt.Errorf("tuning: %w", err)
		}
	}
	switch opt.Kind {
	case Host:
		return []Candidate{opt.host("backend host")}, nil
	case Auto, OpenCL, All:
	default:
		return nil, fmt.Errorf("unknown backend %q (one of auto, host, opencl, all)", opt.Kind)
	}
	explicit := opt.Kind == OpenCL
	devices, err := opt.devices(ctx, rows)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if explicit && len(devices) == 0 {
		return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: "looking for " + opt.wanted(), Err: err}
	}
	if err != nil { // a broken driver does not rule out devices of other drivers
		opt.Log.Debug().Err(err).Msg("looking for OpenCL devices")
	}
	if opt.Device != "" && len(devices) == 0 {
		opt.Log.Warn().Str("device", opt.Device).Msg("no OpenCL device of that name, pure Go takes its place")
	}
	var list []Candidate
	for _, d := range devices {
		switch preferred, why := d.Preferred(); {
		case explicit || opt.Device != "":
			list = append(list, opt.device(d, "named by the caller"))
		case preferred:
			list = append(list, opt.device(d, why))
		}
	}
	if explicit {
		return list, nil
	}
	return slices.Insert(list, 0, opt.hostBeside(len(list))), nil
}

// devices lists the OpenCL devices. It loads no driver if Options.Probe finds a broken one.
func (opt *Options) devices(ctx context.Context, rows []cl.Tuning) ([]*cl.Device, error) {
	if opt.Probe == "" {
		return cl.Devices(opt.Device, rows...)
	}
	environ := os.Environ()
	cache := drivers.CacheFolder(os.Getenv)
	o := drivers.Options{Program: []string{opt.Probe, "probe"}, Environ: environ, Limit: opt.ProbeLimit, Test: drivers.Preferred, Device: opt.Device, Tuning: opt.Tuning, Cache: cache}
	if opt.Kind == OpenCL || opt.Device != "" {
		o.Test = drivers.All
	}
	report, err := drivers.Probe(ctx, o)
	if err != nil {
		return nil, err
	}
	broken := report.Broken()
	if len(broken) == 0 {
		opt.Passed = report.Passed
		return cl.Devices(opt.Device, rows...)
	}
	err = fmt.Errorf("OpenCL is not used: %w; remove the .icd file, or name a folder without it in OCL_ICD_VENDORS", broken.Err())
	opt.Log.Warn().Err(err).Msg("a driver is broken")
	return nil, err
}

// hostBeside returns the host beside a number of devices.
func (opt *Options) hostBeside(devices int) Candidate {
	if devices == 0 {
		return opt.host("no OpenCL device is faster")
	}
	if opt.Kind == Auto {
		c := opt.host("reserve of the device")
		c.Reserve = true
		return c
	}
	h := *opt
	if h.Threads == 0 {
		h.Threads = HostThreads(devices)
	}
	return h.host("beside devices")
}

func (opt *Options) wanted() string {
	if opt.Device == "" {
		return "an OpenCL device"
	}
	return fmt.Sprintf("an OpenCL device named %q", opt.Device)
}

// HostThreads returns the default number of threads of pure Go beside a number of devices:
// all cores but one in eight for each device, at least half of them, and all below eight
// cores. A device loses milliseconds per batch when every core computes.
func HostThreads(devices int) int {
	cores := runtime.GOMAXPROCS(0)
	return max(cores-devices*(cores/8), (cores+1)/2)
}

// Given returns candidates for open backends. Under Auto, hosts among devices are reserves;
// Host and OpenCL leave the other kind out.
func Given(open []plan.Backend, kind string) (list []Candidate, err error) {
	devices := false
	for _, b := range open {
		c := Kept(b)
		if c.Host && kind == OpenCL || !c.Host && kind == Host {
			continue
		}
		devices = devices || !c.Host
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: kind, Op: "choosing among the given backends"}
	}
	for i := range list {
		list[i].Reserve = kind == Auto && devices && list[i].Host
	}
	return list, nil
}
