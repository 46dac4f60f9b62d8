package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"heddle/engine/internal/cost"
)

// CalibrateOptions say what Calibrate runs. The zero value is good.
type CalibrateOptions struct {
	// Queries to run. Without them some are drawn from the index, of one term to six, with
	// lists of every length.
	Queries []Query
	// Kinds to fit; empty is all that the index can answer.
	Kinds []cost.Kind
	// K is how many documents ranked queries ask for; 0 is 10.
	K int
	// Time is about how long queries of a kind run on a processor, one by one and then as
	// long in batches; 0 is 2 s. Where one pass takes longer some queries are left out.
	Time time.Duration
	// Progress hears what is measured next; nil hears nothing.
	Progress func(processor string, k cost.Kind)
}

// KindCosts is what Calibrate has found for a kind of queries.
type KindCosts struct {
	Kind       cost.Kind
	Processors []ProcessorCosts // those that differ
	// Differences are of the first processor less each other one.
	Differences []Difference
}

// ProcessorCosts says how well models predict what a processor takes.
type ProcessorCosts struct {
	Processor string
	*cost.Calibration
}

// Difference is what queries take more on one processor than on another, when they run
// alone (Wu et al. 2010, section V.B.6).
type Difference struct {
	Slow, Fast string // processors
	Queries    int    // that ran on both
	// Faster is the share of them that took less on Fast, Saved the time that it saved
	// them, of what they take on Slow.
	Faster, Saved float64
	// Regressions of milliseconds on Slow less those on Fast, by all cost.Metrics: Table III.
	Regressions []cost.Regression
}

// Calibrate runs queries on every processor, alone and in batches, and fits the models
// that the engine schedules by. It writes them to the file of costs, if there is one. It
// needs the processors for itself: what other calls do meanwhile counts as costs.
func (e *Engine) Calibrate(ctx context.Context, opt CalibrateOptions) ([]KindCosts, error) {
	v, err := e.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	g := v.g
	opt.K = cmp.Or(opt.K, 10)
	opt.Time = cmp.Or(opt.Time, 2*time.Second)
	if opt.Kinds == nil {
		for _, k := range cost.Kinds() {
			if !k.Ranked() || g.x.src.Freqs != nil {
				opt.Kinds = append(opt.Kinds, k)
			}
		}
	}
	if opt.Queries == nil {
		if opt.Queries, err = drawQueries(g.x); err != nil {
			return nil, err
		}
	}
	var all []KindCosts
	for _, k := range opt.Kinds {
		found, err := g.calibrate(ctx, k, &opt)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	if g.costs != "" {
		err = g.book.Save(g.costs)
	}
	return all, err
}

// calibrate fits the models of a kind.
func (g *generation) calibrate(ctx context.Context, k cost.Kind, opt *CalibrateOptions) (KindCosts, error) {
	found := KindCosts{Kind: k}
	tasks, err := g.prepare(k, opt)
	defer func() {
		for _, t := range tasks {
			t.done(nil)
		}
	}()
	if err != nil {
		return found, err
	}
	var measured [][]time.Duration // by processor and query, 0 where it did not run
	var named []string
	for _, p := range g.processors {
		if slices.Contains(named, p.modelName()) { // equal devices have one model
			continue
		}
		named = append(named, p.modelName())
		if opt.Progress != nil {
			opt.Progress(p.name, k)
		}
		m := measurer{ctx: ctx, p: p, k: tasks[0].kind, tasks: tasks, time: opt.Time, w: g.x.workers.Get().(*worker)}
		alone, times, err := m.alone()
		var batches []cost.Sample
		if err == nil {
			batches, err = m.batches()
		}
		g.x.workers.Put(m.w)
		if err != nil {
			return found, fmt.Errorf("%s: %w", p.name, err)
		}
		fitted, err := p.models[k].Fit(alone, batches)
		if err != nil {
			return found, fmt.Errorf("%s, %s: %w", p.name, k, err)
		}
		found.Processors = append(found.Processors, ProcessorCosts{p.name, fitted})
		measured = append(measured, times)
	}
	for i := 1; i < len(measured); i++ {
		d, err := difference(tasks, measured[0], measured[i])
		if err != nil {
			return found, err
		}
		d.Slow, d.Fast = found.Processors[0].Processor, found.Processors[i].Processor
		found.Differences = append(found.Differences, d)
	}
	return found, nil
}

// prepare resolves the queries as queries of a kind. Those that match nothing without
// being run are left out.
func (g *generation) prepare(k cost.Kind, opt *CalibrateOptions) (tasks []*task, err error) {
	search, rank := SearchOptions{CountOnly: k == cost.Count, Any: k == cost.Formula}, RankOptions{K: opt.K}
	switch k {
	case cost.RankAnd:
		rank.Mode = And
	case cost.RankAndOr:
		rank.Mode = AndOr
	}
	var s scorer
	if k.Ranked() {
		if s, err = g.x.scorer(rank); err != nil {
			return nil, err
		}
	}
	for i, q := range opt.Queries {
		t := g.newTask()
		if k.Ranked() {
			err = t.rank(q, &s)
		} else {
			err = t.search(q, search)
		}
		if err != nil {
			t.done(nil)
			return tasks, &QueryError{i, err}
		}
		if t.describe(g.x.src); t.features.Terms == 0 {
			t.done(nil)
			continue
		}
		tasks = append(tasks, t)
	}
	if len(tasks) == 0 {
		return nil, errors.New("no query has a term that the index knows")
	}
	return tasks, nil
}

// difference compares what tasks took on two processors.
func difference(tasks []*task, slow, fast []time.Duration) (d Difference, err error) {
	var fs []cost.Features
	var ms []float64
	whole := 0.0
	for i, t := range tasks {
		if slow[i] == 0 || fast[i] == 0 {
			continue
		}
		more := (slow[i] - fast[i]).Seconds() * 1e3
		fs, ms = append(fs, t.features), append(ms, more)
		whole += slow[i].Seconds() * 1e3
		if more > 0 {
			d.Faster++
			d.Saved += more
		}
	}
	d.Queries = len(ms)
	d.Faster /= float64(len(ms))
	d.Saved /= whole
	for _, m := range cost.Metrics() {
		r, err := cost.Regress(m, fs, ms)
		if err != nil {
			return d, err
		}
		d.Regressions = append(d.Regressions, r)
	}
	return d, nil
}
