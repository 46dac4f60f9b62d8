package lists

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/resultcache"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Call names the caller of a query and how it runs. The zero value is valid.
type Call struct {
	pool.Call
	Processor string // name of the only processor that may answer; empty: any. Only Search heeds it.
	Fresh     bool   // bypasses the result cache
	Load      uint64 // load that closes a batch; 0: the processor decides
	// Docs and Scores are memory for the answer of Search.
	Docs   []uint32
	Scores []float64
}

// task is one query: resolved, then scheduled, then answered. It belongs to the goroutine of
// the call, except that batches read its query and, once they have claimed its job, write
// its answer.
type task struct {
	job  schedule.Job
	g    *Generation
	b    *query.Batch // one query; nil: a conjunction of lists, without a filter
	kind *batchKey    // of the last query; nil: there was none
	set  query.Settings

	only       string         // processor that may answer; empty: any
	memory     Answer         // its slices are memory for the answer
	lists      []plan.Handle  // lists of the query, by ascending length
	few        [6]plan.Handle // memory of lists
	features   cost.Features
	cached     bool // the filter was made before
	wantsStats bool // stats are wanted

	Answer
	in      *sharedBatch // has the answer at nth, until the caller copies it; nil: copied
	nth     int
	stats   plan.Stats
	missing uint64 // bytes of lists that its batch had to load

	key         resultcache.Key
	explanation observe.Explanation
}

// Answer is the answer of a query: see query.Batch.Hits, Unit and Total. In the result cache its slices
// are never written.
type Answer struct {
	Count  uint64
	Docs   []uint32
	Scores []float64
	Unit   float64
	Total  plan.Total
	// First tells that Docs have the first documents of the order of query.Query.Sorter, and not all Count documents.
	First bool
}

// bytes estimates the memory of a.
func (a *Answer) bytes() uint64 { return 64 + 4*uint64(len(a.Docs)) + 8*uint64(len(a.Scores)) }

// newTask returns an empty task.
func (g *Generation) newTask() *task {
	t, _ := g.tasks.Get().(*task)
	if t == nil {
		t = &task{g: g}
		t.lists = t.few[:]
	}
	if t.b == nil {
		t.b = g.Batch()
	}
	t.lists, t.job.Trace.Attempts = t.lists[:0], 0
	return t
}

// done gives the task back, unless a batch that was given up may still read it.
func (t *task) done(err error) {
	if n := t.job.Trace.Attempts; n > 1 || n == 1 && err != nil {
		return
	}
	t.Answer, t.memory, t.missing = Answer{}, Answer{}, 0
	t.g.tasks.Put(t)
}

// Search answers one query, which it gives back. The caller owns the slices.
func (g *Generation) Search(ctx context.Context, q *query.Query, call *Call) (a Answer, err error) {
	q.Until = g.pool.Until(ctx, &call.Call)
	t := g.newTask()
	t.job.Deadline, t.only = q.Until.Deadline, call.Processor
	t.memory.Docs, t.memory.Scores = call.Docs, call.Scores
	err = t.analyse(q, call)
	q.Put()
	if err != nil {
		t.done(nil)
		return
	}
	if err = t.run(ctx, call); err != nil {
		t.done(err)
		return
	}
	a = t.Answer
	t.done(nil)
	return
}

// resolve turns the query into a batch of one.
func (t *task) resolve(q *query.Query, load uint64) (err error) {
	set := &t.set
	if t.kind == nil || set.Options != q.Options || q.Scoring != nil || q.Statistics != nil { // what they point to may differ
		if err = t.g.Settle(set, &q.Options); err != nil {
			t.kind = nil
			return err
		}
	}
	t.b.Reset(&set.Kind)
	if t.job.Load, err = t.b.Add(t.g.Index, q, set); err != nil {
		return err
	}
	k := batchKey{set.Kind, t.g, t.b.Cost(), load, q.Filter != nil}
	if t.kind == nil || *t.kind != k {
		t.kind = t.g.keyOf(k)
	}
	return nil
}

// describe sets lists and features.
func (t *task) describe() {
	t.lists = t.b.AppendLists(t.lists, t.g.Source)
	t.features = cost.Of(t.g.Source, t.lists)
	if f := t.filter(); f != nil {
		t.cached = f.made()
		if n, ok := f.Count(); ok {
			t.features.Restrict(t.kind.cost, uint64(n), uint64(t.g.Source.Docs))
		}
	}
}

