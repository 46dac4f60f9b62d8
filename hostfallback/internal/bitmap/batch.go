package bitmap

import (
	"context"
	"heddle/codec/bitslice"
	"slices"
	"sync/atomic"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/bitmap/codeset"
	"heddle/hostfallback/work"
)

// batch is one running call of Select, reused from call to call. A task is a range of
// tiles of a range of selections. It goes tile by tile, so that vectors that selections
// have in common stay in the cache.
type batch struct {
	table *Table
	ctx   context.Context
	sel   *plan.SelectBatch
	out   *plan.Rows
	bits  []uint64 // rows of all selections, nil if only counts are requested
	empty bool     // bits is all zeros
	kept  []uint64 // memory of bits for plan.OutputResident

	joins   []uint32      // by step: the step that joins the set beginning here to the set below, 0 for none
	sets    []codeset.Set // the codes of checks of many ranges
	setOf   []uint32      // by step: the number of its set
	starts  []uint32      // the steps at which the sets on the stack begin
	united  bool          // the ORs of the current selection are in narrow or wide
	narrow  unions[uint32]
	wide    unions[uint64]
	workers []*worker

	from, end                 int // the current selections
	tileParts, selectionParts int // parts of the tiles and of the selections
	task                      func(w, i int) error
}

// run evaluates sel into out.
func (b *batch) run(ctx context.Context, t *Table, sel *plan.SelectBatch, out *plan.Rows) error {
	b.table, b.ctx, b.sel, b.out = t, ctx, sel, out
	if b.task == nil {
		b.task = b.evaluate
	}
	defer b.forget()
	defer func() { b.ctx, b.sel, b.out, b.bits, b.empty, b.united = nil, nil, nil, nil, false, false }()
	n := sel.Len()
	out.Counts = slices.Grow(out.Counts[:0], n)[:n]
	clear(out.Counts)
	out.Bits, out.Stride = out.Bits[:0], wah.Bitset(uint64(t.data.Rows))
	switch size := n * out.Stride; sel.Output {
	case plan.OutputBits:
		if b.empty = cap(out.Bits) < size; b.empty {
			out.Bits = make([]uint64, size)
		}
		out.Bits = out.Bits[:size]
		b.bits = out.Bits
	case plan.OutputResident:
		b.kept = slices.Grow(b.kept[:0], size)[:size]
		b.bits = b.kept
	}
	b.compile()
	if strategy := t.strategy(sel); strategy != plan.Fused {
		for i := range n {
			if err := b.unite(ctx, i, strategy); err != nil {
				return err
			}
			if err := b.split(ctx, i, i+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := t.prepare(ctx, sel.Operands); err != nil {
		return err
	}
	return b.split(ctx, 0, n)
}

// compile finds the steps that can be skipped where the set below is empty or full, and makes
// the sets of codes of checks.
func (b *batch) compile() {
	b.joins = slices.Grow(b.joins[:0], len(b.sel.Steps))[:len(b.sel.Steps)]
	clear(b.joins)
	b.setOf = slices.Grow(b.setOf[:0], len(b.sel.Steps))[:len(b.sel.Steps)]
	sets, size := 0, uint64(0)
	for i := range b.sel.Len() {
		first := b.sel.Offsets[i]
		b.starts = b.starts[:0]
		for k, x := range b.sel.Selection(i) {
			switch x.Code {
			case plan.StepAny, plan.StepAll:
				b.starts = append(b.starts, uint32(k))
			case plan.StepCheck:
				if x.To-x.From > bitslice.FewRanges {
					if sets == len(b.sets) {
						b.sets = append(b.sets, codeset.Set{})
					}
					rows := uint64(b.table.data.Rows)
					if size > maxSetBytes {
						rows = 0 // no bitmap
					}
					b.sets[sets].Fill(b.sel.Ranges[x.From:x.To], rows)
					b.setOf[int(first)+k] = uint32(sets)
					size += b.sets[sets].Bytes()
					sets++
				}
			case plan.StepAnd, plan.StepOr, plan.StepAndNot:
				last := len(b.starts) - 1
				b.joins[first+b.starts[last]] = uint32(k)
				b.starts = b.starts[:last]
			}
		}
	}
}

// mostSets is the size of the sets of codes of a batch in bytes beyond which further sets have no
// bitmap, and beyond which a batch does not keep their memory.
const maxSetBytes = 32 << 20

// forget drops the ranges that sets refer to, and the memory of large sets.
func (b *batch) forget() {
	size := uint64(0)
	for i := range b.sets {
		b.sets[i].Fill(nil, 0)
		size += b.sets[i].Bytes()
	}
	if size > maxSetBytes {
		b.sets = nil
	}
}

// Estimated costs in nanoseconds, from which the number of goroutines follows.
const (
	costWord    = 1   // two words of an operand
	costOperand = 4   // an operand or a step in one tile
	costCheck   = 1   // four rows whose codes may be looked up
	costThread  = 2e4 // the work that pays for one goroutine
)

// threads returns the number of goroutines for selections from to end-1.
func (b *batch) threads(from, end int) int {
	t, sel := b.table, b.sel
	cost := int64(0)
	for i := from; i < end; i++ {
		for _, x := range sel.Selection(i) {
			cost += int64(t.tile.tiles) * costOperand
			switch x.Code {
			case plan.StepCheck:
				cost += int64(t.data.Rows) * costCheck / 4
			case plan.StepCompare:
				cost += int64(t.data.Rows) * costCheck / 2
			case plan.StepAny:
				cost += int64(x.To-x.From) * int64(t.tile.tiles) * costOperand
				for _, v := range sel.Operands[x.From:x.To] {
					cost += int64(t.data.Vectors[v].Words) * costWord / 2
				}
			}
		}
	}
	return int(min(int64(t.work.Threads), 1+cost/costThread))
}

// split evaluates selections from to end-1 in tasks.
func (b *batch) split(ctx context.Context, from, end int) error {
	b.from, b.end = from, end
	n := b.threads(from, end)
	b.tileParts, b.selectionParts = min(b.table.tile.tiles, 16*n), 1
	if n > 1 && b.tileParts > 0 {
		b.selectionParts = min(end-from, max(16*n/b.tileParts, 1))
	}
	for len(b.workers) < n {
		b.workers = append(b.workers, newWorker())
	}
	for _, w := range b.workers[:n] {
		w.cursors = slices.Grow(w.cursors[:0], len(b.sel.Operands))[:len(b.sel.Operands)]
		clear(w.cursors)
	}
	return work.Parallel(ctx, n, b.tileParts*b.selectionParts, b.task)
}

// evaluate runs one task.
func (b *batch) evaluate(w, task int) error {
	tiles, selections := b.table.tile.tiles, b.end-b.from
	tilePart, part := task%b.tileParts, task/b.tileParts
	steps := 0
	for tile := tiles * tilePart / b.tileParts; tile < tiles*(tilePart+1)/b.tileParts; tile++ {
		for i := b.from + selections*part/b.selectionParts; i < b.from+selections*(part+1)/b.selectionParts; i++ {
			// The scheduler's contexts allocate for Done, and Err takes a lock.
			if steps++; steps%64 == 0 && b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			if err := b.workers[w].run(b, i, tile); err != nil {
				return err
			}
			b.put(b.workers[w], i, tile)
		}
	}
	return nil
}

// put adds the top set of w's stack to the result.
func (b *batch) put(w *worker, i, tile int) {
	x := &b.table.tile
	words, top := x.words(tile), w.sets[w.top]
	count := 0
	switch w.has[w.top] {
	case some:
		top[words-1] &= x.lastMask(tile)
		count = countSet(top[:words])
	case all:
		count = int(x.rowsOf(tile))
	}
	if count > 0 {
		atomic.AddUint32(&b.out.Counts[i], uint32(count))
	}
	if b.bits == nil {
		return
	}
	out := b.bits[i*b.out.Stride+tile*int(x.tileRows/64):][:words]
	switch w.has[w.top] {
	case none:
		if !b.empty {
			clear(out)
		}
	case some:
		copy(out, top[:words])
	case all:
		fill(out)
		out[words-1] = x.lastMask(tile)
	}
}
