// Package calibrate measures queries on every processor of an index, alone and in batches, and
// fits the cost models that the scheduler uses.
package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Options of Run. The zero value is valid.
type Options struct {
	Queries  []query.Query // default: drawn from the index, of one to six terms
	Kinds    []cost.Kind   // kinds to fit; default: all kinds that the index can answer
	K        int           // documents of ranked queries; default: 10
	Time     time.Duration // time of the queries of a kind on a processor, alone and then again in batches; default: 2 s
	Progress func(processor, kind string)
}

// Run measures and fits, and writes the models to their file, if there is one. It needs the
// processors for itself: the work of other calls counts as costs. An error of a query is a
// *query.Error.
func Run(ctx context.Context, g *lists.Generation, opt Options) (all []observe.KindCosts, err error) {
	opt.K = cmp.Or(opt.K, 10)
	opt.Time = cmp.Or(opt.Time, 2*time.Second)
	if opt.Kinds == nil {
		for _, k := range cost.Kinds() {
			if !k.Ranked() || g.Source.Freqs != nil {
				opt.Kinds = append(opt.Kinds, k)
			}
		}
	}
	if opt.Queries == nil {
		if opt.Queries, err = draw(g); err != nil {
			return nil, err
		}
	}
	for _, k := range opt.Kinds {
		found, err := fit(ctx, g, k, &opt)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, g.SaveCosts()
}

// task is a resolved query.
type task struct {
	batch    *query.Batch // one query
	load     uint64
	lists    []plan.Handle
	features cost.Features
}

// fit fits the models of a kind.
func fit(ctx context.Context, g *lists.Generation, k cost.Kind, opt *Options) (observe.KindCosts, error) {
	found := observe.KindCosts{Kind: k.String()}
	kind, tasks, err := prepare(g, k, opt)
	defer func() {
		for _, t := range tasks {
			g.Put(t.batch)
		}
	}()
	if err != nil {
		return found, err
	}
	var measured [][]time.Duration // by processor and query, 0 where it did not run
	var named []string
	for _, at := range g.Targets() {
		if slices.Contains(named, at.Model) { // equal devices share a model
			continue
		}
		named = append(named, at.Model)
		name := at.Processor.Name
		if opt.Progress != nil {
			opt.Progress(name, k.String())
		}
		m := measurer{ctx: ctx, at: &at, kind: kind, tasks: tasks, time: opt.Time, batch: g.Batch()}
		alone, times, err := m.alone()
		var batches []cost.Sample
		if err == nil {
			batches, err = m.batches()
		}
		g.Put(m.batch)
		if err != nil {
			return found, fmt.Errorf("%s: %w", name, err)
		}
		fitted, err := at.Models[k].Fit(alone, batches)
		if err != nil {
			return found, fmt.Errorf("%s, %s: %w", name, k, err)
		}
		found.Processors = append(found.Processors, costsOf(name, fitted))
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

// optionsOf returns the options of queries of a kind.
func optionsOf(k cost.Kind, documents int) query.Options {
	switch k {
	case cost.Count:
		return query.Options{Match: querylang.AllTerms, CountOnly: true}
	case cost.Boolean:
		return query.Options{Match: querylang.AnyTerm}
	case cost.RankAnd:
		return query.Options{Match: querylang.AllTerms, K: documents}
	case cost.RankOr:
		return query.Options{Match: querylang.AnyTerm, K: documents}
	case cost.RankAndOr:
		return query.Options{Match: querylang.AllElseAny, K: documents}
	}
	return query.Options{Match: querylang.AllTerms}
}

// prepare resolves the queries as queries of a kind. It leaves out queries without lists.
func prepare(g *lists.Generation, k cost.Kind, opt *Options) (kind query.Kind, tasks []*task, err error) {
	var s query.Settings
	options := optionsOf(k, opt.K)
	if err := g.Settle(&s, &options); err != nil {
		return kind, nil, err
	}
	for i := range opt.Queries {
		q := opt.Queries[i]
		q.Options = options
		t := &task{batch: g.Batch()}
		t.batch.Reset(&s.Kind)
		if t.load, err = t.batch.Add(g.Index, &q, &s); err != nil {
			g.Put(t.batch)
			return kind, tasks, &query.Error{Query: i, Err: err}
		}
		t.lists = t.batch.AppendLists(nil, g.Source)
		if t.features = cost.Of(g.Source, t.lists); t.features.Terms == 0 {
			g.Put(t.batch)
			continue
		}
		tasks = append(tasks, t)
	}
	if len(tasks) == 0 {
		return kind, nil, errors.New("no query has a term that the index knows")
	}
	return s.Kind, tasks, nil
}

// difference compares the run times of tasks on two processors.
func difference(tasks []*task, slow, fast []time.Duration) (d observe.CostDifference, err error) {
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
		d.Regressions = append(d.Regressions, regression(&r))
	}
	return d, nil
}

// costsOf describes the model that was fitted for a processor.
func costsOf(processor string, c *cost.Calibration) observe.ProcessorCosts {
	p := observe.ProcessorCosts{Processor: processor, Queries: c.Samples, Batches: c.Batches, BatchError: c.BatchError, Best: c.Best().Metric.String()}
	for i := range c.Fits {
		f := &c.Fits[i]
		p.Fits = append(p.Fits, observe.CostFit{Regression: regression(&f.Regression), Linear: f.Linear, Corrected: f.Corrected})
	}
	return p
}

func regression(r *cost.Regression) observe.Regression {
	return observe.Regression{Metric: r.Metric.String(), Features: r.Metric.Names(), Queries: r.Samples, Intercept: r.Intercept,
		Coefficients: r.Coefficients, R2: r.R2, P: r.P, Ps: r.Ps}
}
