package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/load"
	"heddle/engine/bench/rank"
	"heddle/engine/bench/workload"
	costs "heddle/engine/internal/cost"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// served is a workload for engines.
type served struct {
	s       *bench
	name    string
	source  *plan.Source
	dict    workload.Dictionary
	queries []workload.Query
	kind    costs.Kind
	right   []uint64        // digests of the checked answers, by digest
	folder  string          // folder of the cost model, which successive engines share
	fitted  map[string]bool // devices to which the cost model is fitted

	// ask returns the digest of the answer to query i; it is search, but in tests.
	ask func(ctx context.Context, e *machine, i int, how call) (uint64, error)
	// request returns a query for the engine. digest returns the digest of the answer to
	// query i, for many callers. keep, if any, keeps one answer to each query, and check
	// compares all of them.
	request func(q workload.Query, how call) engine.Query
	digest  func(i int, h *engine.Hits) uint64
	keep    func(i int, h *engine.Hits)
	check   func(who string) error

	curves map[curveKey][]*load.Delays // loads that held, by rate
	alone  map[string]*predicted       // by system
}

// system is the set of processors of an engine.
type system struct {
	name   string // "host only"
	who    []harness.Contestant
	more   []plan.Backend // beside the backends of who
	policy string         // policy of the scheduler; empty: the default
}

// String returns the name.
func (y system) String() string { return y.name }

// systems returns each contestant alone, and all together.
func (s *bench) systems() (all []system) {
	for _, who := range s.Contestants {
		name := "host only"
		if who.Device != nil {
			name = "device only"
		}
		all = append(all, system{name: name, who: []harness.Contestant{who}})
	}
	if len(all) > 1 {
		all = append(all, system{name: "both", who: s.Contestants})
	}
	return all
}

// on returns the reading with the name of the backend, unless there are several.
func (y system) on(r harness.Reading) harness.Reading {
	if len(y.who) == 1 && len(y.more) == 0 {
		return y.who[0].On(r)
	}
	return r
}

// serve makes a workload ready for engines, or returns it if it is.
func (s *bench) serve(name string, fill func(v *served) error) (*served, error) {
	if v := s.served[name]; v != nil {
		return v, nil
	}
	v := &served{s: s, name: name, fitted: make(map[string]bool), curves: make(map[curveKey][]*load.Delays), alone: make(map[string]*predicted)}
	v.ask = v.search
	if err := fill(v); err != nil {
		return nil, err
	}
	var err error
	if v.folder, err = os.MkdirTemp("", "heddle-bench-"); err != nil {
		return nil, err
	}
	if s.served == nil {
		s.served = make(map[string]*served)
	}
	s.served[name] = v
	return v, nil
}

// forgetServed releases the workloads and their cost models.
func (s *bench) forgetServed() error {
	var errs []error
	for _, v := range s.served {
		errs = append(errs, os.RemoveAll(v.folder))
	}
	s.served = nil
	return errors.Join(errs...)
}

// servedLists returns the workload of lists: plain lists, every query an AND.
func (s *bench) servedLists(ctx context.Context) (*served, error) {
	return s.serve(s.W.Name(), func(v *served) (err error) {
		v.kind = costs.And
		v.dict, v.queries = s.Dict, harness.Queries(s.W, queryCount(&s.Opt, len(s.W.Queries), shortServed))
		v.request = conjunction
		v.digest = func(_ int, h *engine.Hits) uint64 { return sample(h.Docs) }
		check, answers := s.Check, make([]uint64, len(v.queries))
		v.keep = func(i int, h *engine.Hits) { answers[i] = workload.Digest(h.Docs) }
		v.check = func(who string) error { return check.Check(who, answers) }
		v.source, err = s.Source(ctx, workload.DefaultEncoding(workload.LayoutRaw))
		return err
	})
}

// servedRanked returns the GOV2-like workload with a mode, top 10.
func (s *bench) servedRanked(ctx context.Context, mode workload.Mode) (*served, error) {
	n := queryCount(&s.Opt, servedRanked, shortServedRanked)
	if err := s.ranked.Want(ctx, "served", func(int) (*rank.Workload, error) {
		return rank.GOV2(ctx, s.Opt.Seed, n, s.Opt.Docs, s.Opt.Codec, workload.Clustered)
	}); err != nil {
		return nil, err
	}
	return s.serve(s.ranked.W.Name+", "+mode.String(), func(v *served) error {
		v.kind = map[workload.Mode]costs.Kind{workload.And: costs.RankAnd, workload.Or: costs.RankOr, workload.AndOr: costs.RankAndOr}[mode]
		v.source, v.dict, v.queries = s.ranked.W.Source, s.ranked.W.Dict, s.ranked.W.Queries
		opt := ranking{mode: mode, k: 10, scoring: &s.ranked.W.Params}
		answers := make([]rank.Answer, len(v.queries))
		v.request = opt.query
		v.digest = func(i int, h *engine.Hits) uint64 { return s.ranked.Check.Answer(i, h.Docs, h.Scores).Digest }
		v.keep = func(i int, h *engine.Hits) {
			answers[i] = s.ranked.Check.Answer(i, h.Docs, h.Scores)
		}
		v.check = func(who string) error { return s.ranked.Check.Check(who, mode, opt.k, answers) }
		return nil
	})
}

// Numbers of distinct queries for engines. Models learn from three of four.
const (
	servedRanked      = 3000
	shortServed       = 500
	shortServedRanked = 100
)

func queryCount(o *harness.Options, all, short int) int {
	switch {
	case o.Queries > 0:
		return min(all, o.Queries)
	case o.Short:
		return min(all, short)
	}
	return all
}

