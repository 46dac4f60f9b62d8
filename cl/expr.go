package cl

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"heddle/engine/plan"
)

// evaluator answers boolean expressions over a set of lists. It is safe for concurrent
// use: each batch under way has a slot of its own.
type evaluator struct {
	set     *listSet
	free    pool[exprSlot]
	bytes   atomic.Uint64 // of all slots, with the kept bytes
	kept    atomic.Uint64 // bytes for the first slot, until it is made
	growing chan struct{} // holds a token; its receiver may have more than its shape
}

// newEvaluator makes an evaluator without device memory.
func newEvaluator(set *listSet) *evaluator {
	e := &evaluator{set: set, growing: make(chan struct{}, 1)}
	e.growing <- struct{}{}
	set.count(e.bytes.Load)
	return e
}

// open reserves the memory of the smallest slot. Tables and ranking then cannot take the
// memory that expressions need. After a failure release must follow.
func (e *evaluator) open() error {
	if err := e.set.memory.reserve(leastExprBytes(), "scratch of boolean expressions"); err != nil {
		return err
	}
	e.bytes.Store(leastExprBytes())
	e.kept.Store(leastShape.bytes())
	_, slots := exprShapeFor(e.set.rt.tuning, mostExprBytes(e.set.rt, e.set.memory.size()))
	e.free = newPool[exprSlot](slots)
	return nil
}

// release waits for all batches and frees the slots.
func (e *evaluator) release() {
	if e.bytes.Load() > 0 {
		e.free.drain((*exprSlot).release)
		e.set.memory.unreserve(e.kept.Swap(0) + exprGrowth)
	}
}

// match answers the expressions of b in rounds, one after the other. Concurrent callers
// overlap.
func (e *evaluator) match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	return e.run(ctx, b, out, e.set.auto)
}

// run is match with the bitsets of the tables of algorithm a.
func (e *evaluator) run(ctx context.Context, b *plan.MatchBatch, out *plan.Results, a plan.Algorithm) error {
	began := time.Now()
	out.Reset()
	if err := e.set.begin(ctx); err != nil {
		return err
	}
	if err := b.Validate(e.set.src); err != nil {
		return err
	}
	n := b.Queries()
	out.Offsets = slices.Grow(out.Offsets, n)[:n+1]
	clear(out.Offsets)
	t, err := e.set.auxOf(ctx, a)
	if err != nil {
		return err
	}
	if e.set.cache == nil {
		err = e.part(ctx, b, 0, out, t, nil)
	} else {
		r := request{Noun: "boolean expression", Queries: n, Lists: b.AppendLists, Aux: t}
		err = e.set.cache.each(ctx, r, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
			some := *b
			some.Offsets, some.OpOffsets = b.Offsets[:end+1], b.OpOffsets[:end+1]
			return e.part(ctx, &some, first, out, t, p)
		})
	}
	if err != nil {
		return err
	}
	for i := range n { // counts so far
		out.Offsets[i+1] += out.Offsets[i]
	}
	out.Stats.Queries = uint64(n)
	out.Stats.Candidates = b.Candidates(e.set.src)
	out.Stats.Matches = out.Offsets[n]
	out.Stats.Wall = time.Since(began)
	return nil
}

// part answers the expressions of b from the first one on. p pins their lists if not all
// lists are resident.
func (e *evaluator) part(ctx context.Context, b *plan.MatchBatch, first int, out *plan.Results, t *auxTables, p *pins) error {
	c := &exprCut{set: e.set, batch: b, tables: t, query: first, decoded: map[plan.Handle]operand{}}
	x, err := e.free.take(ctx, e.set.closing, e.newSlot)
	if err != nil {
		return err
	}
	x.after = p.events()
	for err == nil && c.query < b.Queries() {
		if err = c.nextRound(ctx, x); err == nil && c.groups > 0 {
			err = x.run(ctx, c, out)
		}
	}
	if err != nil {
		p.hold()
		go func() { // once no command is under way
			x.giveBack()
			p.release()
		}()
		return err
	}
	x.giveBack()
	return nil
}
