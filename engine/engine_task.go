package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/resultcache"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// task is a query of an Engine on its way: resolved, then scheduled, then answered. It
// belongs to the goroutine of the call, but for what batches read of it (worker) and
// write into it once they have claimed its job (answer, stats).
type task struct {
	job  schedule.Job
	g    *generation
	w    *worker // one query
	kind taskKind

	lists    []plan.Handle // of the query, ascending by length
	features cost.Features

	docs    []uint32
	scores  []float64
	count   uint64
	stats   plan.Stats
	missing uint64 // bytes that its batch had to bring in

	key  resultcache.Key
	told observe.Explanation // the explanation
}

// cachedAnswer is an answer in the cache of answers. Its slices are never written to.
type cachedAnswer struct {
	docs   []uint32
	scores []float64
	count  uint64
}

// bytes is what the answer takes, about.
func (a *cachedAnswer) bytes() uint64 { return 64 + 4*uint64(len(a.docs)) + 8*uint64(len(a.scores)) }

// key of the worker's only query, over the memory of one before.
func (k *taskKind) key(key resultcache.Key, g *generation, w *worker) resultcache.Key {
	switch {
	case k.ranked():
		return key.Rank(g.key, resultcache.Ranked{Mode: uint8(k.mode), K: k.k, Norm: k.norm, Scale: w.scales[0], Missing: k.mode == AndOr && w.missing[0]}, w.ranks.Query(0))
	case len(w.batch.Ops) > 0:
		return key.Formula(g.key, w.batch.Ops, k.search.CountOnly)
	}
	return key.And(g.key, w.batch.Query(0), k.search.CountOnly)
}

// taskKind is what queries of a batch have in common.
type taskKind struct {
	cost   cost.Kind
	search SearchOptions // of what is not ranked
	mode   Mode          // of what is, and
	k      int
	norm   plan.Norm
	acc    plan.Accumulators
}

func (k *taskKind) ranked() bool { return k.cost >= cost.RankAnd }

// reset readies a worker for queries of the kind.
func (k *taskKind) reset(x *Index, w *worker) {
	if k.ranked() {
		w.resetRanked(&scorer{opt: RankOptions{Mode: k.mode, K: k.k, Accumulators: k.acc}, norm: k.norm})
		return
	}
	w.reset(x, k.search)
}

// adopt appends the only query of one, which is of the same kind.
func (w *worker) adopt(k *taskKind, one *worker) {
	if k.ranked() {
		w.ranks.AddOrdered(one.ranks.Query(0))
		w.missing, w.scales = append(w.missing, one.missing[0]), append(w.scales, one.scales[0])
		return
	}
	w.batch.Append(&one.batch, 0)
}

// answer runs the worker's queries on s.
func (k *taskKind) answer(ctx context.Context, w *worker, s plan.Store) error {
	if k.ranked() {
		return w.rank(ctx, s)
	}
	return w.run(ctx, s)
}

// take copies what query i of the worker got.
func (t *task) take(w *worker, i int) {
	if t.kind.ranked() {
		docs, scores := w.rankings.Query(i)
		t.docs = append(make([]uint32, 0, len(docs)), docs...) // not nil where nothing was found
		t.scores = append(make([]float64, 0, len(scores)), scores...)
		t.stats = w.rankings.Stats
		return
	}
	t.count, t.stats = w.results.Count(i), w.results.Stats
	if !t.kind.search.CountOnly {
		t.docs = append(make([]uint32, 0, t.count), w.results.Query(i)...)
	}
}

var tasks = sync.Pool{New: func() any { return new(task) }}

// newTask is an empty task of g for a call.
func (g *generation) newTask() *task {
	t := tasks.Get().(*task)
	t.g, t.w = g, g.x.workers.Get().(*worker)
	t.lists, t.job.Trace.Attempts = t.lists[:0], 0
	return t
}

// done gives the task back, unless a batch that was abandoned may still look at it.
func (t *task) done(err error) {
	if n := t.job.Trace.Attempts; n > 1 || n == 1 && err != nil {
		return
	}
	t.g.x.workers.Put(t.w)
	t.g, t.w, t.docs, t.scores = nil, nil, nil, nil
	t.count, t.missing, t.stats = 0, 0, plan.Stats{}
	tasks.Put(t)
}

