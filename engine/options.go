package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine/failure"
	"heddle/engine/internal/backend"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/drivers"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/placement"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Options choose the processors of an engine and rule its scheduler, its memory and its
// caches. The zero value works: EnsureDefaults describes it.
type Options struct {
	// Backend chooses processors. "auto": the best OpenCL device that passes its self-test,
	// with pure Go in reserve; pure Go alone without such a device. A CPU device counts only
	// if it was measured to be faster than pure Go. "host": pure Go. "opencl": the best
	// device. "all": pure Go and all devices side by side. The choice disregards the start-up
	// time of a device, about a second; the command line includes it. Default: "auto".
	Backend string
	// Device restricts OpenCL devices to names or platforms that contain it. It ignores case.
	// Default: all devices. With Backend "host" it must be empty.
	Device string
	// Tuning is a TOML file of tuning rows of OpenCL devices, which precede the built-in rows.
	// Default: none.
	Tuning string
	// Probe is the file of the program heddle, which examines each OpenCL driver in a process of its own
	// (PROGRAM probe) before this process loads it: a driver may hang, crash or end the process. With a
	// driver that does so, OpenCL is not used, and the log names the .icd file and the remedy. The engine
	// itself changes no descriptors, signals or variables of the environment, and gives threads their floating-point mode
	// back. Default: none, drivers load unexamined.
	Probe string
	// ProbeLimit is the time without progress after which a driver counts as hung; one that computes may
	// take thirty times as long. Default: 20 s.
	ProbeLimit time.Duration
	// Passed tells whether a device passed the self-test of opening in another process, with the same version of this
	// package: opening it leaves the test out. Default: by Probe; without it, no device.
	Passed func(plan.Info) bool
	// Backends are open backends that replace the search for devices. With Backend "auto", pure
	// Go among them is a reserve if there is a device. The caller closes them after the engine.
	// Device, Tuning, Probe, Passed, Threads, HostMemory, DeviceMemory, Profiling and CountLoads must be
	// zero then: they rule the opening of backends.
	Backends []plan.Backend

	// Threads of pure Go. Default: all cores; with "all" beside devices, one in eight fewer for
	// each device. With Backend "opencl" it must be 0.
	Threads int
	// Workers is the number of batches that a processor runs at a time, so that preparation
	// and transfers overlap. Default: the number of cores, at least 2, at most 16.
	Workers int
	// Profiling records kernel times in plan.Stats, at a small cost. With Backend "host" it
	// must be false.
	Profiling bool
	// CountLoads counts the bytes that kernels load and store, and the blocks of lists that they
	// decode, in plan.Stats. Kernels become slower. With Backend "host" it must be false. It has no
	// key in configurations: it serves measurements.
	CountLoads bool

	// DeviceMemory limits each device, in bytes: lists, tables, scratch and caches of all
	// indexes and tables together. Default: the memory of the device less a reserve. With Backend "host" it
	// must be 0. It does not count memory of the host that drivers pin for transfers: see package cl.
	DeviceMemory uint64
	// HostMemory limits the auxiliary tables of pure Go for an index or a table, in bytes.
	// Default: 16 bytes per posting, or 4 times the vectors of a table, 64 MiB to 4 GiB.
	// With Backend "opencl" it must be 0.
	HostMemory uint64
	// Results is the size of the result cache, in bytes. Default: 0, no cache.
	Results uint64
	// Filters is the size of the cache of filters on all processors together, in bytes. On devices it
	// counts against DeviceMemory too. Default: 0, 256 MiB.
	Filters uint64
	// Placement of lists on devices. "replicas": each device has all lists. "shards": each device has
	// the lists of a part of the documents. "cache": a device loads lists when queries need them.
	// "auto": the first of these placements that fits the memory of the devices. Default: "auto".
	Placement string

	// Algorithm of conjunctions whose Override names none. Default: plan.Auto.
	Algorithm plan.Algorithm
	// Accumulators of ranked ORs whose Override names none. Default: plan.AutoAccumulators.
	Accumulators plan.Accumulators
	// BatchCandidates closes a batch of boolean queries: the sum of the lengths of their
	// shortest lists (the computational threshold of Wu et al. 2010, section IV).
	// Default: the preference of the processor.
	BatchCandidates uint64
	// BatchPostings closes a batch of ranked queries: the sum of the lengths of their lists.
	// Default: the preference of the processor.
	BatchPostings uint64
	// Blocks closes batches at compute units × 256 × Blocks instead (S·T·B of Wu et al. 2010,
	// section V.B.1). Default: 0, not used.
	Blocks int
	// Costs is the file of the cost models of an index whose IndexOptions name none. The
	// engine reads it when it opens or reloads the index and writes the learnt costs when
	// it closes the index. Open indexes cannot share a file: a second one fails with code
	// InvalidOption. Default: the index file with ".cost" appended, if it exists.
	Costs string
	// Metric predicts run times: "best", "los", "uboc", "uboct" or "ding". Default: "best".
	Metric string

	// Limits bound the size of a query or predicate. Default: see Limits.
	Limits Limits
	// Schedule rules the scheduler.
	Schedule Schedule
	// Timeout of the queries that set no Query.Timeout. Default: 0, none.
	Timeout time.Duration
	// Observer receives every query and every event of the scheduler. Default: nil, none.
	Observer observe.Observer
	// Log receives messages for people: chosen processors, failures. Default: nil, none.
	Log *zerolog.Logger

	candidates []backend.Candidate // replace the search in tests
	tune       schedule.Options    // more options of the scheduler in tests
}

