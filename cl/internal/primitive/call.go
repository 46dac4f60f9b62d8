package primitive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
)

// call is one call of a primitive: buffers, kernels, and the times of its runs.
type call struct {
	rt             *device.Runtime
	n, tiles, runs int
	bytes          uint64 // reserved
	program        *ocl.Program
	queue          *ocl.CommandQueue
	in, flags, out *ocl.MemObject
	sums           *ocl.MemObject // of the tiles of a chunk
	carry          *ocl.MemObject // sum of all chunks so far, in one of two words
	look           *LookBack      // nil in the plain form
	timing         Timing
}

// newCall makes the buffers of a call over in. It returns nil for an empty in.
func newCall(ctx context.Context, b *device.Runtime, in, flags []uint32, runs int) (p *call, err error) {
	if len(in) == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := CheckScan(b); err != nil {
		return nil, err
	}
	t := b.Tuning
	p = &call{rt: b, n: len(in), tiles: (len(in) + ScanTile(t) - 1) / ScanTile(t), runs: max(runs, 1)}
	defer func() {
		if err != nil {
			p.release()
			p = nil
		}
	}()
	words := uint64(len(in))
	if size := 4*words + 16; words > 1<<32-1-uint64(ScanTile(t)) || size > b.Info.MaxAlloc {
		return p, b.OutOfMemory("running a primitive", fmt.Errorf("%d elements, a buffer has at most %d bytes", len(in), b.Info.MaxAlloc))
	}
	need := 4 * (2*words + uint64(len(flags)+t.ScanChunk) + 32)
	if err = b.Memory.Reserve(need, "a primitive"); err != nil {
		return p, err
	}
	p.bytes = need
	for _, m := range []struct {
		to    **ocl.MemObject
		words uint64
		what  string
	}{{&p.in, words + 4, "elements"}, {&p.flags, uint64(len(flags)) + 4, "flags"}, {&p.out, words + 4, "results"},
		{&p.sums, uint64(t.ScanChunk), "sums of tiles"}, {&p.carry, 4, "the sum"}} {
		if *m.to, err = b.Buffer(ocl.MemReadWrite, 4*m.words, m.what); err != nil {
			return p, err
		}
	}
	if err = b.WriteWords(p.in, 0, in); err != nil {
		return p, err
	}
	if len(flags) > 0 {
		if err = b.WriteWords(p.flags, 0, flags); err != nil {
			return p, err
		}
	}
	if p.queue, err = b.NewQueue(); err != nil {
		return p, err
	}
	if LooksBack(b) {
		if p.look, err = NewLookBack(b, b.Memory, p.tiles); err != nil {
			return p, err
		}
	}
	p.program, err = b.ProgramOf(device.KernelID{Name: "scan_sums"})
	return p, err
}

// run runs the kernels of "scan" or "compact" and returns the sum over all elements.
func (p *call) run(ctx context.Context, name string, what [4]uint32) (sum uint32, err error) {
	for range p.runs {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		err := p.rt.Do(func() error {
			if p.look != nil {
				return p.ahead(name, what)
			}
			return p.plain(name, what)
		})
		if err != nil {
			return 0, p.rt.Fail("running "+name, err)
		}
	}
	var carry [4]uint32
	err = p.read(p.carry, carry[:])
	if chunks := (p.tiles + p.rt.Tuning.ScanChunk - 1) / p.rt.Tuning.ScanChunk; p.look == nil {
		return carry[chunks&1], err
	}
	return carry[0], err
}

// plain enqueues two launches per chunk and waits for them.
func (p *call) plain(name string, what [4]uint32) error {
	t := p.rt.Tuning
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

// ahead enqueues one launch with look-back and waits for it.
func (p *call) ahead(name string, what [4]uint32) error {
	ticket, epoch, err := p.look.Begin(p.queue, p.tiles)
	if err != nil {
		return err
	}
	var k *ocl.Kernel
	if name == "scan" {
		k, err = p.kernel("scan_ahead", p.in, p.out, p.n, p.look.State, ticket, epoch, p.carry)
	} else {
		k, err = p.kernel("compact_ahead", p.in, p.flags, p.out, p.n, p.look.State, ticket, epoch, p.carry, what)
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
	failed, err := p.look.GaveUp(p.queue)
	if failed {
		err = errors.New("a work-group waited in vain for another")
	}
	return err
}

// kernel makes a kernel object with its arguments: buffers, words, or four words.
func (p *call) kernel(name string, args ...any) (*ocl.Kernel, error) {
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
	p           *call
	began       time.Time
	first, last *ocl.Event
	launches    int
	err         error
}

func (p *call) begin() *timedRun { return &timedRun{p: p, began: time.Now()} }

func (r *timedRun) try(err error) { r.err = cmp.Or(r.err, err) }

func (r *timedRun) launch(k *ocl.Kernel, groups int) {
	if r.err != nil {
		return
	}
	local := r.p.rt.Tuning.ScanWG
	if r.p.rt.Tuning.Serial {
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
	if r.err == nil && r.p.rt.Profiling {
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

// read downloads the first words of m.
func (p *call) read(m *ocl.MemObject, to []uint32) error {
	if len(to) == 0 {
		return nil
	}
	return p.rt.Fail("downloading results", p.rt.Do(func() error {
		e, err := p.queue.EnqueueReadBuffer(m, true, 0, 4*len(to), unsafe.Pointer(&to[0]), nil)
		if err == nil {
			e.Release()
		}
		return err
	}))
}

func (p *call) release() {
	if p.queue != nil {
		p.queue.Release()
	}
	for _, m := range []*ocl.MemObject{p.in, p.flags, p.out, p.sums, p.carry} {
		if m != nil {
			m.Release()
		}
	}
	if p.look != nil {
		p.look.Release()
	}
	p.rt.Memory.Unreserve(p.bytes)
}