// search resolves a query that is not to be ranked.
func (t *task) search(q Query, opt SearchOptions) (err error) {
	x := t.g.x
	t.kind = searchKind(x, opt)
	t.kind.reset(x, t.w)
	t.job.Load, err = x.add(t.w, q)
	if len(t.w.batch.Ops) > 0 {
		t.kind.cost = cost.Formula
	}
	return err
}

// rank resolves a query that is.
func (t *task) rank(q Query, s *scorer) (err error) {
	t.kind = rankKind(s)
	t.kind.reset(t.g.x, t.w)
	t.job.Load, err = t.g.x.addRanked(t.w, s, q)
	return err
}

// describe notes what the estimates of a resolved query are made from.
func (t *task) describe(src *plan.Source) {
	switch {
	case t.kind.ranked():
		t.lists = t.w.ranks.AppendLists(t.lists, 0)
	case len(t.w.batch.Ops) > 0:
		t.lists = t.w.batch.AppendLists(t.lists, 0)
		slices.SortFunc(t.lists, func(a, b plan.Handle) int { return plan.ByLength(src, a, b) })
		t.lists = slices.Compact(t.lists)
	default:
		t.lists = append(t.lists, t.w.batch.Query(0)...)
	}
	t.features = cost.Of(src, t.lists)
}

// run answers the resolved query, and tells whoever wants to know.
func (t *task) run(ctx context.Context, e *Engine, call Call) error {
	if e.opt.Observer == nil && call.Explain == nil {
		_, err := t.answer(ctx, e, call)
		return err
	}
	began := time.Now()
	cached, err := t.answer(ctx, e, call)
	q := &t.told
	*q = observe.Explanation{Kind: t.kind.cost.String(), Queries: 1, Outcome: outcomeOf(err), Err: err, Cached: cached,
		Took: time.Since(began), Processors: t.g.names, Missing: t.missing, Stats: t.stats}
	if cached {
		setTrace(q, &schedule.Trace{Arrived: began})
	} else {
		setTrace(q, &t.job.Trace)
	}
	e.explain(ctx, call, q)
	return err
}

// answer takes the answer from the cache of answers, or else from a processor.
func (t *task) answer(ctx context.Context, e *Engine, call Call) (cached bool, err error) {
	t.describe(t.g.x.src)
	fresh := e.results == nil || call.Fresh
	if !fresh {
		t.key = t.kind.key(t.key, t.g, t.w)
		if a, ok := e.results.Get(t.key); ok {
			t.docs, t.scores, t.count = slices.Clone(a.docs), slices.Clone(a.scores), a.count
			return true, nil
		}
	}
	err = t.do(ctx, e, call)
	if err == nil && !fresh {
		a := &cachedAnswer{t.docs, t.scores, t.count}
		if e.results.Takes(t.key, a.bytes()) { // else it is not kept, only counted
			a.docs, a.scores = slices.Clone(a.docs), slices.Clone(a.scores)
		}
		e.results.Put(t.key, a, a.bytes())
	}
	return false, err
}

// do schedules the task and waits for its answer.
func (t *task) do(ctx context.Context, e *Engine, call Call) error {
	j := &t.job
	j.Work, j.Caller, j.Mode = t, call.Caller, call.Mode
	if k, ok := j.Kind.(taskKind); !ok || k != t.kind { // boxing it allocates
		j.Kind = t.kind
	}
	j.Deadline = e.deadline(ctx, call)
	return t.g.sched.Do(ctx, j)
}

// explain tells the observer, and the caller where he wants to know.
func (e *Engine) explain(ctx context.Context, call Call, q *observe.Explanation) {
	if call.Explain != nil {
		*call.Explain = *q
		call.Explain.Estimates = slices.Clone(q.Estimates) // the task is used again
	}
	if e.opt.Observer != nil {
		e.opt.Observer.Answered(ctx, q)
	}
}

// deadline of a query that arrives now.
func (e *Engine) deadline(ctx context.Context, call Call) time.Time {
	at, _ := ctx.Deadline() // zero without
	timeout := call.Timeout
	if timeout == 0 {
		timeout = e.opt.Timeout
	}
	if timeout > 0 {
		if own := time.Now().Add(timeout); at.IsZero() || own.Before(at) {
			at = own
		}
	}
	return at
}
