package bitmap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
)

// autoTurns is the least number of turns in which auto and its rival are timed.
const autoTurns = 9

// measureAuto measures a table that chooses backend and strategy, in turns with the
// best strategy among costs.
func (s *bench) measureAuto(ctx context.Context, set *set, costs []*cost) (all []*autoCost, err error) {
	t, err := s.openAuto(ctx, set.table, set.columns)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	stores := make(map[string]plan.TableStore)
	defer func() {
		for _, st := range stores {
			err = errors.Join(err, st.Close())
		}
	}()
	for _, m := range s.binCounts() {
		best := s.best(costs, m)
		if best == nil {
			continue
		}
		st := stores[best.who.Name]
		if st == nil {
			var release func() error
			if st, release, err = s.store(ctx, best.who, s.Opt.Threads, set.table); err != nil {
				return nil, err
			}
			stores[best.who.Name] = releasing{st, release}
		}
		c := &autoCost{best: best}
		rival, out := set.query(m), new(plan.Rows)
		q, err := t.prepareSteps(set.query(m))
		if err != nil {
			return nil, err
		}
		rival.Output, rival.Strategy = plan.OutputCounts, best.strategy
		var times [2][]float64
		for began := time.Now(); len(times[0]) < autoTurns || time.Since(began) < s.LeastTime(); {
			for i, run := range []func() error{
				func() error { return t.countPrepared(ctx, q, out) },
				func() error { return st.Select(ctx, rival, out) },
			} {
				start := time.Now()
				if err := run(); err != nil {
					return nil, err
				}
				times[i] = append(times[i], time.Since(start).Seconds()*1e6)
				if uint64(out.Counts[0]) != best.count {
					return nil, fmt.Errorf("auto of %d bins: %d rows, %s has %d", m, out.Counts[0], best.name(), best.count)
				}
			}
		}
		c.auto, c.rival = measure.Summarize(times[0][1:]), measure.Summarize(times[1][1:])
		all = append(all, c)
	}
	return all, nil
}

// releasing is a store that releases its backend on Close.
type releasing struct {
	plan.TableStore
	release func() error
}

func (r releasing) Close() error { return errors.Join(r.TableStore.Close(), r.release()) }

// autoCost is the time of auto and of the best strategy of one backend, in µs.
type autoCost struct {
	best        *cost
	auto, rival measure.Summary
}

// best returns the fastest strategy for queries with a number of bins.
func (s *bench) best(costs []*cost, bins int) (best *cost) {
	for _, c := range costs {
		if c.peer == "" && c.bins == bins && c.output == plan.OutputCounts && c.threads == s.Opt.Threads &&
			c.strategy != plan.StrategyAuto && !c.rescan && (best == nil || c.time.Median < best.time.Median) {
			best = c
		}
	}
	return best
}

func (s *bench) autoExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "auto", Title: "What auto takes beside the best strategy",
		Ours: "Auto is an engine.Table that chooses between a device, where there is one, and the host, and between their strategies. The best strategy of all backends had the least median in the measurements of the other tables, and is timed again in turns with auto; the ratio is its least time over the least of auto. Counts.",
		Rows: "query",
		Run: func(ctx context.Context) error {
			if _, err := s.allCosts(ctx, allWords); err != nil {
				return err
			}
			for _, c := range s.autos {
				b := c.best
				name := fmt.Sprintf("%s: %s", b.who.Name, b.strategy)
				r := harness.Reading{Panel: fmt.Sprintf("%s, wah%d", b.set, b.word), At: fmt.Sprintf("%d bins, %s", b.bins, name)}
				for _, x := range []struct {
					series string
					measure.Summary
					ratio float64
				}{{"auto", c.auto, c.rival.Min / c.auto.Min}, {"best", c.rival, 0}} {
					r.Series = x.series
					r.Row = x.Into(measure.Row{Workload: fmt.Sprintf("%s, %d bins", b.set, b.bins), Metric: "time", Unit: "µs", Bytes: b.bytes, Ratio: x.ratio,
						Row: fmt.Sprintf("auto, wah%d: %s", b.word, x.series)})
					if x.ratio != 0 {
						r.Baseline = "best"
					}
					s.Put(r)
				}
			}
			return nil
		},
	}
}
