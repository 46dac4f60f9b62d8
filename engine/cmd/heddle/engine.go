package main

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/internal/drivers"
)

// engineOptions converts the configuration to the options of an engine.
func engineOptions(c *config.Config, log zerolog.Logger) (engine.Options, error) {
	o, err := engine.OptionsOf(c)
	o.Log = &log
	return o, err
}

// newEngine opens the processors, and stores the start-up time if one of them is a device.
func (a *App) newEngine(ctx context.Context, opt engine.Options) (*engine.Engine, error) {
	choice := config.Devices{Backend: opt.Backend, Device: opt.Device, Tuning: opt.Tuning, Probe: opt.ProbeLimit}
	report, err := a.examine(ctx, &choice, *opt.Log)
	if err != nil {
		return nil, err
	}
	opt.Passed = report.Passed
	if choice.Backend != opt.Backend { // to host
		opt.Backend, opt.Device, opt.DeviceMemory, opt.Profiling = choice.Backend, "", 0, false
	}
	began := time.Now()
	var opened *engine.Engine
	err = await(opt, func() (err error) {
		opened, err = engine.New(ctx, opt)
		return err
	})
	if errors.Is(err, drivers.ErrNoAnswer) && opt.Backend != "opencl" {
		opt.Log.Warn().Err(err).Msg("no OpenCL device is used")
		opt.Backend, opt.Device, opt.DeviceMemory, opt.Profiling = "host", "", 0, false
		return engine.New(ctx, opt)
	}
	if err != nil {
		return nil, err
	}
	e := opened // the goroutine of a call that hangs may still set opened
	took := time.Since(began)
	for _, p := range e.Processors() {
		if p.Info.Kind != "opencl" || opt.Backend == "all" { // several devices start at the same time
			continue
		}
		if err := a.startups().Remember(p.Info.Device, p.Info.Driver, took); err != nil {
			opt.Log.Debug().Err(err).Msg("start-up time not stored")
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

// closeEngine closes the engine of a command that has its answers. A driver that does not return is an
// error, and the end of the command ends the call.
func closeEngine(opt engine.Options, e *engine.Engine) error {
	return await(opt, e.Close)
}

// openIndex opens an engine and an index on it. Closing the engine closes the index.
func (a *App) openIndex(ctx context.Context, path string, opt engine.Options) (*engine.Engine, *engine.Index, error) {
	e, err := a.newEngine(ctx, opt)
	if err != nil {
		return nil, nil, err
	}
	var x *engine.Index
	err = await(opt, func() (err error) {
		x, err = e.OpenIndex(ctx, path, engine.IndexOptions{})
		return err
	})
	if errors.Is(err, drivers.ErrNoAnswer) { // closing the engine would not return either
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeEngine(opt, e))
	}
	return e, x, nil
}
