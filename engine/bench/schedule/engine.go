package schedule

import (
	"context"
	"time"

	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/load"
	"heddle/engine/index/bm25"
	costs "heddle/engine/internal/cost"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// machine is an engine under test. Benchmarks of scheduling use the engine only
// through it.
type machine struct{ e *engine.Engine }

// startMachine starts an engine on backends, which stay open. costs is the file of
// the cost model, or empty.
func startMachine(ctx context.Context, src *plan.Source, dict harness.Dictionary, backends []plan.Backend, costs string) (*machine, error) {
	// A queue that holds fewer queries than arrive within the deadline would refuse
	// queries that could be answered in time.
	e, err := engine.StartSource(ctx, src, dict, engine.EngineOptions{Backends: backends, Costs: costs, Schedule: schedule.Options{Capacity: load.MostFlying}})
	if err != nil {
		return nil, err
	}
	return &machine{e}, nil
}

// call says how a query is scheduled.
type call struct {
	mode    schedule.Mode
	explain *observe.Explanation // receives the decisions; nil: nothing
}

func (c call) engine() engine.Call { return engine.Call{Mode: c.mode, Explain: c.explain} }

// match answers one conjunctive query.
func (m *machine) match(ctx context.Context, q harness.Query, c call) ([]uint32, error) {
	a, err := m.e.Search(ctx, q, engine.SearchOptions{}, c.engine())
	return a.Docs, err
}

// matchAll answers conjunctive queries in one call. deliver may run on several
// goroutines.
func (m *machine) matchAll(ctx context.Context, qs []harness.Query, c call, deliver func(first int, r *plan.Results) error) error {
	return m.e.SearchBatches(ctx, qs, engine.SearchOptions{}, c.engine(), deliver)
}

// ranking of queries.
type ranking struct {
	mode    harness.Mode
	k       int
	scoring *bm25.Params
}

func (r ranking) engine() engine.RankOptions {
	return engine.RankOptions{Mode: r.mode, K: r.k, Scoring: r.scoring}
}

// rank answers one ranked query.
func (m *machine) rank(ctx context.Context, q harness.Query, r ranking, c call) (docs []uint32, scores []float64, err error) {
	best, err := m.e.Rank(ctx, q, r.engine(), c.engine())
	return best.Docs, best.Scores, err
}

// rankAll answers ranked queries in one call, as matchAll does.
func (m *machine) rankAll(ctx context.Context, qs []harness.Query, r ranking, c call, deliver func(first int, r *harness.Rankings) error) error {
	return m.e.RankBatches(ctx, qs, r.engine(), c.engine(), deliver)
}

// calibrate fits the cost model to queries of a kind, for at most a time.
func (m *machine) calibrate(ctx context.Context, qs []harness.Query, kind costs.Kind, most time.Duration) error {
	_, err := m.e.Calibrate(ctx, engine.CalibrateOptions{Queries: qs, Kinds: []costs.Kind{kind}, Time: most})
	return err
}

func (m *machine) close() error { return m.e.Close() }

// hostThreads is the number of threads of pure Go beside a number of devices.
func hostThreads(devices int) int { return engine.HostThreads(devices) }
