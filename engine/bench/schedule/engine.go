package schedule

import (
	"context"
	"errors"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/load"
	"heddle/engine/bench/workload"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/backend"
	costs "heddle/engine/internal/cost"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// machine is an engine under test with one index. Benchmarks of scheduling use the engine
// only through it.
type machine struct {
	e *engine.Engine
	x *engine.Index
}

// startMachine starts an engine on backends, which stay open. costs is the file of
// the cost model, or empty; policy is the policy of the scheduler, or empty.
func startMachine(ctx context.Context, src *plan.Source, dict workload.Dictionary, backends []plan.Backend, costs, policy string) (*machine, error) {
	// A queue that holds fewer queries than arrive within the deadline would refuse
	// queries that could be answered in time.
	e, err := engine.New(ctx, engine.Options{Backend: backend.All, Backends: backends, Costs: costs, Schedule: engine.Schedule{Queue: load.MostFlying, Policy: policy}})
	if err != nil {
		return nil, err
	}
	x, err := e.NewIndex(ctx, src, dict, engine.IndexOptions{})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &machine{e, x}, nil
}

// call says how a query is scheduled.
type call struct {
	mode    schedule.Mode
	explain *observe.Explanation // receives the decisions; nil: nothing
	on      string               // name of the processor that answers; empty: the engine chooses
}

// override returns the tuning of the call.
func (c call) override() *engine.Override {
	if c.on != "" {
		return &engine.Override{Mode: c.mode.String(), Processor: c.on}
	}
	return modes[c.mode]
}

// modes are the tunings of modes of the scheduler.
var modes = map[schedule.Mode]*engine.Override{
	schedule.Async: {Mode: schedule.Async.String()},
	schedule.Sync:  {Mode: schedule.Sync.String()},
}

// conjunction returns q as a conjunctive query.
func conjunction(q workload.Query, c call) engine.Query {
	x := harness.EngineQuery(q, workload.And)
	x.Override, x.Explain = c.override(), c.explain
	return x
}

// memories are answers that are no longer read; their memory serves further answers.
var memories = sync.Pool{New: func() any { return new(engine.Hits) }}

// search answers one query and calls read with the answer, which is valid until it returns.
func (m *machine) search(ctx context.Context, q engine.Query, read func(h *engine.Hits)) error {
	memory := memories.Get().(*engine.Hits)
	defer memories.Put(memory)
	q.Memory = memory
	h, err := m.x.Search(ctx, q)
	if err == nil {
		*memory = h
		read(memory)
	}
	return err
}

// ranking of queries.
type ranking struct {
	mode    workload.Mode
	k       int
	scoring *bm25.Params
}

func (r ranking) query(q workload.Query, c call) engine.Query {
	x := harness.EngineQuery(q, r.mode)
	x.K, x.Scoring, x.Override, x.Explain = r.k, r.scoring, c.override(), c.explain
	return x
}

// calibrate fits the cost model to queries of a kind, for at most a time.
func (m *machine) calibrate(ctx context.Context, qs []workload.Query, kind costs.Kind, most time.Duration) error {
	all := make([]engine.Query, len(qs))
	for i, q := range qs {
		all[i] = harness.EngineQuery(q, workload.Or)
	}
	_, err := m.x.Calibrate(ctx, engine.CalibrateOptions{Queries: all, Kinds: []string{kind.String()}, Time: most})
	return err
}

func (m *machine) close() error { return m.e.Close() }

// hostThreads is the number of threads of pure Go beside a number of devices.
func hostThreads(devices int) int { return backend.HostThreads(devices) }
