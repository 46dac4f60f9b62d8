package bitmap

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
	"golang.org/x/sync/errgroup"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// run answers sel round by round. out has its final length already.
func (x *slot) run(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	c := &x.cut
	*c = cut{sel: sel, values: x.store.values.Load(), stride: 2 * out.Stride, with: x.with, skips: c.skips, ranks: c.ranks}
	if sel.Output != plan.OutputCounts {
		c.bits = c.stride
	}
	if c.decompresses() {
		if err := x.prepareColumns(ctx); err != nil {
			return err
		}
	}
	for c.first+c.count < sel.Len() {
		c.nextRound(x.store)
		if err := x.round(ctx, out); err != nil {
			return err
		}
	}
	if c.decompresses() {
		if x.Device.CountLoads {
			out.Stats.BytesMoved += x.columns.moved
		}
		return x.columns.check(ctx)
	}
	return nil
}

// prepareColumns makes the columns of the strategies of Nelson et al. 2020.
func (x *slot) prepareColumns(ctx context.Context) (err error) {
	c, s := &x.cut, x.store
	if x.columns == nil {
		if x.columns, err = newColumns(&x.Flight, s); err != nil {
			return err
		}
	}
	most := 0
	for i := range c.sel.Len() {
		most = max(most, c.measure(c.sel.Selection(i)).columns)
	}
	return x.columns.prepare(ctx, c.sel, most)
}

// round answers the selections of a round.
func (x *slot) round(ctx context.Context, out *plan.Rows) error {
	defer x.ReleaseEvents()
	c := &x.cut
	up, back := x.sizes()
	bits := 0
	if c.sel.Output == plan.OutputBits {
		bits = c.count * c.bits
		if err := x.takeBits(ctx, bits); err != nil {
			return err
		}
	}
	room := up
	if x.after != nil {
		room = max(up, x.cut.words+x.after.room)
	}
	if err := x.store.scratch.Room(&x.batch, room, 0, "selections"); err != nil {
		return err
	}
	if x.region == nil {
		if err := x.store.scratch.Room(&x.rows, (c.count*c.bits+partWords-1)/partWords*partWords, 0, "rows"); err != nil {
			return err
		}
	}
	if err := x.store.scratch.Room(&x.checks, c.checks*c.checkStride(), 0, "rows of checks"); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Up, up); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Down, back); err != nil {
		return err
	}
	if err := x.programs(); err != nil {
		return err
	}
	c.write(x.store, x.Up.Words)
	if more := x.Up.Words[c.words:up]; len(more) > 0 {
		clear(more)
		x.after.write(more, c.words)
	}
	x.turn++
	x.Up.Words[turnWord], x.Down.Words[turnWord] = x.turn, x.turn-1
	if err := x.Enqueue(ctx, x.submit); err != nil {
		return x.Device.Fail("selecting rows", err)
	}
	if err := x.deliver(ctx, out); err != nil {
		return err
	}
	out.Stats.BytesUp += uint64(4 * up)
	out.Stats.BytesDown += uint64(4 * (back + bits))
	return x.collect(out)
}

// programs chooses and builds the programs of the round.
func (x *slot) programs() error {
	c, s := &x.cut, x.store
	if c.checks > 0 || c.sliced > 0 && !x.fused() {
		with := s.values.Load().features()
		if c.codes || !s.lean() {
			with |= useCodes
		}
		x.slices = selectSlices.For(with)
		if err := x.Prepare(x.slices.KernelID); err != nil {
			return err
		}
	}
	if c.sliced == c.count {
		return nil
	}
	x.selects = s.program(c.features())
	return x.Prepare(x.selects.KernelID)
}

// fused tells whether the work after a selection in slices alone selects the rows itself.
func (x *slot) fused() bool { return x.after != nil && x.after.fused }

// partWords is the greatest number of words of a part of a tile, LANES of kernels/slice.cl.
const partWords = 8

// selectionWords is the size of the head of an upload of kernels that select rows themselves: four words of their own, the
// selection, and two steps.
const selectionWords = 16

