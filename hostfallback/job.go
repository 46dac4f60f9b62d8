package hostfallback

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
)

// task is a run of whole queries, or one of several parts of one query. The
// matches of all tasks, one after the other, are those of the batch.
type task struct {
	first, end  int // queries
	part, parts int // of query first; parts is 0 for whole queries
	worker      int // who ran it
	at, count   int // where its docIDs lie in that worker's output; how many match
}

// steps is the share that t has of n steps.
func (t *task) steps(n int) (from, to int) {
	if t.parts == 0 {
		return 0, n
	}
	return n * t.part / t.parts, n * (t.part + 1) / t.parts
}

// job is one batch on its way. It is reused from batch to batch.
type job struct {
	store   *store
	batch   *plan.MatchBatch
	out     *plan.Results
	done    <-chan struct{} // of the context
	tasks   []task
	workers []*worker

	next    atomic.Int64 // the first task that nobody took
	stopped atomic.Bool  // by an error or by the context
	mu      sync.Mutex
	err     error // the first
}

// taskLoad is the least work that is worth a task of its own, in candidates.
const taskLoad = 16 << 10

// queryLoad is what a query costs besides its candidates, in candidates.
const queryLoad = 64

// run answers b into out, which is empty.
func (j *job) run(ctx context.Context, s *store, b *plan.MatchBatch, out *plan.Results) error {
	j.store, j.batch, j.out, j.done, j.err = s, b, out, ctx.Done(), nil
	defer func() { j.store, j.batch, j.out, j.done = nil, nil, nil, nil }()
	j.next.Store(0)
	j.stopped.Store(false)
	j.cut()
	out.Offsets = slices.Grow(out.Offsets[:0], b.Queries()+1)[:b.Queries()+1]
	clear(out.Offsets)
	n := max(min(s.opt.Threads, len(j.tasks)), 1)
	for len(j.workers) < n {
		j.workers = append(j.workers, new(worker))
	}
	if n == 1 { // its output is the batch's
		w := j.workers[0]
		w.docs, out.Docs = out.Docs, w.docs
		j.work(0)
		w.docs, out.Docs = out.Docs, w.docs
	} else {
		var wg sync.WaitGroup
		for i := 1; i < n; i++ {
			wg.Go(func() { j.work(i) })
		}
		j.work(0)
		wg.Wait()
	}
	if j.stopped.Load() {
		if j.err != nil {
			return j.err
		}
		return ctx.Err()
	}
	j.gather(n > 1)
	return nil
}

// cut makes the tasks.
func (j *job) cut() {
	j.tasks = j.tasks[:0]
	s, b := j.store, j.batch
	queries := b.Queries()
	if s.opt.Threads == 1 {
		if queries > 0 {
			j.tasks = append(j.tasks, task{end: queries})
		}
		return
	}
	total := int(b.Candidates(s.src)) + queryLoad*queries
	grain := max(taskLoad, total/(16*s.opt.Threads))
	first, load := 0, 0
	flush := func(end int) {
		if end > first {
			j.tasks = append(j.tasks, task{first: first, end: end})
		}
		first, load = end, 0
	}
	for i := range queries {
		n := 0
		if q := b.Query(i); len(q) > 1 || len(q) == 1 && !b.CountOnly {
			n = int(s.src.Lists[q[0]].Len)
		}
		if n < 2*grain || b.Part {
			if load += n + queryLoad; load >= grain {
				flush(i + 1)
			}
			continue
		}
		flush(i)
		for p := range n / grain {
			j.tasks = append(j.tasks, task{first: i, end: i + 1, part: p, parts: n / grain})
		}
		first = i + 1
	}
	flush(queries)
}

// work takes tasks until there are none.
func (j *job) work(id int) {
	w := j.workers[id]
	w.docs = w.docs[:0]
	for !j.stopped.Load() {
		i := int(j.next.Add(1)) - 1
		if i >= len(j.tasks) {
			return
		}
		t := &j.tasks[i]
		t.worker, t.at, t.count = id, len(w.docs), 0
		for q := t.first; q < t.end && !j.stopped.Load(); q++ {
			count, err := w.query(j, q, t)
			if err != nil {
				j.mu.Lock()
				if j.err == nil {
					j.err = err
				}
				j.mu.Unlock()
				j.stopped.Store(true)
				return
			}
			t.count += count
			if t.parts == 0 {
				j.out.Offsets[q+1] = uint64(count)
			}
		}
	}
}

// cancelled tells whether the context is done, and stops the job if it is.
func (j *job) cancelled() bool {
	select {
	case <-j.done:
		j.stopped.Store(true)
		return true
	default:
		return false
	}
}

// gather turns counts into offsets and, with several workers, joins their
// outputs in the order of the tasks.
func (j *job) gather(join bool) {
	for i := range j.tasks {
		if t := &j.tasks[i]; t.parts > 0 {
			j.out.Offsets[t.first+1] += uint64(t.count)
		}
	}
	total := uint64(0)
	for i, n := range j.out.Offsets {
		total += n
		j.out.Offsets[i] = total
	}
	if !join || j.batch.CountOnly {
		return
	}
	j.out.Docs = slices.Grow(j.out.Docs[:0], int(total))
	for i := range j.tasks {
		t := &j.tasks[i]
		j.out.Docs = append(j.out.Docs, j.workers[t.worker].docs[t.at:t.at+t.count]...)
	}
}
