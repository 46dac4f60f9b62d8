package cl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// Timing is what repeated runs of a primitive took on a device.
type Timing struct {
	// Runs are the times from the start of a run's first kernel to the end of its
	// last, by the device's clock where the backend profiles, else by the host's.
	Runs     []time.Duration
	Launches int    // of a run
	Bytes    uint64 // that a run reads and writes at least
	LookBack bool   // each element was read once, by kernels that look back
}

// Keep says which elements Compact keeps: those whose bit is set in Flags, bit
// i%32 of word i/32 for element i, or, where Flags is nil, those that are neither
// less than Least nor greater than Greatest.
type Keep struct {
	Flags           []uint32
	Least, Greatest uint32
}

// Scan writes the exclusive prefix sums of in, modulo 2^32, to out, which is as
// long. It copies in to the device, runs the kernels `runs` times, at least once,
// and copies the last result back. It is safe for concurrent use. Errors are those
// of the context and *plan.DeviceError.
func (b *Backend) Scan(ctx context.Context, out, in []uint32, runs int) (Timing, error) {
	if len(out) != len(in) {
		return Timing{}, fmt.Errorf("cl: %d sums of %d elements", len(out), len(in))
	}
	p, err := b.newPrimitive(ctx, in, nil, runs)
	if err != nil || p == nil {
		return Timing{}, err
	}
	defer p.release()
	if _, err = p.run(ctx, "scan", [4]uint32{}); err != nil {
		return Timing{}, err
	}
	p.timing.Bytes = 8 * uint64(len(in))
	return p.timing, p.read(p.out, out)
}

// Compact appends the elements of in that keep tells to out, in their order;
// otherwise it is like Scan.
func (b *Backend) Compact(ctx context.Context, out, in []uint32, keep Keep, runs int) ([]uint32, Timing, error) {
	what := [4]uint32{1, keep.Least, keep.Greatest - keep.Least, 0} // ADD_RANGE
	if keep.Flags != nil {
		what = [4]uint32{2, 0, 0, 0} // ADD_FLAGS
		if 32*uint64(len(keep.Flags)) < uint64(len(in)) {
			return out, Timing{}, fmt.Errorf("cl: %d flags for %d elements", 32*len(keep.Flags), len(in))
		}
	} else if keep.Least > keep.Greatest {
		return out, Timing{}, nil
	}
	p, err := b.newPrimitive(ctx, in, keep.Flags, runs)
	if err != nil || p == nil {
		return out, Timing{}, err
	}
	defer p.release()
	kept, err := p.run(ctx, "compact", what)
	if err != nil {
		return out, Timing{}, err
	}
	if uint64(kept) > uint64(len(in)) {
		return out, Timing{}, b.fail("compacting", fmt.Errorf("%d of %d elements kept", kept, len(in)))
	}
	p.timing.Bytes = 4*(uint64(len(in))+uint64(kept)) + uint64(len(keep.Flags))*4
	from := len(out)
	out = append(out, make([]uint32, kept)...)
	return out, p.timing, p.read(p.out, out[from:])
}

// scanProgram names the program of all kernels of scan.cl by one of them.
var scanProgram = kernelID{name: "scan_sums"}

// primitive is one call: buffers, kernels, and the times of its runs.
type primitive struct {
	b              *Backend
	n, tiles, runs int
	bytes          uint64 // reserved
	program        *ocl.Program
	queue          *ocl.CommandQueue
	in, flags, out *ocl.MemObject
	sums           *ocl.MemObject // of the tiles of a chunk
	carry          *ocl.MemObject // sum of all chunks so far, in the one word or the other
	look           *lookBack      // nil in the plain form
	timing         Timing
}

