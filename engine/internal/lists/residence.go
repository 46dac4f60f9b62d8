package lists

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/placement"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

const costKinds = int(cost.RankAndOr) + 1

// Defaults of the load that closes a batch, for backends without a preference
// (plan.Info.Batch and plan.Info.BatchPostings).
const (
	DefaultBatchCandidates = 1 << 20
	DefaultBatchPostings   = 1 << 26
)

// workGroup is T of the computational threshold S·T·B (Wu et al. 2010, section V.B.1).
const workGroup = 256

// residence is the lists of a generation on a processor.
type residence struct {
	pool.Residence
	p      *pool.Processor
	g      *Generation
	info   plan.Info // description of the backend; for shards, of all devices together
	store  plan.Store
	models [costKinds]func() *cost.Model // made at the first query of their kind: each takes 23 KiB
	// filtered are the models of queries with a filter, which learn on their own.
	filtered [costKinds]func() *cost.Model
	// perQuery is the time of a query in a block, by kind, in nanoseconds: a running mean.
	perQuery [costKinds]atomic.Uint64
}

func (g *Generation) add(s placement.Store, why string, on ...*pool.Processor) {
	p := on[0]
	r := &residence{Residence: pool.Residence{On: on, Store: s.Store, Why: why, Cached: s.Cached}, p: p, g: g, info: s.Info, store: s.Store}
	name := p.Model()
	if !p.Host {
		name = s.Info.Device
	}
	for k := range r.models {
		r.models[k] = sync.OnceValue(func() *cost.Model { return g.book.Model(name, cost.Kind(k)) })
		r.filtered[k] = sync.OnceValue(func() *cost.Model { return r.models[k]().Copy() })
	}
	r.Probe = r.probe
	g.at[p.Index] = r
	g.pool.Hold(&r.Residence)
}

// probe looks up a short list and compares its length.
func (r *residence) probe(ctx context.Context) error {
	src, h := r.g.Source, plan.Handle(0)
	for i := range plan.Handle(min(len(src.Lists), 1024)) {
		src.Describe(i)
		if n, best := src.Lists[i].Len, src.Lists[h].Len; n > 0 && (best == 0 || n < best) {
			h = i
		}
	}
	if len(src.Lists) == 0 {
		return nil
	}
	var b plan.MatchBatch
	var out plan.Results
	b.Add(src, h)
	if err := r.store.Match(ctx, &b, &out); err != nil {
		return err
	}
	if n := uint64(src.Lists[h].Len); out.Count(0) != n {
		return fmt.Errorf("%s: probe: list %d has %d documents, want %d", r.p.Name, h, out.Count(0), n)
	}
	return nil
}

// threshold is the load that closes batches of a kind: postings of ranked queries, else
// docIDs to read. own takes precedence unless it is 0.
func (r *residence) threshold(k *query.Kind, own uint64) uint64 {
	opt := &r.g.x.opt
	if opt.Blocks > 0 {
		n := uint64(max(r.info.ComputeUnits, 1)) * workGroup * uint64(opt.Blocks)
		if k.Ranked() {
			n *= DefaultBatchPostings / DefaultBatchCandidates
		}
		return n
	}
	if k.Ranked() {
		return cmp.Or(own, opt.BatchPostings, r.info.BatchPostings, DefaultBatchPostings)
	}
	return cmp.Or(own, opt.BatchCandidates, r.info.Batch, DefaultBatchCandidates)
}

// features returns the features of a task as they are now; false if it cannot run here.
func (r *residence) features(t *task) (f cost.Features, ok bool) {
	f, ok = t.features, !t.kind.filtered || r.info.Filters
	if r.Cached != nil && ok {
		f.Missing, ok = r.Cached.Missing(t.lists, t.kind.Ranked())
	}
	return f, ok
}

// batchKey is the kind of the jobs of an index. It implements pool.BatchKey.
type batchKey struct {
	query.Kind
	g    *Generation
	cost cost.Kind
	load uint64 // load that closes a batch; 0: the processor decides

	filtered bool // the query has a filter
}

// mostKeys is the number of keys that a Generation keeps.
const mostKeys = 1 << 10

// keyOf returns a pointer to k, the same for equal keys: the scheduler compares keys often.
func (g *Generation) keyOf(k batchKey) *batchKey {
	g.keysMu.Lock()
	defer g.keysMu.Unlock()
	p := g.keys[k]
	if p == nil {
		if len(g.keys) >= mostKeys {
			clear(g.keys) // equal jobs of before and after do not share a batch
		}
		p = &k
		g.keys[k] = p
	}
	return p
}

// model returns the costs of queries of a kind.
func (r *residence) model(k *batchKey) *cost.Model {
	if k.filtered {
		return r.filtered[k.cost]()
	}
	return r.models[k.cost]()
}

// Threshold implements pool.BatchKey.
func (k batchKey) Threshold(p int) uint64 {
	if r := k.g.at[p]; r != nil {
		return r.threshold(&k.Kind, k.load)
	}
	return 1
}

// Start implements pool.BatchKey.
func (k batchKey) Start(p int) time.Duration {
	if r := k.g.at[p]; r != nil {
		return r.model(&k).Start()
	}
	return 0
}