// writeSelection puts the only selection into words of the upload, which begin at word `at`, for a kernel that selects the rows
// itself: its steps, or two steps that take the bits of its rows.
func (x *slot) writeSelection(to []uint32, at int) {
	c := &x.cut
	if c.sliced == 1 {
		copy(to[:4], x.Up.Words[4*c.selectionsAt:])
		return
	}
	to[0], to[1] = uint32(at/4+1), 2
	to[4], to[8] = uint32(plan.StepAll), stepBits
}

// sizes returns the words of the upload of a round, and of the download of all but rows.
func (x *slot) sizes() (up, back int) {
	if x.after != nil && x.after.words > 0 {
		return x.cut.words + x.after.words, x.cut.words + x.after.back
	}
	return x.cut.words, head + x.cut.count
}

// pollTime limits the time of polling a GPU for the end of a round. Polling takes two
// goroutine switches less than a sleep.
const pollTime = 200 * time.Microsecond

// await waits for the counts of a round, which are its last download, or until ctx ends. The number of the round comes
// back with them, so polling sees it in memory. The event confirms that all counts are
// there.
func (x *slot) await(ctx context.Context) error {
	if ctx.Done() != nil && x.Device.Info.Type == "gpu" {
		for began := time.Now(); ctx.Err() == nil && time.Since(began) < pollTime; runtime.Gosched() {
			if atomic.LoadUint32(&x.Down.Words[turnWord]) == x.turn {
				return x.WaitHere(x.counted)
			}
		}
	}
	return x.WaitFor(ctx, x.counted)
}

// send enqueues a round: an upload, a launch, downloads. It runs in Runtime.Do.
func (x *slot) send() error {
	c := &x.cut
	if err := x.Device.Fault("enqueue"); err != nil {
		return err
	}
	up, back := x.sizes()
	if err := x.Write(x.batch.Buffer, up); err != nil {
		return err
	}
	if err := x.launchSlices(c.sliced, c.checks, region{buffer: x.checks.Buffer, countsAt: noCounts}, c.checkStride()); err != nil {
		return err
	}
	if !x.fused() {
		if err := x.launchSlices(0, c.sliced, x.to(), c.bits); err != nil {
			return err
		}
	}
	if c.decompresses() {
		if err := x.sendColumns(); err != nil {
			return err
		}
	} else if err := x.launchRows(0, c.count-c.sliced, nil, 0); err != nil {
		return err
	}
	if x.after != nil {
		if err := x.after.send(c.words); err != nil {
			return err
		}
	}
	if c.sel.Output == plan.OutputBits {
		if err := x.readBits(); err != nil {
			return err
		}
	}
	if err := x.Read(x.batch.Buffer, back); err != nil {
		return err
	}
	x.counted = x.Last()
	return nil
}

// pieceWords is the size of one download of bits: small downloads are slow. copyPart is the
// number of words that one goroutine copies.
const pieceWords, copyPart = 1 << 22, 1 << 16

// readBits enqueues the download of all bits in pieces, so that one piece is copied while
// the next ones travel.
func (x *slot) readBits() error {
	total := x.cut.count * x.cut.bits
	for at := 0; at < total; at += pieceWords {
		if err := x.ReadTo(x.bits.memory, x.rows.Buffer, at, at, min(pieceWords, total-at)); err != nil {
			return err
		}
	}
	return nil
}

// copyBits copies the bits of a round to out, each piece as it arrives.
func (x *slot) copyBits(ctx context.Context, out *plan.Rows) error {
	c, total := &x.cut, x.cut.count*x.cut.bits
	if size := c.sel.Len() * out.Stride; len(out.Bits) < size {
		out.Bits = slices.Grow(out.Bits, size)[:size]
	}
	to := unsafe.Slice((*uint32)(unsafe.Pointer(&out.Bits[0])), 2*len(out.Bits))[c.first*c.bits:][:total]
	from := x.bits.memory.Words[:total]
	last := len(x.Events) - 1 // the download of counts
	pieces := x.Events[last-(total+pieceWords-1)/pieceWords : last]
	var g errgroup.Group
	defer g.Wait()
	for i, p := range pieces {
		if err := x.WaitFor(ctx, p.Event); err != nil {
			return err
		}
		for at := i * pieceWords; at < min((i+1)*pieceWords, total); at += copyPart {
			end := min(at+copyPart, (i+1)*pieceWords, total)
			g.Go(func() error {
				copy(to[at:end], from[at:end])
				return nil
			})
		}
	}
	return nil
}

