package match

import (
	"context"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/work"
)

// task is a sequence of whole queries, or one of several parts of one query. The matches
// of all tasks, one after another, are the matches of the batch.
type task struct {
	first, end      int // queries first to end-1 of the batch
	part, parts     int // part 0 to parts-1 of query first; parts is 0 for whole queries
	worker          int // the worker that has run the task
	docsAt, docsLen int // position and number of its docIDs in the output of the worker
}

// steps returns the range of the n steps of a query that belongs to t.
func (t *task) steps(n int) (from, to int) {
	if t.parts == 0 {
		return 0, n
	}
	return n * t.part / t.parts, n * (t.part + 1) / t.parts
}

// batch is one running call of Match, reused from call to call.
type batch struct {
	*Matcher
	ctx        context.Context
	queries    *plan.MatchBatch
	out        *plan.Results
	filters    []*filter.Set // by query, nil for none; empty if no query has one
	threads    int
	tasks      []task
	workers    []*worker
	task       func(w, i int) error
	decoded    uint64 // number of decoded blocks
	candidates uint64 // see plan.MatchBatch.Candidates
}

// A load is an estimate of work. Its unit is the look-up of one candidate of a conjunction.
const (
	taskLoad  = 16 << 10 // the least load for which a further task saves time
	queryLoad = 64       // the fixed load of a conjunction
	listLoad  = 32       // the fixed load of each list of an expression
	readCheap = 4        // docIDs that an expression reads in the time of one candidate
)

// run answers the queries of b into out, which is empty.
func (j *batch) run(ctx context.Context, m *Matcher, b *plan.MatchBatch, out *plan.Results) error {
	j.Matcher, j.ctx, j.queries, j.out, j.decoded, j.candidates = m, ctx, b, out, 0, 0
	defer func() { j.ctx, j.queries, j.out = nil, nil, nil }()
	if j.task == nil {
		j.task = j.answer
	}
	if err := j.split(); err != nil {
		return err
	}
	out.Offsets = slices.Grow(out.Offsets[:0], b.Queries()+1)[:b.Queries()+1]
	out.Offsets[0] = 0 // each task sets the others
	n := max(min(j.threads, len(j.tasks)), 1)
	for len(j.workers) < n {
		j.workers = append(j.workers, new(worker))
	}
	for _, w := range j.workers[:n] {
		w.docs = w.docs[:0]
		w.candidates = 0
		w.decoded() // drops the count of a call that failed
	}
	if n == 1 { // the worker appends to the docIDs of the batch
		w := j.workers[0]
		w.docs, out.Docs = out.Docs, w.docs
		defer func() { w.docs, out.Docs = out.Docs, w.docs }()
	}
	if err := work.Parallel(ctx, n, len(j.tasks), j.task); err != nil {
		return err
	}
	j.gather(n > 1)
	for _, w := range j.workers[:n] {
		j.decoded += w.decoded()
		j.candidates += w.candidates
	}
	return nil
}

// load estimates the load of query i: steps is the part that can be divided among tasks, fixed the
// part that every task repeats.
func (j *batch) load(i int) (steps, fixed int) {
	if ops := j.queries.Expression(i); len(ops) > 0 {
		return int(j.queries.Load(j.src, i) / readCheap), listLoad * (len(ops) + 1) / 2
	}
	f := j.filter(i)
	if q := j.queries.Query(i); len(q) > 1 || len(q) == 1 && (f != nil || !j.queries.CountOnly) {
		steps = int(j.src.Lists[q[0]].Len)
		if f != nil && j.seeks(q, f) {
			steps = len(f.Docs)
		}
	}
	return steps, queryLoad
}

// filter returns the filter of query i, nil for none.
func (j *batch) filter(i int) *filter.Set {
	if len(j.filters) == 0 {
		return nil
	}
	return j.filters[i]
}

// seeks tells whether the lists of a conjunction are searched for the documents of its filter:
// they are fewer than the documents of the shortest list.
func (m *Matcher) seeks(lists []plan.Handle, f *filter.Set) bool {
	return f.Docs != nil && len(f.Docs) < int(m.src.Lists[lists[0]].Len)
}

