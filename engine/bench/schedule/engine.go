package schedule

import (
	"context"
	"errors"
	"time"

	"heddle/engine"
	"heddle/engine/bench/load"
	"heddle/engine/bench/querylog"
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
// the cost model, or empty.
func startMachine(ctx context.Context, src *plan.Source, dict workload.Dictionary, backends []plan.Backend, costs string) (*machine, error) {
	// A queue that holds fewer queries than arrive within the deadline would refuse
	// queries that could be answered in time.
	e, err := engine.New(ctx, engine.Options{Backend: backend.All, Backends: backends, Costs: costs, Schedule: engine.Schedule{Queue: load.MostFlying}})
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
func (c call) conjunction(q workload.Query) engine.Query {
	x := querylog.EngineQuery(q, workload.And)
	x.Override, x.Explain = c.override(), c.explain
	return x
}

// match answers one conjunctive query.
func (m *machine) match(ctx context.Context, q workload.Query, c call) ([]uint32, error) {
	h, err := m.x.Search(ctx, c.conjunction(q))
	return h.Docs, err
}

// matchAll answers conjunctive queries in one call. deliver may run on several
// goroutines.
func (m *machine) matchAll(ctx context.Context, qs []workload.Query, c call, deliver func(first int, hits []querylog.Hits) error) error {
	all := make([]engine.Query, len(qs))
	for i, q := range qs {
		all[i] = call{mode: c.mode}.conjunction(q)
	}
	return m.x.SearchAll(ctx, all, deliver)
}

// ranking of queries.
type ranking struct {
	mode    workload.Mode
	k       int
	scoring *bm25.Params
}

func (r ranking) query(q workload.Query, c call) engine.Query {
	x := querylog.EngineQuery(q, r.mode)
	x.K, x.Scoring, x.Override, x.Explain = r.k, r.scoring, c.override(), c.explain
	return x
}

// rank answers one ranked query.
func (m *machine) rank(ctx context.Context, q workload.Query, r ranking, c call) (docs []uint32, scores []float64, err error) {
	h, err := m.x.Search(ctx, r.query(q, c))
	return h.Docs, h.Scores, err
}

// rankAll answers ranked queries in one call, as matchAll does.
func (m *machine) rankAll(ctx context.Context, qs []workload.Query, r ranking, c call, deliver func(first int, hits []querylog.Hits) error) error {
	all := make([]engine.Query, len(qs))
	for i, q := range qs {
		all[i] = r.query(q, call{mode: c.mode})
	}
	return m.x.SearchAll(ctx, all, deliver)
}

// calibrate fits the cost model to queries of a kind, for at most a time.
func (m *machine) calibrate(ctx context.Context, qs []workload.Query, kind costs.Kind, most time.Duration) error {
	all := make([]engine.Query, len(qs))
	for i, q := range qs {
		all[i] = querylog.EngineQuery(q, workload.Or)
	}
	_, err := m.x.Calibrate(ctx, engine.CalibrateOptions{Queries: all, Kinds: []string{kind.String()}, Time: most})
	return err
}

func (m *machine) close() error { return m.e.Close() }

// hostThreads is the number of threads of pure Go beside a number of devices.
func hostThreads(devices int) int { return backend.HostThreads(devices) }
