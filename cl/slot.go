package cl

import (
	"cmp"
	"fmt"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// slot is what one round in flight needs: staging, device buffers, and kernel
// objects of its own, since a kernel object holds its arguments. A slot belongs
// to the goroutine that took it from Store.free until its round is done.
type slot struct {
	store *Store
	round round

	up, down *pinned
	batch    *ocl.MemObject // what was uploaded
	decoded  *ocl.MemObject // shortest lists, tile by tile
	found    *ocl.MemObject // survivors, tile by tile
	counts   *ocl.MemObject // survivors a tile
	offsets  *ocl.MemObject // their prefix sum
	out      *ocl.MemObject // starts of the queries, then docIDs
	loads    *ocl.MemObject // words that kernels asked for, when counted
	bytes    uint64

	decode, intersect, scan, gather *ocl.Kernel

	tables    *tables
	countOnly bool
	docsAt    int // word of out where docIDs begin
	read      int // words of out that the first download takes

	events  [stages]*ocl.Event
	waiting [1]*ocl.Event
	submit  func() error // s.enqueue, bound once
	done    chan error   // capacity 1: the round has ended
}

// The commands of a round whose times are told apart.
const (
	stageUpload = iota
	stageDecode
	stageProbe
	stageScan
	stageGather
	stageDownload
	stageRest
	stages
)

func (s *Store) newSlot() (*slot, error) {
	b := s.backend
	tileBytes := uint64(s.maxTiles) * tileLen * 4
	upBytes := uint64(uploadWords(s.maxTiles)) * 4
	outBytes := (maxQueries+4)*4 + tileBytes
	x := &slot{store: s, done: make(chan error, 1)}
	x.submit = x.enqueue
	x.bytes = 3*tileBytes + upBytes + 8*uint64(s.maxTiles+4) + outBytes
	if err := b.reserve(x.bytes, "scratch of a batch"); err != nil {
		return nil, err
	}
	err := func() (err error) {
		for _, m := range []struct {
			to    **ocl.MemObject
			bytes uint64
			what  string
		}{
			{&x.batch, upBytes, "a batch"}, {&x.decoded, tileBytes, "decoded lists"}, {&x.found, tileBytes, "survivors"},
			{&x.counts, 4 * uint64(s.maxTiles+4), "counts"}, {&x.offsets, 4 * uint64(s.maxTiles+4), "offsets"},
			{&x.out, outBytes, "results"}, {&x.loads, 16, "the load counter"},
		} {
			if *m.to, err = b.buffer(ocl.MemReadWrite, m.bytes, m.what); err != nil {
				return err
			}
		}
		if x.up, err = b.newPinned(int(upBytes) + 16); err != nil {
			return err
		}
		if x.down, err = b.newPinned(int(outBytes)); err != nil {
			return err
		}
		return b.do(x.bind)
	}()
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// bind makes the kernel objects and sets the arguments that never change.
func (x *slot) bind() error {
	s, b := x.store, x.store.backend
	for _, k := range []struct {
		to   **ocl.Kernel
		name string
	}{{&x.decode, "decode"}, {&x.intersect, "intersect"}, {&x.scan, "offsets"}, {&x.gather, "gather"}} {
		kernel, err := b.program.CreateKernel(k.name)
		if err != nil {
			return b.fail("creating kernel "+k.name, err)
		}
		*k.to = kernel
	}
	a := s.arena.buffers
	var err error
	set := func(k *ocl.Kernel, index int, m *ocl.MemObject) {
		if err == nil {
			err = k.SetArgBuffer(index, m)
		}
	}
	for i, m := range a {
		set(x.decode, i, m)
		set(x.intersect, i, m)
	}
	set(x.decode, 4, x.batch)
	set(x.decode, 6, x.decoded)
	set(x.intersect, 5, x.batch)
	set(x.intersect, 8, x.decoded)
	set(x.intersect, 9, x.found)
	set(x.intersect, 10, x.counts)
	if b.opt.CountLoads {
		set(x.intersect, 12, x.loads)
	}
	set(x.scan, 0, x.counts)
	set(x.scan, 1, x.batch)
	set(x.scan, 2, x.offsets)
	set(x.scan, 3, x.out)
	set(x.gather, 0, x.found)
	set(x.gather, 1, x.counts)
	set(x.gather, 2, x.offsets)
	set(x.gather, 3, x.out)
	return b.fail("setting kernel arguments", err)
}

// enqueue sends a round on its way: upload, at most four launches, one download.
// It runs on the owner.
func (x *slot) enqueue() error {
	b, r := x.store.backend, &x.round
	if err := b.fault("enqueue"); err != nil {
		return err
	}
	var err error
	step := func(stage int, f func() (*ocl.Event, error)) {
		if err == nil {
			x.events[stage], err = f()
		}
	}
	after := func(stage int) []*ocl.Event { // the wait list of one event
		x.waiting[0] = x.events[stage]
		return x.waiting[:]
	}
	launch := func(stage int, k *ocl.Kernel, groups, local int, wait []*ocl.Event) {
		step(stage, func() (*ocl.Event, error) {
			return b.compute.EnqueueNDRangeKernel(k, nil, []int{groups * local}, []int{local}, wait)
		})
	}
	arg := func(k *ocl.Kernel, index int, v int) {
		if err == nil {
			err = k.SetArgUint32(index, uint32(v))
		}
	}
	step(stageUpload, func() (*ocl.Event, error) {
		return b.upload.EnqueueWriteBuffer(x.batch, false, 0, 4*r.words, unsafe.Pointer(&x.up.words[0]), nil)
	})
	if err == nil {
		err = b.upload.Flush()
	}
	if b.opt.CountLoads && err == nil {
		var zero [4]uint32
		var e *ocl.Event
		if e, err = b.compute.EnqueueWriteBuffer(x.loads, true, 0, 16, unsafe.Pointer(&zero[0]), nil); err == nil {
			e.Release()
		}
	}
	local := b.tuning.local()
	wait := after(stageUpload)
	if r.decode > 0 {
		arg(x.decode, 5, r.runsAt)
		launch(stageDecode, x.decode, r.decode, local, wait)
		wait = nil // the queue is in order
	}
	if r.tiles > 0 {
		if err == nil {
			aux := x.store.arena.buffers[0]
			if x.tables != nil {
				aux = x.tables.buffer
			}
			err = x.intersect.SetArgBuffer(4, aux)
		}
		arg(x.intersect, 6, r.termsAt)
		arg(x.intersect, 7, r.tilesAt)
		countOnly := 0
		if x.countOnly {
			countOnly = 1
		}
		arg(x.intersect, 11, countOnly)
		launch(stageProbe, x.intersect, r.tiles, local, wait)
		wait = nil
	}
	arg(x.scan, 4, r.tiles)
	arg(x.scan, 5, r.queries)
	launch(stageScan, x.scan, 1, b.tuning.scan(), wait)
	last := stageScan
	if r.tiles > 0 && !x.countOnly {
		arg(x.gather, 4, x.docsAt)
		arg(x.gather, 5, r.tiles)
		launch(stageGather, x.gather, b.tuning.gatherGroups(r.tiles), local, nil)
		last = stageGather
	}
	if err == nil {
		err = b.compute.Flush()
	}
	step(stageDownload, func() (*ocl.Event, error) {
		return b.download.EnqueueReadBuffer(x.out, false, 0, 4*x.read, unsafe.Pointer(&x.down.words[0]), after(last))
	})
	if err == nil {
		err = b.download.Flush()
	}
	if err != nil {
		// What is under way must end before the slot is used again.
		_, _, _ = b.upload.Finish(), b.compute.Finish(), b.download.Finish()
		x.releaseEvents()
	}
	return b.fail("running a batch", err)
}

// finish waits for the round, downloads what the first read left, and reports
// on done. It runs on a goroutine of its own, so that a caller who gives up
// need not wait.
func (x *slot) finish() {
	x.done <- func() error {
		b := x.store.backend
		if err := b.fault("wait"); err != nil {
			return err
		}
		if err := ocl.WaitForEvents(x.events[stageDownload : stageDownload+1]); err != nil {
			return b.fail("waiting for a batch", err)
		}
		matches := int(x.down.words[x.round.queries])
		if uint64(matches) > x.round.candidates {
			return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: b.dev.String(), Op: "reading results",
				Err: fmt.Errorf("%d matches of %d candidates", matches, x.round.candidates)}
		}
		if x.countOnly || x.docsAt+matches <= x.read {
			return nil
		}
		err := b.do(func() (err error) {
			rest := x.docsAt + matches - x.read
			x.events[stageRest], err = b.download.EnqueueReadBuffer(x.out, false, 4*x.read, 4*rest,
				unsafe.Pointer(&x.down.words[x.read]), nil)
			if err == nil {
				err = b.download.Flush()
			}
			return err
		})
		if err == nil {
			err = ocl.WaitForEvents(x.events[stageRest : stageRest+1])
		}
		return b.fail("downloading results", err)
	}()
}

// addStats adds what the round cost to st and releases its events.
func (x *slot) addStats(st *plan.Stats) error {
	defer x.releaseEvents()
	r := &x.round
	st.Candidates += r.candidates
	st.BytesUp += uint64(4 * r.words)
	st.BytesDown += uint64(4 * x.read)
	if matches := int(x.down.words[r.queries]); !x.countOnly && x.docsAt+matches > x.read {
		st.BytesDown += uint64(4 * (x.docsAt + matches - x.read))
	}
	if x.store.backend.opt.Profiling {
		for stage, sum := range map[int]*time.Duration{
			stageUpload: &st.Upload, stageDecode: &st.Decode, stageProbe: &st.Probe, stageScan: &st.Compact,
			stageGather: &st.Compact, stageDownload: &st.Download, stageRest: &st.Download,
		} {
			e := x.events[stage]
			if e == nil {
				continue
			}
			from, err1 := e.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
			to, err2 := e.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
			if err1 != nil || err2 != nil {
				return x.store.backend.fail("reading device times", cmp.Or(err1, err2))
			}
			*sum += time.Duration(to - from)
		}
	}
	if x.store.backend.opt.CountLoads {
		var n [4]uint32
		err := x.store.backend.do(func() error {
			e, err := x.store.backend.compute.EnqueueReadBuffer(x.loads, true, 0, 16, unsafe.Pointer(&n[0]), nil)
			if err == nil {
				e.Release()
			}
			return err
		})
		if err != nil {
			return x.store.backend.fail("reading the load counter", err)
		}
		st.BytesMoved += 4*(uint64(n[0])+uint64(n[1])<<32) + r.decodeBytes
	}
	return nil
}

func (x *slot) releaseEvents() {
	for i, e := range x.events {
		if e != nil {
			e.Release()
			x.events[i] = nil
		}
	}
}

func (x *slot) release() {
	b := x.store.backend
	x.releaseEvents()
	for _, k := range []*ocl.Kernel{x.decode, x.intersect, x.scan, x.gather} {
		if k != nil {
			k.Release()
		}
	}
	for _, p := range []*pinned{x.up, x.down} {
		if p != nil {
			p.release(b)
		}
	}
	for _, m := range []*ocl.MemObject{x.batch, x.decoded, x.found, x.counts, x.offsets, x.out, x.loads} {
		if m != nil {
			m.Release()
		}
	}
	b.unreserve(x.bytes)
}