// run answers the resolved query and reports it.
func (t *task) run(ctx context.Context, call *Call) error {
	if !t.g.pool.Observed() && call.Explain == nil {
		_, err := t.find(ctx, call)
		return err
	}
	began := time.Now()
	t.wantsStats, t.stats = true, plan.Stats{}
	cached, err := t.find(ctx, call)
	t.wantsStats = false
	q := &t.explanation
	*q = observe.Explanation{Filter: t.restriction(cached), Kind: t.kind.cost.String(), Queries: 1, Cached: cached, Missing: t.missing, Took: time.Since(began), Stats: t.stats, Err: err}
	trace := &t.job.Trace
	if cached {
		trace = &schedule.Trace{Arrived: began}
	}
	t.g.pool.Report(ctx, call.Explain, q, trace)
	return err
}

// find takes the answer from the result cache, or else from a processor.
func (t *task) find(ctx context.Context, call *Call) (cached bool, err error) {
	t.describe()
	results := t.g.shared.results
	fresh := results == nil || call.Fresh
	if !fresh {
		t.key = t.b.Key(t.key, t.g.key)
		if a, ok := results.Get(t.key); ok {
			t.Count, t.Unit, t.Total = a.Count, a.Unit, a.Total
			t.copy(a.Docs, a.Scores)
			return true, nil
		}
	}
	if t.b.Conjunction() && !t.kind.filtered && t.g.pool.Busy() {
		t.g.Put(t.b) // t.lists are the whole query: the next query of this core may reuse the batch, which is in its cache
		t.b = nil
	}
	err = t.do(ctx, call)
	if err == nil && !fresh {
		a := t.Answer
		if results.Takes(t.key, a.bytes()) { // else it is only counted
			a.Docs, a.Scores = slices.Clone(a.Docs), slices.Clone(a.Scores)
		}
		results.Put(t.key, &a, a.bytes())
	}
	return false, err
}

// sharedBatch is a batch that answers tasks of several callers. Each caller copies its answer on its own core.
type sharedBatch struct {
	*query.Batch
	g     *Generation
	users atomic.Int32 // callers that have not copied their answers, plus 1 while the processor uses the batch
}

var sharedBatches = sync.Pool{New: func() any { return new(sharedBatch) }}

// join returns an empty batch.
func (g *Generation) join(k *batchKey) *sharedBatch {
	all := sharedBatches.Get().(*sharedBatch)
	all.Batch, all.g = g.Batch(), g
	all.users.Store(1)
	all.Reset(&k.Kind)
	all.Borrow() // the callers copy soon
	return all
}

// leave gives the batch back when nothing is left to copy.
func (all *sharedBatch) leave() {
	if all.users.Add(-1) == 0 {
		all.Return()
		all.g.Put(all.Batch)
		all.Batch, all.g = nil, nil
		sharedBatches.Put(all)
	}
}

// do schedules the task and waits for its answer.
func (t *task) do(ctx context.Context, call *Call) error {
	j := &t.job
	j.Work, j.Kind, j.Caller, j.Mode = t, t.kind, call.Caller, call.Mode
	if err := t.g.pool.Do(ctx, j); err != nil {
		return err
	}
	if all := t.in; all != nil {
		t.take(all.Batch, t.nth)
		t.in = nil
		all.leave()
	}
	return nil
}

// Estimate implements pool.Work.
func (t *task) Estimate(p int) (alone, added time.Duration, ok bool) {
	r := t.g.at[p]
	if r == nil || t.only != "" && t.only != r.p.Name {
		return 0, 0, false
	}
	f, ok := r.features(t)
	if !ok {
		return 0, 0, false
	}
	m, more := r.model(t.kind), time.Duration(0)
	if t.kind.filtered {
		more = t.filter().estimate(p)
	}
	alone, added = m.Times(&f)
	return alone + more, added + more, true
}

// take copies the answer of query i of a batch.
func (t *task) take(b *query.Batch, i int) {
	count, docs, scores := b.Hits(i)
	t.Count, t.Unit, t.Total, t.First = count, b.Unit(i), b.Total(i), b.First(i) != nil
	if t.wantsStats {
		t.stats = *b.Stats()
	}
	t.copy(docs, scores)
}

