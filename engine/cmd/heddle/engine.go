package main

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
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
	if err := a.examine(ctx, &choice, *opt.Log); err != nil {
		return nil, err
	}
	if choice.Backend != opt.Backend { // to host
		opt.Backend, opt.Device, opt.DeviceMemory, opt.Profiling = choice.Backend, "", 0, false
	}
	began := time.Now()
	e, err := engine.New(ctx, opt)
	if err != nil {
		return nil, err
	}
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

// openIndex opens an engine and an index on it. Closing the engine closes the index.
func (a *App) openIndex(ctx context.Context, path string, opt engine.Options) (*engine.Engine, *engine.Index, error) {
	e, err := a.newEngine(ctx, opt)
	if err != nil {
		return nil, nil, err
	}
	x, err := e.OpenIndex(ctx, path, engine.IndexOptions{})
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, x, nil
}