// split divides the queries into tasks, and sets the number of threads. A batch with Part keeps conjunctions whole.
// Each task checks its queries; the division among several threads needs valid queries.
func (j *batch) split() error {
	j.tasks = j.tasks[:0]
	j.threads = work.Threads(j.Matcher.threads, j.queries.Threads)
	queries := j.queries.Queries()
	if j.threads == 1 {
		if queries > 0 {
			j.tasks = append(j.tasks, task{end: queries})
		}
		return nil
	}
	if err := j.queries.Validate(j.src); err != nil {
		return err
	}
	total := 0
	for i := range queries {
		steps, fixed := j.load(i)
		total += steps + fixed
	}
	grain := int(work.Grain(taskLoad, uint64(total), j.threads))
	first, load := 0, 0
	flush := func(end int) {
		if end > first {
			j.tasks = append(j.tasks, task{first: first, end: end})
		}
		first, load = end, 0
	}
	for i := range queries {
		steps, fixed := j.load(i)
		parts := steps / max(grain, fixed)
		if len(j.queries.Expression(i)) > 0 {
			parts = min(parts, chunks(j.src.Docs))
		} else if j.queries.Part {
			parts = 1
		}
		if parts < 2 {
			if load += steps + fixed; load >= grain {
				flush(i + 1)
			}
			continue
		}
		flush(i)
		for p := range parts {
			j.tasks = append(j.tasks, task{first: i, end: i + 1, part: p, parts: parts})
		}
		first = i + 1
	}
	flush(queries)
	return nil
}

// endedStep is the number of queries from one check of the context to the next. A long query
// also checks it while it runs.
const endedStep = 64

// answer runs task i on worker id.
func (j *batch) answer(id, i int) error {
	w, t := j.workers[id], &j.tasks[i]
	t.worker, t.docsAt, t.docsLen = id, len(w.docs), 0
	for q := t.first; q < t.end; q += endedStep {
		if err := j.ended(); err != nil {
			return err
		}
		if err := w.answer(j, t, q, min(q+endedStep, t.end)); err != nil {
			return err
		}
	}
	return nil
}

// answer checks and answers the queries from q to end-1 of t.
func (w *worker) answer(j *batch, t *task, q, end int) error {
	pairs := j.queries.Algorithm == plan.Auto && len(j.filters) == 0 && t.parts == 0 && len(j.queries.OpOffsets) == 0
	totals := j.out.Offsets[1:]
	for ; q < end; q++ {
		if pairs {
			if q += w.pairs(j, t, totals[q:end], q); q == end {
				break
			}
		}
		candidates, err := j.queries.Check(j.src, q, q+1)
		if err != nil {
			return err
		}
		count := 0
		if ops := j.queries.Expression(q); len(ops) > 0 {
			count, err = w.expression(j, ops, t, j.filter(q))
		} else {
			count, err = w.conjunction(j, j.queries.Query(q), t, j.filter(q))
		}
		if err != nil {
			return err
		}
		t.docsLen += count
		if t.part == 0 {
			w.candidates += candidates
		}
		if t.parts == 0 {
			totals[q] = uint64(t.docsLen)
		}
	}
	return nil
}

// pairs answers queries from q on with Auxiliary.Pairs, up to the first one that it cannot answer,
// and returns the number of answered queries.
func (w *worker) pairs(j *batch, t *task, totals []uint64, q int) int {
	p := &w.pairAnswers
	p.WithDocs, p.Docs, p.Count, p.Candidates = !j.queries.CountOnly, w.docs, t.docsLen, w.candidates
	n := j.aux.Pairs(totals, j.queries.Offsets[q:], j.queries.Handles, p)
	w.docs, t.docsLen, w.candidates, p.Docs = p.Docs, p.Count, p.Candidates, nil
	return n
}

// ended returns the error of the context once it has ended.
func (j *batch) ended() error { return j.ctx.Err() }

// gather adds the docIDs of earlier tasks to the offsets, which count from the first query of a task on. With join
// it copies the docIDs of the workers to the results, in the order of the tasks.
func (j *batch) gather(join bool) {
	before := uint64(0)
	for i := range j.tasks {
		t := &j.tasks[i]
		ends := j.out.Offsets[t.first+1 : t.end+1]
		if t.parts > 0 {
			ends[0] = uint64(t.docsLen)
		}
		if before > 0 {
			for q := range ends {
				ends[q] += before
			}
		}
		before += uint64(t.docsLen)
	}
	if !join || j.queries.CountOnly {
		return
	}
	j.out.Docs = slices.Grow(j.out.Docs[:0], int(before))
	for i := range j.tasks {
		t := &j.tasks[i]
		j.out.Docs = append(j.out.Docs, j.workers[t.worker].docs[t.docsAt:t.docsAt+t.docsLen]...)
	}
}