// Limits bound the size of one query or predicate. A larger one fails with code Unsupported and
// an error that names the limit. The zero value is the default. Timeouts and contexts end
// the analysis of text, too. Texts above 8 KiB are analysed on half of the cores; callers share
// them evenly, and Schedule.Queue bounds the number of texts that wait.
type Limits struct {
	// Text is the length of a query text or predicate in bytes. Default: 1 MiB.
	Text int
	// Terms of a query after analysis, terms of prefixes and tolerant words included. Default: 65,536. A text
	// with operators has at most 4,095 words.
	Terms int
	// Nodes of an expression or predicate. Default: 65,536.
	Nodes int
	// Depth of an expression or predicate. Default: 4,096. A text has at most 1,000
	// parentheses inside one another.
	Depth int
	// Groups of an aggregation. Default: 4,194,304.
	Groups int
	// Values is the number of different values that count(DISTINCT) and quantile keep, in all
	// groups together. Default: 16,777,216.
	Values int
	// Expansions is the number of terms that one prefix or tolerant word stands for, at most 65,536: see
	// Expansion. Default: 1,024.
	Expansions int
}

// Schedule rules how queries wait and run. The zero value is the default.
type Schedule struct {
	// Policy decides what runs where: "cooperative", "device-first", "wu", "wu-async", "wu-sync"
	// or "ding" (see heddle.example.toml). Default: "cooperative".
	Policy string
	// Queue is the number of queries and calls that may wait for a processor, and of long texts
	// that may wait for their analysis; further ones fail with code Overloaded. Default: 8192.
	Queue int
	// MaxAge of the oldest query of a batch. Default: 1 ms.
	MaxAge time.Duration
	// Enter and Leave are utilisations: estimated work arriving per second over work
	// completed per second. The policies "wu" and "cooperative" run batches above Enter and single
	// queries below Leave.
	// Default: 0.7 and 0.4.
	Enter, Leave float64
	// Hold is the least time for which these policies run batches. Default: 100 ms.
	Hold time.Duration
	// Similar is a ratio of run times on devices and in pure Go. A query whose ratio is greater runs
	// only on the faster class of processors. Default: 1.2.
	Similar float64
	// Hang is the time after which a batch counts as hung, and its processor as failed, if
	// it has also exceeded 50 times its estimate. Time in which the machine does not run the
	// process does not count. The last processor is never removed for this reason: its
	// queries wait twice as long, and ten times as long while the process uses CPU time. A removed processor is probed and restored when
	// it works again. Default: 10 s.
	Hang time.Duration
}

