// Package machine opens the processors of this machine for a command. Before that it examines the
// OpenCL drivers in child processes, because a driver may hang or crash. It describes processors and
// the machine, too.
package machine

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/internal/drivers"
	"heddle/engine/internal/startup"
)

// Machine is this machine as a command sees it.
type Machine struct {
	Environ []string // NAME=value; it changes when a driver is left out
	// Self is the file of this program, which examines OpenCL drivers in child processes. Without it,
	// drivers load unexamined.
	Self string
}

// Getenv returns the value of a variable, "" if it is not set.
func (m *Machine) Getenv(name string) string {
	for _, kv := range m.Environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// options returns the options of an examination of drivers.
func (m *Machine) options(c *config.Devices) drivers.Options {
	o := drivers.Options{Environ: m.Environ, Limit: c.Probe, Device: c.Device, Tuning: c.Tuning, Cache: drivers.CacheFolder(m.Getenv)}
	if m.Self != "" {
		o.Program = []string{m.Self, "probe"}
	}
	return o
}

// Drivers examines the OpenCL drivers. A fresh report ignores earlier reports.
func (m *Machine) Drivers(ctx context.Context, c *config.Devices, test drivers.Test, fresh bool) (drivers.Report, error) {
	o := m.options(c)
	o.Test, o.Fresh = test, fresh
	return drivers.Probe(ctx, o)
}

// Examine examines the OpenCL drivers before this process loads them, and leaves broken ones out. If
// OpenCL must not be loaded, backend opencl is an error, and auto and all become host.
func (m *Machine) Examine(ctx context.Context, c *config.Devices, log zerolog.Logger) (drivers.Report, error) {
	if m.Self == "" || c.Backend == "host" {
		return nil, nil
	}
	o := m.options(c)
	report, usable, err := o.Choose(ctx, c.Backend)
	m.Environ = o.Environ
	for _, r := range report.Broken() {
		log.Warn().Strs("icd", r.Files).Str("phase", r.Phase).Str("fault", r.Fault).Msg("OpenCL driver left out")
		if r.Said != "" {
			log.Debug().Strs("icd", r.Files).Str("output", r.Said).Msg("output of the driver")
		}
	}
	if err == nil && !usable {
		c.Backend = "host"
	}
	return report, err
}

// Startups returns the file of start-up times of devices.
func (m *Machine) Startups() startup.Cache {
	folder := drivers.CacheFolder(m.Getenv)
	if folder == "" {
		return startup.Cache{}
	}
	return startup.NewCache(filepath.Join(folder, "startup.json"))
}

// remember stores the start-up time of a device.
func (m *Machine) remember(device, driver string, took time.Duration, log *zerolog.Logger) {
	if err := m.Startups().Remember(device, driver, took); err != nil {
		log.Debug().Err(err).Msg("start-up time not stored")
	}
}

// Choose replaces the backend auto of a short-lived command by host if the host should
// finish before a device has started. It returns the reason, or "" for other backends.
func (m *Machine) Choose(c *config.Devices, work func(device string) (startup.Work, error)) string {
	if c.Backend != "auto" || c.Device != "" {
		return ""
	}
	record := m.Startups().Recall()
	w, err := work(record.Device)
	if err != nil { // opening the file or running the queries reports the error
		c.Backend = "host"
		return ""
	}
	choice := startup.Choose(w, record)
	if choice.Host {
		c.Backend = "host"
	}
	return choice.String()
}

// Options converts the configuration to the options of an engine.
func Options(c *config.Config, log zerolog.Logger) (engine.Options, error) {
	o, err := engine.OptionsOf(c)
	o.Log = &log
	return o, err
}

// toHost takes the host alone.
func toHost(o *engine.Options) {
	o.Backend, o.Device, o.DeviceMemory, o.Profiling, o.CountLoads = "host", "", 0, false, false
}

// Engine opens the processors, and stores the start-up time if one of them is a device.
func (m *Machine) Engine(ctx context.Context, opt engine.Options) (*engine.Engine, error) {
	choice := config.Devices{Backend: opt.Backend, Device: opt.Device, Tuning: opt.Tuning, Probe: opt.ProbeLimit}
	report, err := m.Examine(ctx, &choice, *opt.Log)
	if err != nil {
		return nil, err
	}
	opt.Passed = report.Passed
	if choice.Backend != opt.Backend {
		toHost(&opt)
	}
	began := time.Now()
	var opened *engine.Engine
	err = await(opt, func() (err error) {
		opened, err = engine.New(ctx, opt)
		return err
	})
	if errors.Is(err, drivers.ErrNoAnswer) && opt.Backend != "opencl" {
		opt.Log.Warn().Err(err).Msg("no OpenCL device is used")
		toHost(&opt)
		return engine.New(ctx, opt)
	}
	if err != nil {
		return nil, err
	}
	e := opened // the goroutine of a call that hangs may still set opened
	took := time.Since(began)
	for _, p := range e.Processors() {
		if p.Info.Kind == "opencl" && opt.Backend != "all" { // all devices start at the same time
			m.remember(p.Info.Device, p.Info.Driver, took, opt.Log)
		}
	}
	return e, nil
}

// await runs f, which calls drivers unless the backend is host. An error tells that they do not
// return; the command has to end then.
func await(opt engine.Options, f func() error) error {
	if opt.Backend == "host" {
		return f()
	}
	err := drivers.Await(opt.ProbeLimit, f)
	if errors.Is(err, drivers.ErrNoAnswer) {
		return &engine.Error{Code: engine.NoDevice, Op: "calling a device", Err: err}
	}
	return err
}

// Close closes the engine of a command that has its answers. A driver that does not return is an
// error, and the end of the command ends the call.
func Close(opt engine.Options, e *engine.Engine) error {
	return await(opt, e.Close)
}

// Open opens an engine, and an index or a table on it. Closing the engine closes what is open.
func Open[T any](ctx context.Context, m *Machine, opt engine.Options, open func(*engine.Engine) (T, error)) (e *engine.Engine, x T, err error) {
	if e, err = m.Engine(ctx, opt); err != nil {
		return nil, x, err
	}
	err = await(opt, func() (err error) {
		x, err = open(e)
		return err
	})
	if err != nil && !errors.Is(err, drivers.ErrNoAnswer) { // else closing the engine would not return either
		err = errors.Join(err, Close(opt, e))
	}
	return e, x, err
}