// newPrimitive makes the buffers of a call over in; nothing for an empty in.
func (b *Backend) newPrimitive(ctx context.Context, in, flags []uint32, runs int) (p *primitive, err error) {
	if len(in) == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := b.checkScan(); err != nil {
		return nil, err
	}
	t := b.tuning
	p = &primitive{b: b, n: len(in), tiles: (len(in) + t.scanTile() - 1) / t.scanTile(), runs: max(runs, 1)}
	defer func() {
		if err != nil {
			p.release()
			p = nil
		}
	}()
	words := uint64(len(in))
	if size := 4*words + 16; words > 1<<32-1-uint64(t.scanTile()) || size > b.dev.info.MaxAlloc {
		return p, &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.dev.String(), Op: "running a primitive",
			Err: fmt.Errorf("%d elements, a buffer has at most %d bytes", len(in), b.dev.info.MaxAlloc)}
	}
	need := 4 * (2*words + uint64(len(flags)+t.ScanChunk) + 32)
	if err = b.reserve(need, "a primitive"); err != nil {
		return p, err
	}
	p.bytes = need
	for _, m := range []struct {
		to    **ocl.MemObject
		words uint64
		what  string
	}{{&p.in, words + 4, "elements"}, {&p.flags, uint64(len(flags)) + 4, "flags"}, {&p.out, words + 4, "results"},
		{&p.sums, uint64(t.ScanChunk), "sums of tiles"}, {&p.carry, 4, "the sum"}} {
		if *m.to, err = b.buffer(ocl.MemReadWrite, 4*m.words, m.what); err != nil {
			return p, err
		}
	}
	if err = b.writeWords(p.in, 0, in); err != nil {
		return p, err
	}
	if len(flags) > 0 {
		if err = b.writeWords(p.flags, 0, flags); err != nil {
			return p, err
		}
	}
	if p.queue, err = b.newQueue(); err != nil {
		return p, err
	}
	if b.looksBack() {
		if p.look, err = b.newLookBack(&b.budget, p.tiles); err != nil {
			return p, err
		}
	}
	p.program, err = b.programOf(scanProgram)
	return p, err
}

// checkScan refuses devices that the kernels of scan.cl do not fit.
func (b *Backend) checkScan() error {
	t, i := b.tuning, &b.dev.info
	local := uint64(80*t.ScanWG + 256) // of compact, without shuffles
	var why string
	switch {
	case t.Serial:
	case b.dev.handle.MaxWorkGroupSize() < t.ScanWG:
		why = fmt.Sprintf("work-groups hold %d work-items, scans ask for %d", b.dev.handle.MaxWorkGroupSize(), t.ScanWG)
	case i.LocalMemory < local:
		why = fmt.Sprintf("there are %d bytes of local memory, scans ask for %d", i.LocalMemory, local)
	}
	if why == "" {
		return nil
	}
	return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: b.dev.String(), Op: "checking limits", Err: errors.New(why)}
}

// run runs the kernels of `name` and returns the sum over all elements.
func (p *primitive) run(ctx context.Context, name string, what [4]uint32) (sum uint32, err error) {
	for range p.runs {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		err := p.b.do(func() error {
			if p.look != nil {
				return p.lookBack(name, what)
			}
			return p.plain(name, what)
		})
		if err != nil {
			return 0, p.b.fail("running "+name, err)
		}
	}
	var carry [4]uint32
	err = p.read(p.carry, carry[:])
	if chunks := (p.tiles + p.b.tuning.ScanChunk - 1) / p.b.tuning.ScanChunk; p.look == nil {
		return carry[chunks&1], err
	}
	return carry[0], err
}

// plain enqueues two launches a chunk and waits for them.
func (p *primitive) plain(name string, what [4]uint32) error {
	t := p.b.tuning
	var carry [4]uint32
	e, err := p.queue.EnqueueWriteBuffer(p.carry, true, 0, 16, unsafe.Pointer(&carry[0]), nil)
	if err != nil {
		return err
	}
	e.Release()
	reduce, err := p.kernel("scan_sums", p.in, p.flags, p.sums, p.n, 0, what)
	if err != nil {
		return err
	}
	defer reduce.Release()
	apply, first := (*ocl.Kernel)(nil), 4 // argument that holds the first tile
	if name == "scan" {
		apply, err = p.kernel("scan_tiles", p.in, p.out, p.sums, p.n, 0, p.carry, 0)
	} else {
		apply, err = p.kernel("compact_tiles", p.in, p.flags, p.out, p.sums, p.n, 0, p.carry, 0, what)
		first = 5
	}
	if err != nil {
		return err
	}
	defer apply.Release()
	r := p.begin()
	for at := 0; at < p.tiles; at += t.ScanChunk {
		groups := min(t.ScanChunk, p.tiles-at)
		r.try(reduce.SetArgUint32(4, uint32(at)))
		r.launch(reduce, groups)
		r.try(apply.SetArgUint32(first, uint32(at)))
		r.try(apply.SetArgUint32(first+2, uint32(at/t.ScanChunk&1)))
		r.launch(apply, groups)
	}
	return r.end()
}

