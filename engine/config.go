package engine

import (
	"heddle/config"
	"heddle/engine/plan"
)

// OptionsOf returns the options that a configuration asks for, so that a service can share
// the TOML file of the command line. A configuration that names a device but leaves the
// backend open takes no other processor. The error has code InvalidOption.
func OptionsOf(c *config.Config) (Options, error) {
	algorithm, err := plan.ParseAlgorithm(c.Search.Algorithm)
	if err != nil {
		return Options{}, invalid("options", err)
	}
	o := Options{
		Backend: c.Devices.Backend, Device: c.Devices.Device, Tuning: c.Devices.Tuning, Threads: c.Devices.Threads, Profiling: c.Devices.Profiling,
		Workers: c.Batching.Workers, BatchCandidates: uint64(c.Batching.Candidates), BatchPostings: uint64(c.Batching.Postings), Algorithm: algorithm,
		DeviceMemory: uint64(c.Memory.Device), HostMemory: uint64(c.Memory.Tables),
		Blocks: c.Schedule.Blocks, Timeout: c.Schedule.Timeout, Placement: c.Schedule.Placement, Results: uint64(c.Schedule.Results),
		Costs: c.Schedule.Costs, Metric: c.Schedule.Metric,
		Schedule: Schedule{
			Mode: c.Schedule.Mode, Queue: c.Schedule.Queue, MaxAge: c.Schedule.MaxAge, Enter: c.Schedule.Enter, Leave: c.Schedule.Leave,
			Hold: c.Schedule.Hold, Similar: c.Schedule.Similar,
		},
	}
	if o.Backend == "auto" && o.Device != "" {
		o.Backend = "opencl"
	}
	o.EnsureDefaults()
	return o, o.Validate()
}
