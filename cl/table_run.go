package cl

import (
	"context"
	"fmt"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// run answers sel round by round. The results are as long as sel says already.
func (x *tableSlot) run(ctx context.Context, sel *plan.Selections, out *plan.Rows) error {
	c := &x.cut
	*c = tableCut{sel: sel}
	if sel.Output != plan.OutputCounts {
		c.bits = 2 * out.Stride
	}
	if c.decompresses() {
		if err := x.prepareColumns(); err != nil {
			return err
		}
	}
	for c.first+c.count < sel.Len() {
		c.next(x.store)
		if err := x.round(ctx, out); err != nil {
			return err
		}
	}
	if c.decompresses() {
		if x.backend.opt.CountLoads {
			out.Stats.BytesMoved += x.nelson.moved
		}
		return x.backend.do(x.nelson.check)
	}
	return nil
}

// prepareColumns makes what the strategies of Nelson et al. take.
func (x *tableSlot) prepareColumns() (err error) {
	c, s := &x.cut, x.store
	if x.nelson == nil {
		if x.nelson, err = newNelson(&x.flight, s); err != nil {
			return err
		}
	}
	most := 0
	for i := range c.sel.Len() {
		_, _, columns := c.measure(c.sel.Selection(i))
		most = max(most, columns)
	}
	return x.nelson.prepare(c.sel, most)
}

// round answers the selections of a round.
func (x *tableSlot) round(ctx context.Context, out *plan.Rows) error {
	defer x.releaseEvents()
	c, back := &x.cut, tableHead+x.cut.count
	if c.sel.Output == plan.OutputBits {
		back = (back+3)/4*4 + c.count*c.bits
	}
	if err := x.room(&x.batch, c.words, "selections"); err != nil {
		return err
	}
	if err := x.room(&x.rows, c.count*c.bits, "rows"); err != nil {
		return err
	}
	if err := x.grow(&x.up, c.words); err != nil {
		return err
	}
	if err := x.grow(&x.down, back); err != nil {
		return err
	}
	c.write(x.store, x.up.words)
	if err := x.backend.do(x.submit); err != nil {
		return x.backend.fail("selecting rows", err)
	}
	if err := x.wait(ctx); err != nil {
		return err
	}
	return x.collect(out, back)
}

// send enqueues a round: an upload, a launch, downloads. It runs on the owner.
func (x *tableSlot) send() error {
	c := &x.cut
	if err := x.backend.fault("enqueue"); err != nil {
		return err
	}
	if err := x.write(x.batch.buffer, c.words); err != nil {
		return err
	}
	if c.decompresses() {
		if err := x.sendColumns(); err != nil {
			return err
		}
	} else if err := x.launchRows(0, c.count, x.batch.buffer, 0); err != nil {
		return err
	}
	if c.sel.Output == plan.OutputBits {
		to := (tableHead + c.count + 3) / 4 * 4
		e, err := x.queue.EnqueueReadBuffer(x.rows.buffer, false, 0, 4*c.count*c.bits, unsafe.Pointer(&x.down.words[to]), nil)
		if err = x.sent(e, err, downloadTime); err != nil {
			return err
		}
	}
	return x.read(x.batch.buffer, tableHead+c.count)
}

// sendColumns enqueues selection after selection: what makes the columns of its StepAny,
// then its other steps.
func (x *tableSlot) sendColumns() error {
	c, n := &x.cut, x.nelson
	if c.first == 0 {
		if err := n.send(); err != nil {
			return err
		}
	}
	for i := range c.count {
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
		if err := x.launchRows(i, 1, n.columns.buffer, n.stride); err != nil {
			return err
		}
	}
	return nil
}

// launchRows enqueues the kernel for some selections of the round.
func (x *tableSlot) launchRows(first, selections int, columns *ocl.MemObject, stride int) error {
	c, s, t := &x.cut, x.store, x.backend.tuning
	v, a := s.arena.buffers, s.arena.buffers
	if values := s.values.Load(); values != nil {
		v = values.arena.buffers
	}
	want := 0
	if c.bits > 0 {
		want = 1
	}
	k := x.kernels[kernelID{name: rowsProgram}]
	err := arguments(k, a[0], a[1], a[2], a[3], v[0], v[1], v[2], v[3], s.coarse, s.fine, len(s.t.Vectors), int(s.t.Rows),
		x.batch.buffer, x.batch.buffer, c.selectionsAt, first, selections, columns, stride, x.rows.buffer, c.bits, want,
		localBytes(4*t.tableTile()*c.sets))
	if err != nil {
		return err
	}
	return x.launch(k, selections*s.dir.tiles, t.tableLocal(), probeTime)
}

// collect copies the results of a round, of which so many words came back.
func (x *tableSlot) collect(out *plan.Rows, back int) error {
	c, b := &x.cut, x.backend
	counts := x.down.words[tableHead : tableHead+c.count]
	for i, n := range counts {
		if n > x.store.t.Rows {
			return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: b.dev.String(), Op: "reading results",
				Err: fmt.Errorf("selection %d has %d of %d rows", c.first+i, n, x.store.t.Rows)}
		}
	}
	copy(out.Counts[c.first:], counts)
	if c.sel.Output == plan.OutputBits {
		bits := unsafe.Slice((*uint32)(unsafe.Pointer(&out.Bits[0])), 2*len(out.Bits))
		appendWords(bits[:c.first*c.bits], x.down.words[back-c.count*c.bits:back])
	}
	out.Stats.BytesUp += uint64(4 * c.words)
	out.Stats.BytesDown += uint64(4 * back)
	if b.opt.CountLoads {
		out.Stats.BytesMoved += 4 * (uint64(x.down.words[0]) + uint64(x.down.words[1])<<32)
	}
	return x.addTimes(&out.Stats)
}

// outOfMemory is an error of too much that was asked for.
func outOfMemory(b *Backend, op string, err error) error {
	return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.dev.String(), Op: op, Err: err}
}