// EnsureDefaults replaces zero fields by their defaults, except where the default depends on
// a processor or on an index.
func (o *Options) EnsureDefaults() {
	setDefault(&o.Backend, backend.Auto)
	setDefault(&o.Workers, min(max(runtime.GOMAXPROCS(0), 2), 16))
	setDefault(&o.Placement, placement.Auto.String())
	setDefault(&o.Metric, cost.Best.String())
	setDefault(&o.Filters, 256<<20)
	setDefault(&o.ProbeLimit, drivers.DefaultLimit)
	(*limit.Limits)(&o.Limits).EnsureDefaults()
	s := &o.Schedule
	setDefault(&s.Policy, schedule.Policies()[0])
	setDefault(&s.Queue, 8192)
	setDefault(&s.MaxAge, time.Millisecond)
	setDefault(&s.Enter, 0.7)
	setDefault(&s.Leave, 0.4)
	setDefault(&s.Hold, 100*time.Millisecond)
	setDefault(&s.Similar, 1.2)
	setDefault(&s.Hang, 10*time.Second)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate returns an *Error with code InvalidOption if a field is out of range or contradicts
// another one. It expects that EnsureDefaults was called.
func (o *Options) Validate() error {
	_, err := o.parse()
	return failure.Invalid("options", err)
}

// parsed are the options that are names.
type parsed struct {
	placement placement.How
	metric    cost.Metric
}

func (o *Options) parse() (p parsed, err error) {
	if !slices.Contains(backend.Kinds(), o.Backend) {
		return p, fmt.Errorf("unknown backend %q (one of auto, host, opencl, all)", o.Backend)
	}
	if err := o.unused(); err != nil {
		return p, err
	}
	if i := slices.Index(o.Backends, nil); i >= 0 {
		return p, fmt.Errorf("option Backends[%d] is nil", i)
	}
	if err := o.Algorithm.Validate(); err != nil {
		return p, fmt.Errorf("option Algorithm: %w", err)
	}
	if err := o.Accumulators.Validate(); err != nil {
		return p, fmt.Errorf("option Accumulators: %w", err)
	}
	s := &o.Schedule
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"Threads", float64(o.Threads)}, {"Workers", float64(o.Workers)}, {"Blocks", float64(o.Blocks)}, {"ProbeLimit", float64(o.ProbeLimit)}, {"Timeout", float64(o.Timeout)},
		{"Limits.Text", float64(o.Limits.Text)}, {"Limits.Terms", float64(o.Limits.Terms)}, {"Limits.Nodes", float64(o.Limits.Nodes)}, {"Limits.Depth", float64(o.Limits.Depth)},
		{"Limits.Groups", float64(o.Limits.Groups)}, {"Limits.Values", float64(o.Limits.Values)}, {"Limits.Expansions", float64(o.Limits.Expansions)},
		{"Schedule.Queue", float64(s.Queue)}, {"Schedule.MaxAge", float64(s.MaxAge)}, {"Schedule.Enter", s.Enter}, {"Schedule.Leave", s.Leave},
		{"Schedule.Hold", float64(s.Hold)}, {"Schedule.Hang", float64(s.Hang)},
	} {
		if !(f.value >= 0) {
			return p, fmt.Errorf("%s: negative option %v", f.name, f.value)
		}
	}
	if o.Limits.Expansions > limit.MostExpansions {
		return p, fmt.Errorf("Limits.Expansions, %d, is above %d", o.Limits.Expansions, limit.MostExpansions)
	}
	if s.Leave > s.Enter {
		return p, fmt.Errorf("Schedule.Leave, %v, is above Schedule.Enter, %v", s.Leave, s.Enter)
	}
	if !(s.Similar >= 1) {
		return p, fmt.Errorf("Schedule.Similar, %v, is below 1", s.Similar)
	}
	if err := schedule.CheckPolicy(s.Policy); err != nil {
		return p, err
	}
	if p.placement, err = placement.Parse(o.Placement); err != nil {
		return p, err
	}
	p.metric, err = cost.ParseMetric(o.Metric)
	return p, err
}

// unused returns an error that names an option without effect on the chosen processors.
func (o *Options) unused() error {
	given, host, opencl := o.Backends != nil, o.Backend == backend.Host, o.Backend == backend.OpenCL
	for _, f := range []struct {
		name        string
		set, unused bool
	}{
		{"Device", o.Device != "", given || host},
		{"Tuning", o.Tuning != "", given},
		{"Probe", o.Probe != "", given},
		{"Passed", o.Passed != nil, given},
		{"DeviceMemory", o.DeviceMemory != 0, given || host},
		{"Profiling", o.Profiling, given || host},
		{"CountLoads", o.CountLoads, given || host},
		{"Threads", o.Threads != 0, given || opencl},
		{"HostMemory", o.HostMemory != 0, given || opencl},
	} {
		switch {
		case f.set && f.unused && given:
			return fmt.Errorf("option %s has no effect on the given Backends: set it when you open them", f.name)
		case f.set && f.unused:
			return fmt.Errorf("option %s has no effect with backend %q: leave it out or choose another backend", f.name, o.Backend)
		}
	}
	return nil
}

