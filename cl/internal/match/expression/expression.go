package expression

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// Evaluator answers boolean expressions over a set of lists. It is safe for concurrent
// use: each batch under way has a slot of its own.
type Evaluator struct {
	set     *lists.Set
	free    device.Pool[slot]
	bytes   atomic.Uint64 // device memory of all slots, with the kept bytes
	kept    atomic.Uint64 // bytes for the first slot, until it is made
	growing chan struct{} // holds a token; its receiver may have more than its shape
}

// New makes an evaluator without device memory.
func New(set *lists.Set) *Evaluator {
	e := &Evaluator{set: set, growing: make(chan struct{}, 1)}
	e.growing <- struct{}{}
	set.Count(e.bytes.Load)
	return e
}

// Open reserves the memory of the smallest slot. Tables and ranking then cannot take the
// memory that expressions need. After a failure release must follow.
func (e *Evaluator) Open() error {
	if err := e.set.Memory.Reserve(LeastBytes(), "scratch of boolean expressions"); err != nil {
		return err
	}
	e.bytes.Store(LeastBytes())
	e.kept.Store(leastShape.bytes())
	_, slots := shapeFor(e.set.Device.Tuning, mostBytes(e.set.Device, e.set.Memory.Size()))
	e.free = device.NewPool[slot](slots)
	return nil
}

// Release waits for all batches and frees the slots.
func (e *Evaluator) Release() {
	if e.bytes.Load() > 0 {
		e.free.Drain((*slot).release)
		e.set.Memory.Unreserve(e.kept.Swap(0) + growth)
	}
}

// Match answers the expressions of b in rounds, one after the other. Concurrent callers
// overlap.
func (e *Evaluator) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	return e.run(ctx, b, out, nil, e.set.Auto)
}

// run is match with the bitsets of the tables of algorithm a. The documents become into, unless that is nil, by expression.
func (e *Evaluator) run(ctx context.Context, b *plan.MatchBatch, out *plan.Results, into []*filter.Set, a plan.Algorithm) error {
	began := time.Now()
	out.Reset()
	if err := e.set.Begin(ctx); err != nil {
		return err
	}
	if err := b.Validate(e.set.Src); err != nil {
		return err
	}
	if err := filter.Check(b.Filters, e.set.Device, e.set.Src.Docs); err != nil {
		return err
	}
	n := b.Queries()
	out.Offsets = slices.Grow(out.Offsets, n)[:n+1]
	clear(out.Offsets)
	t, err := e.set.TablesOf(ctx, a)
	if err != nil {
		return err
	}
	if e.set.Cache == nil {
		err = e.part(ctx, b, 0, out, into, t, nil)
	} else {
		r := lists.Request{Noun: "boolean expression", Queries: n, Lists: b.AppendLists, Aux: t}
		err = e.set.Cache.Each(ctx, r, &out.Stats, func(ctx context.Context, first, end int, p *lists.Pins) error {
			some := *b
			some.Offsets, some.OpOffsets = b.Offsets[:end+1], b.OpOffsets[:end+1]
			return e.part(ctx, &some, first, out, into, t, p)
		})
	}
	if err != nil {
		return err
	}
	for i := range n { // counts so far
		out.Offsets[i+1] += out.Offsets[i]
	}
	out.Stats.Queries = uint64(n)
	out.Stats.Candidates = b.Candidates(e.set.Src)
	out.Stats.Matches = out.Offsets[n]
	out.Stats.CountFilters(b.Filters)
	out.Stats.Wall = time.Since(began)
	return nil
}

// part answers the expressions of b from the first one on. p pins their lists if not all
// lists are resident.
func (e *Evaluator) part(ctx context.Context, b *plan.MatchBatch, first int, out *plan.Results, into []*filter.Set, t *lists.Tables, p *lists.Pins) error {
	c := &cut{set: e.set, batch: b, into: into, tables: t, query: first, decoded: map[plan.Handle]operand{}}
	x, err := e.free.Take(ctx, e.set.Closing, e.newSlot)
	if err != nil {
		return err
	}
	x.After = p.Events()
	for err == nil && c.query < b.Queries() {
		if err = c.nextRound(ctx, x); err == nil && c.groups > 0 {
			if err = x.run(ctx, c, out); err == nil && into != nil {
				err = x.fill(ctx, c, out)
			}
		}
	}
	return p.Finish(err, x.giveBack)
}
