package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

const costKinds = int(cost.RankAndOr) + 1

// processor is a store that answers queries of a generation: lists on the host, on a
// device, on several that hold shards.
type processor struct {
	name   string
	why    string // lists lie there as they do
	host   bool
	info   plan.Info
	store  plan.Store
	lanes  int              // batches at a time
	cached plan.CachedStore // the store, where it brings lists in
	out    atomic.Bool      // of the scheduler: it runs nothing any more
	models [costKinds]*cost.Model
	// perQuery is what a query of a block took, by kind, in nanoseconds: a running mean.
	perQuery [costKinds]atomic.Uint64
	opt      *EngineOptions
	g        *generation

	on      []plan.Backend // where the lists are
	running sync.RWMutex   // held for reading by batches
	closed  bool           // under running: what comes now comes too late
}

func (g *generation) add(e *Engine, at placedStore, why string, on ...plan.Backend) {
	name := at.Info.Device
	for n := 2; slices.Contains(g.names, name); n++ {
		name = fmt.Sprintf("%s #%d", at.Info.Device, n)
	}
	g.names = append(g.names, name)
	p := &processor{name: name, why: why, host: at.Info.Kind == "host", info: at.Info, store: at.Store, cached: at.Cached, opt: &e.opt, g: g, on: on}
	if p.lanes = g.x.workerCount(); p.host {
		p.lanes = 2 // a batch has all threads; the second is prepared meanwhile
	}
	for k := range p.models {
		p.models[k] = g.book.Model(p.modelName(), cost.Kind(k))
	}
	g.processors = append(g.processors, p)
}

// modelName tells backends apart whose costs differ; equal devices learn together.
func (p *processor) modelName() string {
	if p.host {
		return cost.Host
	}
	return p.info.Device
}

// scheduled is the processor as the scheduler sees it.
func (p *processor) scheduled() schedule.Processor {
	s := schedule.Processor{Name: p.name, Host: p.host, Inline: p.host, Estimate: p.estimate, Start: p.start, Run: p.run,
		Threshold: func(kind any) uint64 { k := kind.(taskKind); return p.threshold(&k) }}
	if s.Lanes = p.lanes; p.host {
		s.Singles = max(p.info.ComputeUnits, 1)
	}
	return s
}

// threshold closes batches of a kind, by postings where they are ranked, else by
// candidates.
func (p *processor) threshold(k *taskKind) uint64 {
	if p.opt.Blocks > 0 {
		n := uint64(max(p.info.ComputeUnits, 1)) * workGroup * uint64(p.opt.Blocks)
		if k.ranked() {
			n *= DefaultBatchPostings / DefaultBatchCandidates
		}
		return n
	}
	if k.ranked() {
		return cmp.Or(p.opt.BatchPostings, p.info.BatchPostings, DefaultBatchPostings)
	}
	return cmp.Or(k.search.BatchCandidates, p.opt.BatchCandidates, p.info.Batch, DefaultBatchCandidates)
}

// workGroup is T of the computational threshold S·T·B.
const workGroup = 256

// features of a task as they are now; false where it cannot run.
func (p *processor) features(t *task) (f cost.Features, ok bool) {
	f, ok = t.features, true
	if p.cached != nil {
		f.Missing, ok = p.cached.Missing(t.lists, t.kind.ranked())
	}
	return f, ok
}

// estimate is schedule.Processor.Estimate.
func (p *processor) estimate(j *schedule.Job) (alone, added time.Duration, ok bool) {
	switch w := j.Work.(type) {
	case *task:
		f, ok := p.features(w)
		if !ok {
			return 0, 0, false
		}
		m := p.models[w.kind.cost]
		return m.Alone(&f), m.Added(&f), true
	case *block:
		n := time.Duration(p.perQuery[w.s.kind.cost].Load()) * time.Duration(len(w.queries))
		return n, n, true
	}
	return 0, 0, false
}

