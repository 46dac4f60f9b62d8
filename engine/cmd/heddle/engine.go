package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/internal/cost"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// engineOptions converts the configuration to the options of an index or table.
func engineOptions(c *config.Config, log zerolog.Logger) (engine.Options, error) {
	algorithm, err := plan.ParseAlgorithm(c.Search.Algorithm)
	backend := c.Devices.Backend
	if backend == "all" {
		backend = "auto" // startAll runs all of its backends
	} else if backend == "auto" && c.Devices.Device != "" {
		backend = "opencl" // a named device excludes the host
	}
	return engine.Options{
		Backend: backend, Device: c.Devices.Device, Threads: c.Devices.Threads, Profiling: c.Devices.Profiling,
		Tuning:          c.Devices.Tuning,
		Algorithm:       algorithm,
		BatchCandidates: uint64(c.Batching.Candidates), BatchPostings: uint64(c.Batching.Postings), Workers: c.Batching.Workers,
		DeviceMemory: uint64(c.Memory.Device), HostMemory: uint64(c.Memory.Tables),
		Log: &log,
	}, err
}

// scheduledOptions converts the configuration to the options of an engine.
func scheduledOptions(c *config.Config, opt engine.Options) (engine.EngineOptions, error) {
	mode, err1 := schedule.ParseMode(c.Schedule.Mode)
	metric, err2 := cost.ParseMetric(c.Schedule.Metric)
	placement, err3 := engine.ParsePlacement(c.Schedule.Placement)
	return engine.EngineOptions{
		Options: opt,
		Schedule: schedule.Options{
			Mode: mode, Capacity: c.Schedule.Queue, MaxAge: c.Schedule.MaxAge, Enter: c.Schedule.Enter, Leave: c.Schedule.Leave,
			Hold: c.Schedule.Hold, Similar: c.Schedule.Similar,
		},
		Timeout: c.Schedule.Timeout, Blocks: c.Schedule.Blocks, Placement: placement, Results: uint64(c.Schedule.Results),
		Costs: c.Schedule.Costs, Metric: metric,
	}, errors.Join(err1, err2, err3)
}

// startAll opens the index at path on all processors.
func startAll(ctx context.Context, c *config.Config, path string, opt engine.Options) (*engine.Engine, engine.View, error) {
	all, err := scheduledOptions(c, opt)
	if err != nil {
		return nil, engine.View{}, err
	}
	e, err := engine.Start(ctx, path, all)
	if err != nil {
		return nil, engine.View{}, err
	}
	v, err := e.View()
	return e, v, err
}
