package match

import (
	"cmp"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
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
func (q *sequence) kernel(id device.KernelID) (k *device.Kernel) {
	if q.err == nil {
		k, q.err = q.x.kernel(id)
	}
	return k
}

func (q *sequence) set(k *device.Kernel, index, v int) {
	if q.err == nil {
		q.err = k.SetInt(index, v)
	}
}

// buffers sets the buffer of filters or of unpacked lists, and that of tables.
func (q *sequence) buffers(k *device.Kernel) {
	last := q.x.decoded
	if !q.x.round.unpacked {
		last = q.x.matcher.set.Buffers(q.x.round.filtered)[lists.FilterArena]
	}
	q.try(func() error { return cmp.Or(k.SetBuffer(lists.FilterArena, last), k.SetBuffer(4, q.x.aux())) })
}

// launch enqueues a kernel. The queue is in order: the kernel waits for earlier commands.
func (q *sequence) launch(k *device.Kernel, groups, local int, to device.Counter) {
	if q.err == nil {
		q.err = q.x.Launch(k, groups, local, to)
	}
}

// enqueue enqueues a round: one upload, a launch for each decoder that it needs, two more
// launches and one download. It runs in Runtime.Do.
func (x *slot) enqueue() error {
	rt, r := x.Device, &x.round
	if r.tiles == 0 {
		return nil
	}
	if err := rt.Fault("enqueue"); err != nil {
		return err
	}
	q := sequence{x: x, err: x.Write(x.batch, r.words)}
	if rt.CountLoads {
		q.try(x.clearLoads)
	}
	for d, runs := range r.runs {
		if runs > 0 {
			k := q.kernel(lists.Decoders[d])
			q.set(k, 5, r.runsAt[d])
			groups, local := lists.DecodeShape(rt.Tuning, d, runs)
			q.launch(k, groups, local, device.DecodeTime)
		}
	}
	gathered := x.countOnly
	if r.merge {
		gathered = x.enqueueMerge(&q)
	} else {
		x.enqueueProbe(&q, device.KernelID{Name: "intersect", With: r.with}, probeLocal(rt.Tuning, r.with))
	}
	if !gathered && r.parts == 0 {
		k := q.kernel(device.KernelID{Name: "gather"})
		for i, n := range []int{r.sumsAt, x.docsAt, r.tiles, int(r.tile)} {
			q.set(k, 3+i, n)
		}
		q.launch(k, gatherGroups(rt.Tuning, r.tiles), workGroup(rt.Tuning), device.CompactTime)
	}
	if r.parts > 0 {
		x.enqueueParts(&q)
	} else if q.err == nil {
		q.err = x.ReadAt(x.out, 0, 0, x.fetched)
	}
	q.try(x.Queue.Flush)
	if q.err != nil {
		// Commands under way must end before the slot is used again.
		_ = x.Queue.Finish()
		x.ReleaseEvents()
		if x.look != nil {
			x.look.Reset() // the launch may not have drawn its tickets
		}
	}
	return rt.Fail("running a batch", q.err)
}

// enqueueProbe launches the kernel that searches for the elements of the tiles.
func (x *slot) enqueueProbe(q *sequence, id device.KernelID, local int) {
	r, countOnly := &x.round, 0
	groups, sumsAt := r.tiles, r.sumsAt
	if r.parts > 0 {
		groups, sumsAt = r.parts, r.sumsAt/4
	}
	if x.countOnly {
		countOnly = 1
	}
	k := q.kernel(id)
	q.buffers(k)
	q.set(k, 6, r.tilesAt)
	q.set(k, 11, sumsAt)
	q.set(k, 12, countOnly)
	q.launch(k, groups, local, device.ProbeTime)
}

// finish waits for the round, downloads the results beyond the first download, and sends
// the error to done. It runs on a goroutine of its own, so that a caller may give up.
func (x *slot) finish() {
	err := func() error {
		rt := x.Device
		x.matches = 0
		if x.round.tiles == 0 { // no command was sent
			return nil
		}
		if err := x.wait(); err != nil {
			return err
		}
		if err := x.count(); err != nil {
			return err
		}
		from, end := x.fetched, x.docsAt+x.matches
		if x.countOnly || x.round.parts > 0 || end <= from {
			return nil
		}
		if end > len(x.Down.Words) {
			batch := int(rt.Info.Batch * x.matcher.matchRate.Load() >> 16)
			if err := rt.Grow(&x.Down, roomFor(max(end, batch)), from); err != nil {
				return err
			}
		}
		err := rt.Do(func() (err error) {
			err = x.ReadAt(x.out, from, from, end-from)
			return cmp.Or(err, x.Queue.Flush())
		})
		if err == nil {
			err = ocl.WaitForEvents([]*ocl.Event{x.Last()})
		}
		return rt.Fail("downloading results", err)
	}()
	if err != nil {
		_ = x.Queue.Finish() // no command may be under way when the slot is used again
	}
	x.Done <- err
}

// roomFor is the memory that results of so many words get. Growing is slow: a quarter more lets it
// happen once, but not where the memory would become too large to be lent.
func roomFor(words int) int {
	if words <= mostLent {
		return min(words*5/4, mostLent)
	}
	return words * 5 / 4
}

// wait waits for the commands of the round, in turn with other large rounds.
func (x *slot) wait() error {
	if turns := x.matcher.turns; x.round.candidates >= largeRound {
		turns <- struct{}{}
		defer func() { <-turns }()
	}
	return x.WaitHere(x.Last())
}

// count adds up the matches of the tiles.
func (x *slot) count() error {
	matches := uint64(0)
	for _, n := range x.Down.Words[:cmp.Or(x.round.parts, x.round.tiles)] {
		matches += uint64(n)
	}
	if matches > x.round.candidates {
		return x.Device.Impossible("%d matches of %d candidates", matches, x.round.candidates)
	}
	x.matches = int(matches)
	return nil
}
