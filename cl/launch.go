package cl

import (
	"cmp"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// sequence enqueues commands until one fails; the rest then do nothing.
type sequence struct {
	x   *slot
	err error
}

func (q *sequence) try(f func() error) {
	if q.err == nil {
		q.err = f()
	}
}

func (q *sequence) arg(k *ocl.Kernel, index, v int) {
	q.try(func() error { return k.SetArgUint32(index, uint32(v)) })
}

// launch enqueues a kernel. The queue is in order: it waits for what came before.
func (q *sequence) launch(stage int, k *ocl.Kernel, groups, local int) {
	q.try(func() (err error) {
		q.x.events[stage], err = q.x.queue.EnqueueNDRangeKernel(k, nil, []int{groups * local}, []int{local}, nil)
		return err
	})
}

// enqueue sends a round on its way: one upload, at most three launches, one
// download. It runs on the owner.
func (x *slot) enqueue() error {
	b, r := x.store.backend, &x.round
	if r.tiles == 0 {
		return nil
	}
	if err := b.fault("enqueue"); err != nil {
		return err
	}
	q := sequence{x: x}
	q.try(func() (err error) {
		x.events[stageUpload], err = x.queue.EnqueueWriteBuffer(x.batch, false, 0, 4*r.words, unsafe.Pointer(&x.up.words[0]), nil)
		return err
	})
	if b.opt.CountLoads {
		q.try(x.clearLoads)
	}
	if r.decode > 0 {
		q.arg(x.decode, 5, r.runsAt)
		q.launch(stageDecode, x.decode, r.decode, b.tuning.decodeLocal())
	}
	q.try(func() error {
		aux := x.store.arena.buffers[0] // any buffer, where no list has a table
		if x.tables != nil {
			aux = x.tables.buffer
		}
		return x.intersect.SetArgBuffer(4, aux)
	})
	countOnly := 0
	if x.countOnly {
		countOnly = 1
	}
	q.arg(x.intersect, 6, r.tilesAt)
	q.arg(x.intersect, 11, r.sumsAt)
	q.arg(x.intersect, 12, countOnly)
	q.launch(stageProbe, x.intersect, r.tiles, b.tuning.local())
	if !x.countOnly {
		q.arg(x.gather, 3, r.sumsAt)
		q.arg(x.gather, 4, x.docsAt)
		q.arg(x.gather, 5, r.tiles)
		q.launch(stageGather, x.gather, b.tuning.gatherGroups(r.tiles), b.tuning.local())
	}
	q.try(func() (err error) {
		x.events[stageDownload], err = x.queue.EnqueueReadBuffer(x.out, false, 0, 4*x.read, unsafe.Pointer(&x.down.words[0]), nil)
		return cmp.Or(err, x.queue.Flush())
	})
	if q.err != nil {
		// What is under way must end before the slot is used again.
		_ = x.queue.Finish()
		x.releaseEvents()
	}
	return b.fail("running a batch", q.err)
}

// clearLoads sets the load counter to 0.
func (x *slot) clearLoads() error {
	var zero [4]uint32
	e, err := x.queue.EnqueueWriteBuffer(x.loads, true, 0, 16, unsafe.Pointer(&zero[0]), nil)
	if err == nil {
		e.Release()
	}
	return err
}

// readLoads returns the words that kernels asked for since clearLoads.
func (x *slot) readLoads() (uint64, error) {
	var n [4]uint32
	err := x.store.backend.do(func() error {
		e, err := x.queue.EnqueueReadBuffer(x.loads, true, 0, 16, unsafe.Pointer(&n[0]), nil)
		if err == nil {
			e.Release()
		}
		return err
	})
	return uint64(n[0]) + uint64(n[1])<<32, err
}