// sendColumns enqueues selection after selection that is not in slices alone: the columns of its StepAny, then the
// rest of its steps.
func (x *slot) sendColumns() error {
	c, n := &x.cut, x.columns
	if c.first == 0 {
		if err := n.send(); err != nil {
			return err
		}
	}
	next := 0
	for i := range c.count {
		if inSlices(c.sel.Selection(c.first + i)) {
			continue
		}
		column := 0
		for s := c.sel.Offsets[c.first+i]; s < c.sel.Offsets[c.first+i+1]; s++ {
			if c.sel.Steps[s].Code != plan.StepAny {
				continue
			}
			if err := n.any(int(s), column); err != nil {
				return err
			}
			column++
		}
		if err := x.launchRows(next, 1, n.words.Buffer, n.stride); err != nil {
			return err
		}
		next++
	}
	return nil
}

// noCounts is NO_COUNTS of the kernel.
const noCounts = 1<<32 - 1

// to is the place for the rows of selections.
func (x *slot) to() region {
	if x.region != nil {
		return *x.region
	}
	return region{buffer: x.rows.Buffer, countsAt: noCounts}
}

// launchRows enqueues the kernel for some of the selections that are not in slices alone.
func (x *slot) launchRows(first, selections int, columns *ocl.MemObject, stride int) error {
	if selections == 0 {
		return nil
	}
	c, s, to := &x.cut, x.store, x.to()
	v := s.arena.Buffers
	return x.selects.Launch(&x.Flight, rowsArguments{a0: v[0], a1: v[1], a2: v[2], a3: v[3], coarse: s.coarse, fine: s.fine, plain: s.plain.buffer,
		plainAt: s.plain.at, vectors: len(s.t.Vectors), rowCount: int(s.t.Rows), batch: x.batch.Buffer, selectionsAt: c.selectionsAt,
		first: c.sliced + c.checks + first, selections: selections, out: to.buffer, outAt: to.at, stride: c.bits, countsAt: to.countsAt,
		tile:   device.LocalBytes(s.t.Word() / 8 * tileGroups(x.Device.Tuning) * c.sets),
		checks: cmp.Or(x.checks.Buffer, x.rows.Buffer), columns: cmp.Or(columns, x.rows.Buffer), columnStride: stride},
		selections*s.dir.tiles, workGroup(x.Device.Tuning), device.ProbeTime)
}

// sliceWaves is the number of work-groups of slices for each compute unit, if there is work for them. A work-group takes
// runs of tiles, sliceRuns at most, so that a launch of many is cut.
const sliceWaves, sliceRuns = 8, 32

// launchSlices enqueues the kernel for some selections of the round, whose bits go to a place.
func (x *slot) launchSlices(first, selections int, to region, stride int) error {
	if selections == 0 {
		return nil
	}
	s, t := x.store, x.Device.Tuning
	runs := tileRuns(s.t, sliceTiles(t))
	groups := min(runs, max((runs+sliceRuns-1)/sliceRuns, sliceWaves*x.Device.Info.ComputeUnits/selections))
	return x.slices.Launch(&x.Flight, slicesArguments{slicesBuffers: s.values.Load().buffers(s.t), rowCount: int(s.t.Rows), batch: x.batch.Buffer,
		selectionsAt: x.cut.selectionsAt, first: first, selections: selections, groups: groups, out: to.buffer, outAt: to.at, stride: stride, countsAt: to.countsAt},
		selections*groups, sliceGroup(t), device.ProbeTime)
}

// collect takes the counts of a round.
func (x *slot) collect(out *plan.Rows) error {
	c := &x.cut
	counts := x.Down.Words[head : head+c.count]
	for i, n := range counts {
		if n > x.store.t.Rows {
			return x.Device.Impossible("selection %d has %d of %d rows", c.first+i, n, x.store.t.Rows)
		}
	}
	copy(out.Counts[c.first:], counts)
	if x.Device.CountLoads {
		out.Stats.BytesMoved += 4 * (uint64(x.Down.Words[0]) + uint64(x.Down.Words[1])<<32)
	}
	return x.AddTimes(&out.Stats)
}