// copy sets the slices of the answer, in the memory of the call where it is large enough.
func (t *task) copy(docs []uint32, scores []float64) {
	if !t.kind.CountOnly {
		t.Docs = copied(t.memory.Docs, docs)
	}
	if t.kind.Ranked() {
		t.Scores = copied(t.memory.Scores, scores)
	}
}

// copied returns a copy of from, not nil, in memory if it has room.
func copied[T any](memory, from []T) []T {
	if cap(memory) < len(from) || memory == nil {
		memory = make([]T, 0, len(from))
	}
	return append(memory[:0], from...)
}

// Run implements pool.Work.
func (t *task) Run(ctx context.Context, p int, b *schedule.Batch) error {
	k := b.Jobs[0].Kind.(*batchKey)
	r := k.g.at[p]
	run, err := r.Begin()
	if err != nil {
		return err
	}
	defer run.End()
	if r.p.Host && len(b.Jobs) == 1 {
		return r.runOne(ctx, b, t, &run)
	}
	return r.runTasks(ctx, b, k, &run)
}

// runOne answers a query with the batch that resolved it. Devices do not: one that hangs
// might still write to the batch when another processor answers.
func (r *residence) runOne(ctx context.Context, b *schedule.Batch, t *task, run *pool.Run) error {
	f, kind, one := t.features, t.kind, t.b // once claimed elsewhere, the task may have a new owner
	began, sampled := time.Time{}, run.Sampled(b.Estimate)
	if sampled {
		began = time.Now()
	}
	if one == nil {
		one = r.g.Batch()
		defer r.g.Put(one)
		one.Reset(&kind.Kind)
		one.AddLists(t.lists)
	}
	one.Threads = r.threads(b)
	if err := one.Run(ctx, r.store, r.p.Index); err != nil {
		return err
	}
	if b.Claim(0) {
		t.take(one, 0)
	}
	if sampled {
		r.model(kind).Learn(&f, time.Since(began), !b.Narrow && run.Alone())
	}
	return nil
}

// threads is query.Batch.Threads of a batch.
func (r *residence) threads(b *schedule.Batch) int {
	if r.p.Host {
		return cmp.Or(b.Threads, r.p.Info.ComputeUnits)
	}
	return b.Threads
}

// runTasks answers queries as one batch.
func (r *residence) runTasks(ctx context.Context, b *schedule.Batch, k *batchKey, run *pool.Run) error {
	began, m, all := time.Now(), r.model(k), r.g.join(k)
	defer all.leave()
	var f cost.Features
	added, longest, missing := b.Added, time.Duration(0), uint64(0)
	again := r.p.Host || r.Cached != nil || k.filtered || len(b.Jobs) == 1 // more than the sum is wanted, or it may have changed
	if again {
		added = 0
	}
	for _, j := range b.Jobs {
		t := j.Work.(*task)
		if t.b == nil {
			all.AddLists(t.lists)
		} else {
			all.Adopt(t.b)
		}
		if !again {
			continue
		}
		f, _ = r.features(t)
		added, missing = added+m.Added(&f), missing+f.Missing
		if r.p.Host {
			longest = max(longest, m.Alone(&f))
		}
	}
	all.Threads = r.threads(b)
	entered := time.Now()
	if err := all.Run(ctx, r.store, r.p.Index); err != nil {
		return err
	}
	b.Inside = time.Since(entered)
	users := int32(0)
	for i, j := range b.Jobs {
		if b.Claim(i) {
			t := j.Work.(*task)
			users++
			t.in, t.nth, t.missing = all, i, missing
		}
	}
	all.users.Add(users)
	switch took := r.p.Took(began); {
	case len(b.Jobs) == 1:
		m.Learn(&f, time.Since(began), run.Alone())
	case r.busy(b, m.Start()+added, longest):
		m.LearnBatch(added, took)
	}
	return nil
}

// busy tells whether a batch keeps its processor busy to the end, so that its time is the sum of the
// times that its queries add. Cores of a host idle if the batch has a bound of threads, or if the
// longest query takes more time alone than the estimate of the batch.
func (r *residence) busy(b *schedule.Batch, estimate, longest time.Duration) bool {
	return !r.p.Host || (b.Threads == 0 || b.Threads == r.p.Info.ComputeUnits) && estimate >= longest
}
