package hostfallback

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// tableJob is one batch on its way. It is reused from batch to batch. A task is a range
// of tiles for a range of selections, tile by tile, so that vectors that selections
// share are near.
type tableJob struct {
	table *table
	sel   *plan.SelectBatch
	out   *plan.Rows
	bits  []uint64 // of all selections, nil where nobody wants them
	kept  []uint64 // bits that stay here
	done  <-chan struct{}

	joins   []uint32 // by step: the step of the selection that joins what begins here to the set below, 0 if none does
	starts  []uint32 // of the sets on the stack, the steps at which they begin
	united  bool     // the ORs of the selection under way are in narrow or wide
	narrow  unions[uint32]
	wide    unions[uint64]
	workers []*tileWorker

	from, end        int // selections under way
	tileParts, parts int // of the tiles; and times those of the selections
	next             atomic.Int64
	stopped          atomic.Bool // by an error or by the context
	mu               sync.Mutex
	err              error // the first
}

// run answers sel into out.
func (j *tableJob) run(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	s := j.table
	j.sel, j.out, j.done, j.err = sel, out, ctx.Done(), nil
	defer func() { j.sel, j.out, j.done, j.bits, j.united = nil, nil, nil, nil, false }()
	j.stopped.Store(false)
	n := sel.Len()
	out.Counts = slices.Grow(out.Counts[:0], n)[:n]
	clear(out.Counts)
	out.Bits, out.Stride = out.Bits[:0], wah.Bitset(uint64(s.t.Rows))
	switch size := n * out.Stride; sel.Output {
	case plan.OutputBits:
		out.Bits = slices.Grow(out.Bits, size)[:size]
		j.bits = out.Bits
	case plan.OutputResident:
		j.kept = slices.Grow(j.kept[:0], size)[:size]
		j.bits = j.kept
	}
	j.compile()
	if strategy := s.strategy(sel); strategy != plan.Fused {
		for i := range n {
			if err := j.unite(ctx, i, strategy); err != nil {
				return err
			}
			if err := j.share(ctx, i, i+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.prepare(ctx, sel.Operands); err != nil {
		return err
	}
	return j.share(ctx, 0, n)
}

// compile finds the steps that may be left out where the set below has nothing, or all.
func (j *tableJob) compile() {
	j.joins = slices.Grow(j.joins[:0], len(j.sel.Steps))[:len(j.sel.Steps)]
	clear(j.joins)
	for i := range j.sel.Len() {
		first := j.sel.Offsets[i]
		j.starts = j.starts[:0]
		for k, x := range j.sel.Selection(i) {
			switch x.Code {
			case plan.StepAny:
				j.starts = append(j.starts, uint32(k))
			case plan.StepAnd, plan.StepOr, plan.StepAndNot:
				last := len(j.starts) - 1
				j.joins[first+j.starts[last]] = uint32(k)
				j.starts = j.starts[:last]
			}
		}
	}
}

// Costs that say how many goroutines a batch is worth, in nanoseconds.
const (
	costWord    = 1   // of a word of an operand, in twos
	costOperand = 4   // of an operand or a step in a tile
	costCheck   = 1   // of a row whose code may be looked up, in fours
	costThread  = 2e4 // of work that is worth a goroutine
)

// threads is the number of goroutines for selections from to end-1.
func (j *tableJob) threads(from, end int) int {
	s, sel := j.table, j.sel
	cost := int64(0)
	for i := from; i < end; i++ {
		for _, x := range sel.Selection(i) {
			cost += int64(s.tile.tiles) * costOperand
			switch x.Code {
			case plan.StepCheck:
				cost += int64(s.t.Rows) * costCheck / 4
			case plan.StepAny:
				cost += int64(x.To-x.From) * int64(s.tile.tiles) * costOperand
				for _, v := range sel.Operands[x.From:x.To] {
					cost += int64(s.t.Vectors[v].Words) * costWord / 2
				}
			}
		}
	}
	return int(min(int64(s.opt.Threads), 1+cost/costThread))
}

// share runs selections from to end-1 on as many goroutines as they are worth.
func (j *tableJob) share(ctx context.Context, from, end int) error {
	j.from, j.end = from, end
	n := j.threads(from, end)
	j.tileParts = min(j.table.tile.tiles, 16*n)
	j.parts = j.tileParts
	if n > 1 && j.tileParts > 0 {
		j.parts *= min(end-from, max(16*n/j.tileParts, 1))
	}
	for len(j.workers) < n {
		j.workers = append(j.workers, newTileWorker())
	}
	j.next.Store(0)
	if n == 1 {
		j.work(j.workers[0])
	} else {
		var wg sync.WaitGroup
		for _, w := range j.workers[1:n] {
			wg.Go(func() { j.work(w) })
		}
		j.work(j.workers[0])
		wg.Wait()
	}
	if j.stopped.Load() {
		if j.err != nil {
			return j.err
		}
		return ctx.Err()
	}
	return nil
}

// work takes tasks until there are none.
func (j *tableJob) work(w *tileWorker) {
	w.cursors = slices.Grow(w.cursors[:0], len(j.sel.Operands))[:len(j.sel.Operands)]
	clear(w.cursors)
	for {
		part := int(j.next.Add(1)) - 1
		if part >= j.parts {
			return
		}
		tiles, selections := j.table.tile.tiles, j.end-j.from
		tilePart, part, parts := part%j.tileParts, part/j.tileParts, j.parts/j.tileParts
		for tile := tiles * tilePart / j.tileParts; tile < tiles*(tilePart+1)/j.tileParts; tile++ {
			for i := j.from + selections*part/parts; i < j.from+selections*(part+1)/parts; i++ {
				if j.cancelled() {
					return
				}
				if err := w.run(j, i, tile); err != nil {
					j.fail(err)
					return
				}
				j.put(w, i, tile)
			}
		}
	}
}

// put hands out what is on top of w's stack.
func (j *tableJob) put(w *tileWorker, i, tile int) {
	x := &j.table.tile
	words, set := x.words(tile), w.sets[w.top]
	rows := int(min(x.size, x.rows-uint32(tile)*x.size))
	count := 0
	switch w.has[w.top] {
	case some:
		set[words-1] &= x.last(tile)
		count = countSet(set[:words])
	case all:
		count = rows
	}
	if count > 0 {
		atomic.AddUint32(&j.out.Counts[i], uint32(count))
	}
	if j.bits == nil {
		return
	}
	out := j.bits[i*j.out.Stride+tile*int(x.size/64):][:words]
	switch w.has[w.top] {
	case none:
		clear(out)
	case some:
		copy(out, set[:words])
	case all:
		fill(out)
		out[words-1] = x.last(tile)
	}
}

func (j *tableJob) fail(err error) {
	j.mu.Lock()
	if j.err == nil {
		j.err = err
	}
	j.mu.Unlock()
	j.stopped.Store(true)
}

// cancelled tells whether the batch has ended early, and ends it when the context is
// done.
func (j *tableJob) cancelled() bool {
	select {
	case <-j.done:
		j.stopped.Store(true)
	default:
	}
	return j.stopped.Load()
}