// start starts an engine on a system, with the cost model of earlier engines. stop
// closes it and its own backends.
func (v *served) start(ctx context.Context, y system) (e *machine, stop func() error, err error) {
	var backends []plan.Backend
	var own []plan.Backend
	stop = func() (err error) {
		if e != nil {
			err = e.close()
		}
		for _, b := range own {
			err = errors.Join(err, b.Close())
		}
		return err
	}
	for _, who := range y.who {
		if who.Device == nil {
			threads := v.s.Opt.Threads
			if threads == runtime.GOMAXPROCS(0) { // the engine's own choice
				threads = hostThreads(len(y.who) + len(y.more) - 1)
			}
			own = append(own, hostfallback.New(hostfallback.Options{Threads: threads}))
			backends = append(backends, own[len(own)-1])
			continue
		}
		b, err := v.s.Backend(ctx, who, harness.Busy)
		if err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		backends = append(backends, b)
	}
	backends = append(backends, y.more...)
	if e, err = startMachine(ctx, v.source, v.dict, backends, filepath.Join(v.folder, "costs"), y.policy); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return e, stop, nil
}

// with starts an engine, warms it up, and calls f.
func (v *served) with(ctx context.Context, y system, f func(e *machine) error) error {
	e, stop, err := v.start(ctx, y)
	if err != nil {
		return fmt.Errorf("%s: %w", y, err)
	}
	if err = v.warm(ctx, y, e); err == nil {
		err = f(e)
	}
	if err = errors.Join(err, stop()); err != nil {
		return fmt.Errorf("%s: %w", y, err)
	}
	return nil
}

// requests returns all queries for one call.
func (v *served) requests() []engine.Query {
	all := make([]engine.Query, len(v.queries))
	for i, q := range v.queries {
		all[i] = v.request(q, call{mode: schedule.Sync})
	}
	return all
}

// callers is the number of concurrent callers that warm up an engine in batches.
const callers = 256

// warm checks the answers of an engine to all queries. It fits the cost model to
// queries that are not predicted, unless it is fitted, and lets it learn from single
// queries and batches.
func (v *served) warm(ctx context.Context, y system, e *machine) (err error) {
	v.right = make([]uint64, len(v.queries))
	if err := e.x.SearchAll(ctx, v.requests(), func(first int, hits []engine.Hits) error {
		for i := range hits {
			v.right[first+i] = v.digest(first+i, &hits[i])
			if v.keep != nil {
				v.keep(first+i, &hits[i])
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := v.check("an engine on " + y.name); err != nil {
		return err
	}
	enough := harness.Pick[time.Duration](&v.s.Opt, time.Second, 30*time.Millisecond)
	if slices.ContainsFunc(y.who, func(who harness.Contestant) bool { return !v.fitted[who.Info.Device] }) {
		all := 5 * enough // the longest queries take milliseconds each, and all count
		if err := e.calibrate(ctx, v.queries[:v.learnt()], v.kind, all); err != nil {
			return err
		}
		for _, who := range y.who {
			v.fitted[who.Info.Device] = true
		}
	}
	if len(y.who) > 1 { // each makes its tables of lists at their first use, and alone it has answered all queries
		for _, p := range e.e.Processors() {
			if _, _, err := closed(ctx, v.answer(e, call{mode: schedule.Async, on: p.Name}), runtime.GOMAXPROCS(0), len(v.queries), 10*enough); err != nil {
				return err
			}
		}
	}
	for _, w := range []struct {
		mode    schedule.Mode
		callers int
	}{{schedule.Async, 1}, {schedule.Sync, callers}} {
		if _, _, err := closed(ctx, v.answer(e, call{mode: w.mode}), w.callers, v.learnt(), enough); err != nil {
			return err
		}
	}
	return nil
}

// search returns the digest of the answer to query i.
func (v *served) search(ctx context.Context, e *machine, i int, how call) (digest uint64, err error) {
	err = e.search(ctx, v.request(v.queries[i], how), func(h *engine.Hits) { digest = v.digest(i, h) })
	return digest, err
}

// closed sends at most n queries, of which each of the callers sends its next one after an answer,
// until the time is over: at least one, because a busy machine may start the callers later. It
// returns the number of queries and their rate per second.
func closed(ctx context.Context, answer func(ctx context.Context, i int) error, callers, n int, enough time.Duration) (done int, rate float64, err error) {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	began := time.Now()
	for range callers {
		group.Go(func() error {
			ctx, cancel := context.WithCancel(ctx) // like requests: a context that all callers share costs more
			defer cancel()
			for first := true; ctx.Err() == nil && (first || time.Since(began) < enough); first = false {
				i := int(next.Add(1)) - 1
				if i >= n {
					break
				}
				if err := answer(ctx, i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	done = min(int(next.Load()), n)
	return done, float64(done) / time.Since(began).Seconds(), err
}

// answer returns a function that sends query i to an engine and compares the answer.
// After the last query the first follows again.
func (v *served) answer(e *machine, how call) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		i %= len(v.queries)
		got, err := v.ask(ctx, e, i, how)
		if err == nil && got != v.right[i] {
			err = fmt.Errorf("%s: the answer to query %d is not that of before", v.name, i)
		}
		return err
	}
}

// oneByOne answers one query at a time, in the order of arrival.
func oneByOne(answer func(ctx context.Context, i int) error) func(ctx context.Context, i int) error {
	free := make(chan struct{}, 1)
	return func(ctx context.Context, i int) error {
		free <- struct{}{}
		defer func() { <-free }()
		if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
			return &schedule.DeadlineError{}
		}
		return answer(ctx, i)
	}
}