func (o *Options) logger() zerolog.Logger {
	if o.Log == nil {
		return zerolog.Nop()
	}
	return *o.Log
}

// pool returns the options of the pool of processors.
func (o *Options) pool(p *parsed) pool.Options {
	s, opt := &o.Schedule, o.tune
	opt.Policy, opt.Capacity, opt.MaxAge, opt.Enter, opt.Leave = s.Policy, s.Queue, s.MaxAge, s.Enter, s.Leave
	opt.Hold, opt.Similar, opt.Hang = s.Hold, s.Similar, s.Hang
	return pool.Options{Schedule: opt, Timeout: o.Timeout, Workers: o.Workers, Limits: limit.Limits(o.Limits), Observer: o.Observer, Log: o.logger()}
}

// discovery returns the options of the search for backends.
func (o *Options) discovery() *backend.Options {
	return &backend.Options{
		Kind: o.Backend, Device: o.Device, Tuning: o.Tuning, Probe: o.Probe, ProbeLimit: o.ProbeLimit, Passed: o.Passed, Threads: o.Threads, DeviceMemory: o.DeviceMemory, HostMemory: o.HostMemory,
		Profiling: o.Profiling, CountLoads: o.CountLoads, Log: o.logger(),
	}
}

// open opens the processors.
func (o *Options) open(ctx context.Context) ([]backend.Candidate, error) {
	if o.candidates != nil {
		return o.candidates, nil
	}
	if o.Backends == nil {
		return o.discovery().Candidates(ctx)
	}
	return backend.Given(o.Backends, o.Backend)
}

// OptionsOf returns the options that a configuration asks for, so that a service can share
// the TOML file of the command line. A configuration that names a device but leaves the
// backend open takes no other processor. One file serves all backends: settings of processors
// that the backend leaves out have no effect. The error has code InvalidOption.
func OptionsOf(c *config.Config) (Options, error) {
	algorithm, err := plan.ParseAlgorithm(c.Search.Algorithm)
	if err != nil {
		return Options{}, failure.Invalid("options", err)
	}
	accumulators, err := plan.ParseAccumulators(c.Search.Accumulators)
	if err != nil {
		return Options{}, failure.Invalid("options", err)
	}
	o := Options{
		Backend: c.Devices.Backend, Device: c.Devices.Device, Tuning: c.Devices.Tuning, Threads: c.Devices.Threads,
		ProbeLimit: c.Devices.Probe, Profiling: c.Devices.Profiling, CountLoads: c.Devices.CountLoads,
		Workers: c.Batching.Workers, BatchCandidates: uint64(c.Batching.Candidates), BatchPostings: uint64(c.Batching.Postings), Algorithm: algorithm, Accumulators: accumulators,
		DeviceMemory: uint64(c.Memory.Device), HostMemory: uint64(c.Memory.Tables),
		Blocks: c.Schedule.Blocks, Timeout: c.Schedule.Timeout, Placement: c.Schedule.Placement, Results: uint64(c.Schedule.Results), Filters: uint64(c.Schedule.Filters),
		Costs: c.Schedule.Costs, Metric: c.Schedule.Metric, Limits: Limits{Expansions: c.Limits.Expansions},
		Schedule: Schedule{
			Policy: c.Schedule.Policy, Queue: c.Schedule.Queue, MaxAge: c.Schedule.MaxAge, Enter: c.Schedule.Enter, Leave: c.Schedule.Leave,
			Hold: c.Schedule.Hold, Similar: c.Schedule.Similar, Hang: c.Schedule.Hang,
		},
	}
	if o.Backend == "auto" && o.Device != "" {
		o.Backend = backend.OpenCL
	}
	switch o.Backend {
	case backend.Host:
		o.Device, o.DeviceMemory, o.Profiling, o.CountLoads = "", 0, false, false
	case backend.OpenCL:
		o.Threads, o.HostMemory = 0, 0
	}
	o.EnsureDefaults()
	return o, o.Validate()
}