// lookBack enqueues the one launch and waits for it.
func (p *primitive) lookBack(name string, what [4]uint32) error {
	ticket, epoch, err := p.look.begin(p.queue, p.tiles)
	if err != nil {
		return err
	}
	var k *ocl.Kernel
	if name == "scan" {
		k, err = p.kernel("scan_ahead", p.in, p.out, p.n, p.look.state, ticket, epoch, p.carry)
	} else {
		k, err = p.kernel("compact_ahead", p.in, p.flags, p.out, p.n, p.look.state, ticket, epoch, p.carry, what)
	}
	if err != nil {
		return err
	}
	defer k.Release()
	r := p.begin()
	r.launch(k, p.tiles)
	if err := r.end(); err != nil {
		return err
	}
	failed, err := p.look.gaveUp(p.queue)
	if failed {
		err = errors.New("a work-group waited in vain for another")
	}
	return err
}

// kernel makes a kernel object with its arguments: buffers, words, four words.
func (p *primitive) kernel(name string, args ...any) (*ocl.Kernel, error) {
	k, err := p.program.CreateKernel(name)
	if err != nil {
		return nil, fmt.Errorf("creating kernel %s: %w", name, err)
	}
	for i, a := range args {
		switch v := a.(type) {
		case *ocl.MemObject:
			err = cmp.Or(err, k.SetArgBuffer(i, v))
		case int:
			err = cmp.Or(err, k.SetArgUint32(i, uint32(v)))
		case uint32:
			err = cmp.Or(err, k.SetArgUint32(i, v))
		case [4]uint32:
			err = cmp.Or(err, k.SetArgUnsafe(i, 16, unsafe.Pointer(&v[0])))
		}
	}
	if err != nil {
		k.Release()
		return nil, fmt.Errorf("arguments of kernel %s: %w", name, err)
	}
	return k, nil
}

// timedRun is a run whose launches are timed.
type timedRun struct {
	p           *primitive
	began       time.Time
	first, last *ocl.Event
	launches    int
	err         error
}

func (p *primitive) begin() *timedRun { return &timedRun{p: p, began: time.Now()} }

func (r *timedRun) try(err error) { r.err = cmp.Or(r.err, err) }

func (r *timedRun) launch(k *ocl.Kernel, groups int) {
	if r.err != nil {
		return
	}
	local := r.p.b.tuning.ScanWG
	if r.p.b.tuning.Serial {
		local = 1
	}
	var e *ocl.Event
	if e, r.err = r.p.queue.EnqueueNDRangeKernel(k, nil, []int{groups * local}, []int{local}, nil); r.err != nil {
		return
	}
	if r.launches++; r.first == nil {
		r.first = e
		return
	}
	if r.last != nil {
		r.last.Release()
	}
	r.last = e
}

// end waits for the launches and notes the time.
func (r *timedRun) end() error {
	r.try(r.p.queue.Finish())
	took := time.Since(r.began)
	if r.err == nil && r.p.b.opt.Profiling {
		from, err1 := r.first.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
		to, err2 := cmp.Or(r.last, r.first).GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
		r.err, took = cmp.Or(err1, err2), time.Duration(to-from)
	}
	for _, e := range []*ocl.Event{r.first, r.last} {
		if e != nil {
			e.Release()
		}
	}
	t := &r.p.timing
	t.Runs, t.Launches, t.LookBack = append(t.Runs, took), r.launches, r.p.look != nil
	return r.err
}

// read copies words from the beginning of m.
func (p *primitive) read(m *ocl.MemObject, to []uint32) error {
	if len(to) == 0 {
		return nil
	}
	return p.b.fail("downloading results", p.b.do(func() error {
		e, err := p.queue.EnqueueReadBuffer(m, true, 0, 4*len(to), unsafe.Pointer(&to[0]), nil)
		if err == nil {
			e.Release()
		}
		return err
	}))
}

func (p *primitive) release() {
	if p.queue != nil {
		p.queue.Release()
	}
	for _, m := range []*ocl.MemObject{p.in, p.flags, p.out, p.sums, p.carry} {
		if m != nil {
			m.Release()
		}
	}
	if p.look != nil {
		p.look.release()
	}
	p.b.unreserve(p.bytes)
}
