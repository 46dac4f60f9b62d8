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
	look     *lookBack      // of merges, nil until there is one that looks back
	bytes    uint64

	// kernels are those that rounds of the slot have met, with the arguments set
	// that never change; programs those of the round.
	kernels map[kernelID]*ocl.Kernel

	firstTile []uint32 // of the queries

	tables    *tables
	after     []*ocl.Event // what the round waits for
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
	stageProbe
	stageGather
	stageDownload
	stageRest
	stageDecode // and one more for each decoder
	stages      = stageDecode + len(decoders)
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

// slotsBytes is what all slots take.
func (s *Store) slotsBytes() uint64 { return uint64(s.most) * s.slotBytes() }

func (s *Store) newSlot() (*slot, error) {
	b := s.backend
	tileBytes, upBytes, outBytes := s.sizes()
	x := &slot{store: s, bytes: s.slotBytes(), done: make(chan error, 1), firstTile: make([]uint32, maxQueries+1),
		kernels: map[kernelID]*ocl.Kernel{}}
	x.submit = x.enqueue
	if err := s.memory.reserve(x.bytes, "scratch of a batch"); err != nil {
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
		return nil
	}()
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// kernel returns the slot's own kernel object for id. It makes it on first use,
// from a program that programOf has built, and sets the arguments that never
// change. It runs in Backend.do.
func (x *slot) kernel(id kernelID) (*ocl.Kernel, error) {
	if k := x.kernels[id]; k != nil {
		return k, nil
	}
	b := x.store.backend
	p, err := b.programOf(id)
	if err != nil {
		return nil, err
	}
	k, err := p.CreateKernel(id.name)
	if err != nil {
		return nil, b.fail("creating kernel "+id.name, err)
	}
	lists := x.store.arena.buffers
	arena := []*ocl.MemObject{lists[0], lists[1], lists[2], lists[3]}
	var fixed []*ocl.MemObject // nil: set for each round
	switch id.name {
	case "gather":
		fixed = []*ocl.MemObject{x.found, x.batch, x.out}
	case "merge_ahead":
		fixed = append(arena, nil, x.batch, nil, x.decoded, x.out, x.look.state)
		if b.opt.CountLoads {
			fixed = append(fixed, nil, nil, nil, nil, x.loads)
		}
	case "intersect", "merge":
		fixed = append(arena, nil, x.batch, nil, x.decoded, x.found, x.out, x.batch)
		if b.opt.CountLoads {
			fixed = append(fixed, nil, nil, x.loads)
		}
	default: // a decoder
		fixed = append(arena, x.batch, nil, x.decoded)
	}
	for i, m := range fixed {
		if m != nil && err == nil {
			err = k.SetArgBuffer(i, m)
		}
	}
	if err != nil {
		k.Release()
		return nil, b.fail("setting kernel arguments", err)
	}
	x.kernels[id] = k
	return k, nil
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
		if err := x.waitParts(); err != nil {
			return b.fail("waiting for a batch", err)
		}
		matches := uint64(0)
		for _, n := range x.down.words[:cmp.Or(x.round.parts, x.round.tiles)] {
			matches += uint64(n)
		}
		x.matches = int(matches)
		if matches > x.round.candidates {
			return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: b.dev.String(), Op: "reading results",
				Err: fmt.Errorf("%d matches of %d candidates", matches, x.round.candidates)}
		}
		if x.countOnly || x.round.parts > 0 || x.docsAt+x.matches <= x.read {
			return nil
		}
		from := x.read
		if err := x.growDown(x.docsAt+x.matches, from); err != nil {
			return err
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

// growDown makes room for that many words of results and keeps the first ones.
func (x *slot) growDown(words, keep int) error {
	if words <= len(x.down.words) {
		return nil
	}
	b := x.store.backend
	grown, err := b.newPinned(4 * (words + words/4))
	if err != nil {
		return err
	}
	copy(grown.words, x.down.words[:keep])
	x.down.release(b)
	x.down = grown
	return nil
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
	if rest := x.docsAt + x.matches - x.read; !x.countOnly && x.round.parts == 0 && rest > 0 {
		st.BytesDown += uint64(4 * rest)
	}
	if x.store.backend.opt.Profiling {
		sums := [stages]*time.Duration{
			stageUpload: &st.Upload, stageProbe: &st.Probe, stageGather: &st.Compact,
			stageDownload: &st.Download, stageRest: &st.Download,
		}
		for stage, e := range x.events {
			if e == nil {
				continue
			}
			from, err1 := e.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
			to, err2 := e.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
			if err1 != nil || err2 != nil {
				return x.store.backend.fail("reading device times", cmp.Or(err1, err2))
			}
			*cmp.Or(sums[stage], &st.Decode) += time.Duration(to - from)
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
	for _, k := range x.kernels {
		k.Release()
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
	if x.look != nil {
		x.look.release()
	}
	x.store.memory.unreserve(x.bytes)
}