// start is schedule.Processor.Start.
func (p *processor) start(kind any) time.Duration { return p.models[kind.(taskKind).cost].Start() }

// run is schedule.Processor.Run.
func (p *processor) run(ctx context.Context, b *schedule.Batch) error {
	p.running.RLock()
	defer p.running.RUnlock()
	if p.closed {
		return plan.ErrClosed
	}
	if blk, ok := b.Jobs[0].Work.(*block); ok {
		return blk.run(ctx, p, b)
	}
	r := p.g.company.enter()
	defer p.g.company.leave()
	if first := b.Jobs[0].Work.(*task); p.host && len(b.Jobs) == 1 {
		return p.runOne(ctx, b, first, r)
	}
	return p.runTasks(ctx, b, r)
}

// runOne answers a query with the worker that it was resolved with. Elsewhere that would
// not do: a device that hangs might still write to it when another one answers.
func (p *processor) runOne(ctx context.Context, b *schedule.Batch, t *task, r run) error {
	f, k := t.features, t.kind // the task is somebody else's once it is claimed by another
	if err := k.answer(ctx, t.w, p.store); err != nil {
		return err
	}
	if b.Claim(0) {
		t.take(t.w, 0)
	}
	p.models[k.cost].Learn(&f, time.Since(r.began), p.g.company.alone(r))
	return nil
}

// runTasks answers queries as one batch.
func (p *processor) runTasks(ctx context.Context, b *schedule.Batch, r run) error {
	x, k := p.g.x, b.Jobs[0].Work.(*task).kind
	m := p.models[k.cost]
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	k.reset(x, w)
	var f cost.Features
	added, missing := time.Duration(0), uint64(0)
	for _, j := range b.Jobs {
		t := j.Work.(*task)
		w.adopt(&k, t.w)
		f, _ = p.features(t)
		added += m.Added(&f)
		missing += f.Missing
	}
	if err := k.answer(ctx, w, p.store); err != nil {
		return err
	}
	for i, j := range b.Jobs {
		if b.Claim(i) {
			t := j.Work.(*task)
			t.take(w, i)
			t.missing = missing
		}
	}
	if len(b.Jobs) == 1 {
		m.Learn(&f, time.Since(r.began), p.g.company.alone(r))
	} else {
		m.LearnBatch(added, time.Since(r.began))
	}
	return nil
}

// company tells runs that have all processors of a generation for themselves from others.
// While one hangs, none has. Below are those that run, above all that ever did, modulo
// 2^32.
type company struct{ state atomic.Uint64 }

// run is one from enter to leave.
type run struct {
	began time.Time
	nth   uint32
	first bool // none was running
}

func (c *company) enter() run {
	s := c.state.Add(1<<32 + 1)
	return run{nth: uint32(s >> 32), first: uint32(s) == 1, began: time.Now()}
}

func (c *company) leave() { c.state.Add(^uint64(0)) }

// alone says whether nothing ran beside r, which has not left.
func (c *company) alone(r run) bool { return r.first && uint32(c.state.Load()>>32) == r.nth }

// searchKind and rankKind say which queries of calls may share a batch.
func searchKind(x *Index, opt SearchOptions) taskKind {
	k := taskKind{cost: cost.And, search: opt}
	if opt.Any {
		k.cost = cost.Formula
	} else if opt.CountOnly {
		k.cost = cost.Count
	}
	if k.search.Algorithm == plan.Auto {
		k.search.Algorithm = x.opt.Algorithm
	}
	return k
}

func rankKind(s *scorer) taskKind {
	k := taskKind{cost: cost.RankOr, mode: s.opt.Mode, k: s.opt.K, norm: s.norm, acc: s.opt.Accumulators}
	switch s.opt.Mode {
	case And:
		k.cost = cost.RankAnd
	case AndOr:
		k.cost = cost.RankAndOr
	}
	return k
}
