package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
)

// job is what a call does with its queries, batch after batch. Several goroutines
// call its functions at the same time, each with a worker of its own.
type job struct {
	threshold uint64         // load at which a batch is closed
	most      int            // queries of a batch, at most
	workers   int            // batches at a time
	mean      *atomic.Uint64 // running mean of the load of a query

	reset func(w *worker)                          // empties the worker's batch
	add   func(w *worker, q Query) (uint64, error) // appends q to it and returns its load
	// run answers the batch and delivers the results; first is the number of its
	// first query.
	run func(ctx context.Context, w *worker, first int) error
}

// QueryError says which query of a batch was not understood.
type QueryError struct {
	Query int // its index among the queries of the call
	Err   error
}

func (e *QueryError) Error() string { return fmt.Sprintf("query %d: %v", e.Query, e.Err) }

// Unwrap gives what was wrong with it.
func (e *QueryError) Unwrap() error { return e.Err }

// batches cuts qs into batches and has all workers answer them. It stops at the
// first error.
func (x *Index) batches(ctx context.Context, qs []Query, j job) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(j.workers, max(len(qs), 1)) {
		wg.Go(func() {
			w := x.workers.Get().(*worker)
			defer x.workers.Put(w)
			for inner.Err() == nil {
				block := x.blockSize(len(qs), &j)
				first := int(next.Add(block) - block)
				if first >= len(qs) {
					return
				}
				if err := x.runBlock(inner, w, qs[first:min(first+int(block), len(qs))], first, &j); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return cmp.Or(ctx.Err(), context.Cause(inner))
}

// runBlock answers consecutive queries in as many batches as the threshold asks.
func (x *Index) runBlock(ctx context.Context, w *worker, qs []Query, first int, j *job) error {
	var total, load uint64
	j.reset(w)
	start := 0
	for i := range qs {
		n, err := j.add(w, qs[i])
		if err != nil {
			return &QueryError{Query: first + i, Err: err}
		}
		load += n
		total += n
		// A block was cut to make one batch; it makes more only where its queries
		// are far heavier than the mean.
		if load/2 < j.threshold && i+1 < len(qs) {
			continue
		}
		if err := j.run(ctx, w, first+start); err != nil {
			return err
		}
		start, load = i+1, 0
		j.reset(w)
	}
	j.mean.Store((j.mean.Load()*3 + total/uint64(len(qs))) / 4)
	return nil
}

// blockSize is how many queries should make one batch, from the mean load seen
// so far; small blocks at first, and never so large that workers idle.
func (x *Index) blockSize(queries int, j *job) int64 {
	n := j.threshold / max(j.mean.Load(), 16)
	return int64(max(1, min(n, uint64(queries/j.workers+1), uint64(j.most))))
}

func (x *Index) workerCount() int {
	if x.opt.Workers > 0 {
		return x.opt.Workers
	}
	return min(max(runtime.GOMAXPROCS(0), 2), 16)
}

// gathered collects copies of what batches deliver, by the number of their first
// query.
type gathered[T any] struct {
	mu    sync.Mutex
	parts map[int]T
}

func (g *gathered[T]) put(first int, part T) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.parts == nil {
		g.parts = map[int]T{}
	}
	if _, twice := g.parts[first]; twice {
		return errors.New("engine: a batch was delivered twice")
	}
	g.parts[first] = part
	return nil
}

func (g *gathered[T]) at(first int) T { return g.parts[first] }

// gatherResults puts together what batches deliver.
func gatherResults(queries int, out *plan.Results, run func(deliver func(first int, r *plan.Results) error) error) error {
	parts := gathered[plan.Results]{}
	err := run(func(first int, r *plan.Results) error {
		return parts.put(first, plan.Results{Offsets: slices.Clone(r.Offsets), Docs: slices.Clone(r.Docs), Stats: r.Stats})
	})
	if err != nil {
		return err
	}
	out.Reset()
	for i := 0; i < queries; {
		p := parts.at(i)
		base := out.Offsets[len(out.Offsets)-1]
		for _, o := range p.Offsets[1:] {
			out.Offsets = append(out.Offsets, base+o)
		}
		out.Docs = append(out.Docs, p.Docs...)
		out.Stats.Add(p.Stats)
		i += len(p.Offsets) - 1
	}
	return nil
}

// gatherRankings does the same for rankings.
func gatherRankings(queries int, out *Rankings, run func(deliver func(first int, r *Rankings) error) error) error {
	parts := gathered[Rankings]{}
	err := run(func(first int, r *Rankings) error {
		return parts.put(first, Rankings{slices.Clone(r.Offsets), slices.Clone(r.Docs), slices.Clone(r.Scores), r.Stats})
	})
	if err != nil {
		return err
	}
	out.Reset()
	for i := 0; i < queries; {
		p := parts.at(i)
		base := out.Offsets[i]
		for _, o := range p.Offsets[1:] {
			out.Offsets = append(out.Offsets, base+o)
		}
		out.Docs, out.Scores = append(out.Docs, p.Docs...), append(out.Scores, p.Scores...)
		out.Stats.Add(p.Stats)
		i += p.Queries()
	}
	return nil
}
