package schedule

import (
	"context"
	"errors"
	"runtime"
	"time"

	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/cputime"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
)

// idle is a backend whose stores return empty answers at once, so that only the cost of
// the way of a query remains.
type idle struct{}

func (idle) Info() plan.Info {
	return plan.Info{Kind: "host", Device: "idle", Type: "cpu", ComputeUnits: runtime.GOMAXPROCS(0), Batch: 1 << 20}
}
func (idle) Load(context.Context, *plan.Source) (plan.Store, error) { return idleStore{}, nil }
func (idle) LoadTable(context.Context, *plan.Table) (plan.TableStore, error) {
	return nil, plan.ErrUnsupported
}
func (idle) Close() error { return nil }

type idleStore struct{}

func (idleStore) Match(_ context.Context, b *plan.MatchBatch, out *plan.Results) error {
	out.Reset()
	for range b.Queries() {
		out.Offsets = append(out.Offsets, 0)
	}
	return nil
}
func (idleStore) Rank(context.Context, *plan.RankBatch, *plan.TopK) error { return plan.ErrUnsupported }
func (idleStore) Filter(context.Context, []uint64) (plan.Filter, error) {
	return nil, plan.ErrUnsupported
}
func (idleStore) Sets(context.Context, *plan.MatchBatch, *plan.Sets) error {
	return plan.ErrUnsupported
}
func (idleStore) Explain(plan.Algorithm, plan.Handle) string { return "" }
func (idleStore) ExplainBatch(*plan.MatchBatch) string       { return "" }
func (idleStore) Memory() uint64                             { return 0 }
func (idleStore) Close() error                               { return nil }

func (s *bench) overheadExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "overhead", Title: "What the scheduler costs a query",
		Ours: "CPU time of all threads, by query: of an engine and, without a scheduler, of an index, both on a store that answers nothing at once; so it covers resolving a query, scheduling it, and handing its answer over. One caller: a query after the other, asynchronous, or all in one call, which is synchronous. Many callers: 1,024, of which each waits for its answer before it puts the next query, under synchronous mode, beside a call with all queries; the time to put a caller to sleep and wake it counts. The scheduler: the difference.",
		Rows: "queries", Data: harness.GovOrder,
		Run: func(ctx context.Context) (err error) {
			src, err := s.Source(ctx, workload.DefaultEncoding(workload.LayoutRaw))
			if err != nil {
				return err
			}
			x, err := harness.NewIndexOn(ctx, idle{}, 0, src, s.Dict)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, x.Close()) }()
			e, err := startMachine(ctx, src, s.Dict, []plan.Backend{idle{}}, "", "")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, e.close()) }()
			return s.overhead(ctx, x, e)
		},
	}
}

// manyCallers is the number of concurrent callers.
const manyCallers = 1024

func (s *bench) overhead(ctx context.Context, x *harness.Index, e *machine) error {
	many := harness.Queries(s.W, harness.Pick[int](&s.Opt, 500_000, 5000))
	few := many[:len(many)/5]
	v := &served{s: s, name: s.W.Name(), queries: many, right: make([]uint64, len(many)), request: conjunction,
		digest: func(int, *engine.Hits) uint64 { return 0 }} // all answers are empty
	v.ask = v.search
	requests := v.requests()
	nothing := func(int, []harness.Hits) error { return nil }
	index := func() error { return x.Match(ctx, many, harness.MatchOptions{}, nothing) }
	for _, row := range []struct {
		at            string
		queries       int
		index, engine func() error
	}{
		{"asynchronous, one caller", len(few), func() error {
			for _, q := range few {
				if _, err := x.MatchOne(ctx, q, harness.MatchOptions{}); err != nil {
					return err
				}
			}
			return nil
		}, func() error {
			for i := range few {
				if _, err := v.ask(ctx, e, i, call{mode: schedule.Async}); err != nil {
					return err
				}
			}
			return nil
		}},
		{"synchronous, one call", len(many), index, func() error {
			return e.x.SearchAll(ctx, requests, nothing)
		}},
		{"synchronous, many callers", len(many), index, func() error {
			_, _, err := closed(ctx, v.answer(e, call{mode: schedule.Sync}), manyCallers, len(many), time.Minute)
			return err
		}},
	} {
		var times [2][]float64 // ns per query
		for run := range s.Opt.Runs + 1 {
			for i, f := range []func() error{row.index, row.engine} {
				began := cputime.Total()
				if err := f(); err != nil {
					return err
				}
				if run > 0 {
					times[i] = append(times[i], float64((cputime.Total()-began).Nanoseconds())/float64(row.queries))
				}
			}
		}
		var differences []float64
		for i := range times[0] {
			differences = append(differences, times[1][i]-times[0][i])
		}
		for _, column := range []struct {
			series, metric string
			values         []float64
		}{{"an index, ns", "index", times[0]}, {"an engine, ns", "engine", times[1]}, {"the scheduler, ns", "scheduler", differences}} {
			s.Put(harness.Reading{Panel: "on a store that answers nothing", Series: column.series, At: row.at,
				Row: measure.Summarize(column.values).Into(measure.Row{Metric: column.metric, Unit: "ns"})})
		}
	}
	return nil
}
