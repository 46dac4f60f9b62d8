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

// kernel gives nil after a failure; nothing is done with it then.
func (q *sequence) kernel(id kernelID) (k *ocl.Kernel) {
	q.try(func() (err error) {
		k, err = q.x.kernel(id)
		return err
	})
	return k
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

// enqueue sends a round on its way: one upload, a launch a decoder that it needs
// and two more, one download. It runs in Backend.do.
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
		x.events[stageUpload], err = x.queue.EnqueueWriteBuffer(x.batch, false, 0, 4*r.words, unsafe.Pointer(&x.up.words[0]), x.after)
		return err
	})
	if b.opt.CountLoads {
		q.try(x.clearLoads)
	}
	for d, runs := range r.runs {
		if runs > 0 {
			k := q.kernel(decoders[d])
			q.arg(k, 5, r.runsAt[d])
			groups, local := b.tuning.decodeShape(d, runs)
			q.launch(stageDecode+d, k, groups, local)
		}
	}
	gathered := x.countOnly
	if r.merge {
		gathered = x.enqueueMerge(&q)
	} else {
		x.enqueueProbe(&q, kernelID{"intersect", r.with}, b.tuning.probeLocal(r.with))
	}
	if !gathered && r.parts == 0 {
		k := q.kernel(kernelID{name: "gather"})
		q.arg(k, 3, r.sumsAt)
		q.arg(k, 4, x.docsAt)
		q.arg(k, 5, r.tiles)
		q.arg(k, 6, int(r.tile))
		q.launch(stageGather, k, b.tuning.gatherGroups(r.tiles), b.tuning.local())
	}
	if r.parts > 0 {
		x.enqueueParts(&q)
	} else {
		q.try(func() (err error) {
			x.events[stageDownload], err = x.queue.EnqueueReadBuffer(x.out, false, 0, 4*x.read, unsafe.Pointer(&x.down.words[0]), nil)
			return err
		})
	}
	q.try(x.queue.Flush)
	if q.err != nil {
		// What is under way must end before the slot is used again.
		_ = x.queue.Finish()
		x.releaseEvents()
		if x.look != nil {
			x.look.epoch = 0 // the launch may not have drawn its tickets
		}
	}
	return b.fail("running a batch", q.err)
}

// enqueueProbe launches the kernel that looks the elements of the tiles up.
func (x *slot) enqueueProbe(q *sequence, id kernelID, local int) {
	r, countOnly := &x.round, 0
	groups, sumsAt := r.tiles, r.sumsAt
	if r.parts > 0 {
		groups, sumsAt = r.parts, r.sumsAt/4
	}
	if x.countOnly {
		countOnly = 1
	}
	k := q.kernel(id)
	q.try(func() error { return k.SetArgBuffer(4, x.aux()) })
	q.arg(k, 6, r.tilesAt)
	q.arg(k, 11, sumsAt)
	q.arg(k, 12, countOnly)
	q.launch(stageProbe, k, groups, local)
}

// aux is the buffer of the tables, any buffer where there are none.
func (x *slot) aux() *ocl.MemObject { return cmp.Or(x.tables.buffer, x.store.arena.buffers[0]) }

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
