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

	queue    *ocl.CommandQueue // in order
	up, down *pinned
	batch    *ocl.MemObject // what was uploaded
	decoded  *ocl.MemObject // shortest lists, tile by tile
	found    *ocl.MemObject // survivors, tile by tile
	out      *ocl.MemObject // survivors a tile, then docIDs
	loads    *ocl.MemObject // words that kernels asked for, when counted
	bytes    uint64

	decode, intersect, gather *ocl.Kernel

	firstTile []uint32 // of the queries

	tables    *tables
	countOnly bool
	docsAt    int // word of out where docIDs begin
	matches   int // of the round, once it has ended
	read      int // words of out that the first download takes

	events [stages]*ocl.Event
	submit func() error // s.enqueue, bound once
	done   chan error   // capacity 1: the round has ended
}

// The commands of a round whose times are told apart.
const (
	stageUpload = iota
	stageDecode
	stageProbe
	stageGather
	stageDownload
	stageRest
	stages
)

// firstDown is the size in bytes of the pinned memory that results come back
// through; it grows when a round brings more.
const firstDown = 4 << 20

// sizes of a slot's buffers in bytes: a word an element of a round, the upload,
// the results.
func (s *Store) sizes() (elements, up, out uint64) {
	elements = 4 * uint64(s.maxTiles) * uint64(s.tile)
	return elements, 4 * uint64(uploadWords(s.maxTiles)), 4*uint64(s.maxTiles+4) + elements
}

// slotBytes is what a slot takes on the device.
func (s *Store) slotBytes() uint64 {
	elements, up, out := s.sizes()
	return 2*elements + up + out
}

func (s *Store) newSlot() (*slot, error) {
	b := s.backend
	tileBytes, upBytes, outBytes := s.sizes()
	x := &slot{store: s, bytes: s.slotBytes(), done: make(chan error, 1), firstTile: make([]uint32, maxQueries+1)}
	x.submit = x.enqueue
	if err := b.reserve(x.bytes, "scratch of a batch"); err != nil {
		return nil, err
	}
	err := func() (err error) {
		if x.queue, err = b.newQueue(); err != nil {
			return err
		}
		for _, m := range []struct {
			to    **ocl.MemObject
			bytes uint64
			what  string
		}{
			{&x.batch, upBytes, "a batch"}, {&x.decoded, tileBytes, "decoded lists"}, {&x.found, tileBytes, "survivors"},
			{&x.out, outBytes, "results"}, {&x.loads, 16, "the load counter"},
		} {
			if *m.to, err = b.buffer(ocl.MemReadWrite, m.bytes, m.what); err != nil {
				return err
			}
		}
		if x.up, err = b.newPinned(int(upBytes) + 16); err != nil {
			return err
		}
		if x.down, err = b.newPinned(int(min(outBytes, firstDown))); err != nil {
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
	}{{&x.decode, "decode"}, {&x.intersect, "intersect"}, {&x.gather, "gather"}} {
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
	set(x.intersect, 7, x.decoded)
	set(x.intersect, 8, x.found)
	set(x.intersect, 9, x.out)
	set(x.intersect, 10, x.batch)
	if b.opt.CountLoads {
		set(x.intersect, 13, x.loads)
	}
	set(x.gather, 0, x.found)
	set(x.gather, 1, x.batch)
	set(x.gather, 2, x.out)
	return b.fail("setting kernel arguments", err)
}

// finish waits for the round, downloads what the first read left, and reports
// on done. It runs on a goroutine of its own, so that a caller who gives up
// need not wait.
func (x *slot) finish() {
	err := func() error {
		b := x.store.backend
		x.matches = 0
		if x.round.tiles == 0 { // nothing was sent
			return nil
		}
		if err := b.fault("wait"); err != nil {
			return err
		}
		if err := ocl.WaitForEvents(x.events[stageDownload : stageDownload+1]); err != nil {
			return b.fail("waiting for a batch", err)
		}
		matches := uint64(0)
		for _, n := range x.down.words[:x.round.tiles] {
			matches += uint64(n)
		}
		x.matches = int(matches)
		if matches > x.round.candidates {
			return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: b.dev.String(), Op: "reading results",
				Err: fmt.Errorf("%d matches of %d candidates", matches, x.round.candidates)}
		}
		if x.countOnly || x.docsAt+x.matches <= x.read {
			return nil
		}
		from := x.read
		if need := x.docsAt + x.matches; need > len(x.down.words) {
			grown, err := b.newPinned(4 * (need + need/4))
			if err != nil {
				return err
			}
			copy(grown.words, x.down.words[:from])
			x.down.release(b)
			x.down = grown
		}
		err := b.do(func() (err error) {
			x.events[stageRest], err = x.queue.EnqueueReadBuffer(x.out, false, 4*from, 4*(x.docsAt+x.matches-from),
				unsafe.Pointer(&x.down.words[from]), nil)
			return cmp.Or(err, x.queue.Flush())
		})
		if err == nil {
			err = ocl.WaitForEvents(x.events[stageRest : stageRest+1])
		}
		return b.fail("downloading results", err)
	}()
	if err != nil {
		_ = x.queue.Finish() // nothing may be under way when the slot is used again
	}
	x.done <- err
}

// addStats adds what the round cost to st.
func (x *slot) addStats(st *plan.Stats) error {
	r := &x.round
	st.Candidates += r.candidates
	st.BytesUp += uint64(4 * r.words)
	if r.tiles == 0 {
		return nil
	}
	st.BytesDown += uint64(4 * x.read)
	if rest := x.docsAt + x.matches - x.read; !x.countOnly && rest > 0 {
		st.BytesDown += uint64(4 * rest)
	}
	if x.store.backend.opt.Profiling {
		for stage, sum := range map[int]*time.Duration{
			stageUpload: &st.Upload, stageDecode: &st.Decode, stageProbe: &st.Probe,
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
		words, err := x.readLoads()
		if err != nil {
			return x.store.backend.fail("reading the load counter", err)
		}
		st.BytesMoved += 4*words + r.decodeBytes
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
	if x.queue != nil {
		x.queue.Release()
	}
	for _, k := range []*ocl.Kernel{x.decode, x.intersect, x.gather} {
		if k != nil {
			k.Release()
		}
	}
	for _, p := range []*pinned{x.up, x.down} {
		if p != nil {
			p.release(b)
		}
	}
	for _, m := range []*ocl.MemObject{x.batch, x.decoded, x.found, x.out, x.loads} {
		if m != nil {
			m.Release()
		}
	}
	b.unreserve(x.bytes)
}
