package cl

import (
	"cmp"

	ocl "github.com/jgillich/go-opencl/cl"
)

// sequence enqueues commands of a round until one fails. The rest then do nothing.
type sequence struct {
	x   *slot
	err error
}

func (q *sequence) try(f func() error) {
	if q.err == nil {
		q.err = f()
	}
}

// kernel returns nil after a failure, and the other methods ignore it then.
func (q *sequence) kernel(id kernelID) (k *kernel) {
	if q.err == nil {
		k, q.err = q.x.kernel(id)
	}
	return k
}

func (q *sequence) set(k *kernel, index, v int) {
	if q.err == nil {
		q.err = k.setInt(index, v)
	}
}

// launch enqueues a kernel. The queue is in order: the kernel waits for earlier commands.
func (q *sequence) launch(k *kernel, groups, local int, to counter) {
	if q.err == nil {
		q.err = q.x.launch(k, groups, local, to)
	}
}

// enqueue enqueues a round: one upload, a launch for each decoder that it needs, two more
// launches and one download. It runs in opened.do.
func (x *slot) enqueue() error {
	rt, r := x.rt, &x.round
	if r.tiles == 0 {
		return nil
	}
	if err := rt.fault("enqueue"); err != nil {
		return err
	}
	q := sequence{x: x, err: x.write(x.batch, r.words)}
	if rt.countLoads {
		q.try(x.clearLoads)
	}
	for d, runs := range r.runs {
		if runs > 0 {
			k := q.kernel(decoders[d])
			q.set(k, 5, r.runsAt[d])
			groups, local := decodeShape(rt.tuning, d, runs)
			q.launch(k, groups, local, decodeTime)
		}
	}
	gathered := x.countOnly
	if r.merge {
		gathered = x.enqueueMerge(&q)
	} else {
		x.enqueueProbe(&q, kernelID{name: "intersect", with: r.with}, probeLocal(rt.tuning, r.with))
	}
	if !gathered && r.parts == 0 {
		k := q.kernel(kernelID{name: "gather"})
		q.set(k, 3, r.sumsAt)
		q.set(k, 4, x.docsAt)
		q.set(k, 5, r.tiles)
		q.set(k, 6, int(r.tile))
		q.launch(k, gatherGroups(rt.tuning, r.tiles), matchLocal(rt.tuning), compactTime)
	}
	if r.parts > 0 {
		x.enqueueParts(&q)
	} else if q.err == nil {
		q.err = x.readAt(x.out, 0, 0, x.fetched)
	}
	q.try(x.queue.Flush)
	if q.err != nil {
		// Commands under way must end before the slot is used again.
		_ = x.queue.Finish()
		x.releaseEvents()
		if x.look != nil {
			x.look.reset() // the launch may not have drawn its tickets
		}
	}
	return rt.fail("running a batch", q.err)
}

// enqueueProbe launches the kernel that searches for the elements of the tiles.
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
	if q.err == nil {
		q.err = k.setBuffer(4, x.aux())
	}
	q.set(k, 6, r.tilesAt)
	q.set(k, 11, sumsAt)
	q.set(k, 12, countOnly)
	q.launch(k, groups, local, probeTime)
}

// finish waits for the round, downloads the results beyond the first download, and sends
// the error to done. It runs on a goroutine of its own, so that a caller may give up.
func (x *slot) finish() {
	err := func() error {
		rt := x.rt
		x.matches = 0
		if x.round.tiles == 0 { // no command was sent
			return nil
		}
		if err := x.waitHere(x.last()); err != nil {
			return err
		}
		matches := uint64(0)
		for _, n := range x.down.words[:cmp.Or(x.round.parts, x.round.tiles)] {
			matches += uint64(n)
		}
		x.matches = int(matches)
		if matches > x.round.candidates {
			return rt.impossible("%d matches of %d candidates", matches, x.round.candidates)
		}
		if x.countOnly || x.round.parts > 0 || x.docsAt+x.matches <= x.fetched {
			return nil
		}
		from := x.fetched
		if err := x.growDown(x.docsAt+x.matches, from); err != nil {
			return err
		}
		err := rt.do(func() (err error) {
			err = x.readAt(x.out, from, from, x.docsAt+x.matches-from)
			return cmp.Or(err, x.queue.Flush())
		})
		if err == nil {
			err = ocl.WaitForEvents([]*ocl.Event{x.last()})
		}
		return rt.fail("downloading results", err)
	}()
	if err != nil {
		_ = x.queue.Finish() // no command may be under way when the slot is used again
	}
	x.done <- err
}
