package primitive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
)

// call is one call of a primitive: its buffers, and the times of its runs.
type call struct {
	device.Flight
	scan   Scanner
	n      int // elements
	tiles  int
	runs   int
	bytes  uint64 // reserved
	timing Timing
}

// newCall makes the buffers of a call over in. It returns nil for an empty in.
func newCall(ctx context.Context, b *device.Runtime, in, flags []uint32, runs int) (p *call, err error) {
	if len(in) == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := CheckScan(b); err != nil {
		return nil, err
	}
	p, err = device.Detached(ctx, b, func() (*call, error) { return openCall(b, len(in), len(flags)) }, (*call).release)
	if err != nil {
		return nil, err
	}
	p.runs = max(runs, 1)
	if err = b.WriteWords(ctx, p.scan.In, 0, in); err == nil && len(flags) > 0 {
		err = b.WriteWords(ctx, p.scan.Flags, 0, flags)
	}
	if err != nil {
		p.end(ctx)
		return nil, err
	}
	return p, nil
}

// openCall makes the buffers for n elements and some words of flags.
func openCall(b *device.Runtime, n, flags int) (p *call, err error) {
	t := b.Tuning
	p = &call{Flight: device.NewFlight(b, b.Memory), n: n, tiles: (n + ScanTile(t) - 1) / ScanTile(t)}
	defer func() {
		if err != nil {
			p.release()
			p = nil
		}
	}()
	words := uint64(n)
	if size := 4*words + 16; words > 1<<32-1-uint64(ScanTile(t)) || size > b.Info.MaxAlloc {
		return p, b.OutOfMemory("running a primitive", fmt.Errorf("%d elements, a buffer has at most %d bytes", n, b.Info.MaxAlloc))
	}
	need := 4 * (2*words + uint64(flags+t.ScanChunk) + 32)
	if err = b.Memory.Reserve(need, "a primitive"); err != nil {
		return p, err
	}
	p.bytes = need
	for _, m := range []struct {
		to    **ocl.MemObject
		words uint64
		what  string
	}{{&p.scan.In, words + 4, "elements"}, {&p.scan.Flags, uint64(flags) + 4, "flags"}, {&p.scan.Out, words + 4, "results"},
		{&p.scan.Sums, uint64(t.ScanChunk), "sums of tiles"}, {&p.scan.Carry, 4, "the sum"}} {
		if *m.to, err = b.Buffer(ocl.MemReadWrite, 4*m.words, m.what); err != nil {
			return p, err
		}
	}
	if p.Queue, err = b.NewQueue(); err != nil {
		return p, err
	}
	if LooksBack(b) {
		if p.scan.Look, err = NewLookBack(b, b.Memory, p.tiles); err != nil {
			return p, err
		}
	}
	return p, p.Prepare(scanSums.KernelID)
}

// run runs the kernels and returns the sum over all elements.
func (p *call) run(ctx context.Context) (sum uint32, err error) {
	for range p.runs {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err := p.once(ctx); err != nil {
			return 0, p.Device.Fail("running a primitive", err)
		}
	}
	var carry [4]uint32
	err = p.ReadNow(ctx, p.scan.Carry, carry[:])
	if chunks := (p.tiles + p.Device.Tuning.ScanChunk - 1) / p.Device.Tuning.ScanChunk; p.scan.Look == nil {
		return carry[chunks&1], err
	}
	return carry[0], err
}

// once enqueues the launches of a run and waits for them, or until ctx ends.
func (p *call) once(ctx context.Context) error {
	err := p.Enqueue(ctx, func() error {
		if err := p.Clear(p.scan.Carry, 4); err != nil {
			return err
		}
		return p.timed(func() error { return p.scan.Enqueue(&p.Flight, p.n, device.CompactTime) })
	})
	if err != nil || p.scan.Look == nil {
		return err
	}
	failed, err := p.scan.Look.GaveUp(ctx, &p.Flight)
	if failed {
		err = errors.New("a work-group waited in vain for another")
	}
	return err
}

// timed enqueues the launches of a run, waits for them and notes the time.
func (p *call) timed(enqueue func() error) error {
	defer p.ReleaseEvents()
	began := time.Now()
	if err := enqueue(); err != nil {
		return err
	}
	if err := p.Pause(); err != nil {
		return err
	}
	var err error
	took := time.Since(began)
	if p.Device.Profiling {
		from, err1 := p.Events[0].Event.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
		to, err2 := p.Last().GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
		err, took = cmp.Or(err1, err2), time.Duration(to-from)
	}
	t := &p.timing
	t.Runs, t.Launches, t.LookBack = append(t.Runs, took), len(p.Events), p.scan.Look != nil
	return err
}

// end frees everything, which may wait for the device.
func (p *call) end(ctx context.Context) { device.Free(ctx, p.Device, p.release) }

func (p *call) release() {
	if p.Queue != nil {
		p.Land()
	}
	p.Flight.Release()
	device.ReleaseBuffers(p.scan.In, p.scan.Flags, p.scan.Out, p.scan.Sums, p.scan.Carry)
	if p.scan.Look != nil {
		p.scan.Look.Release()
	}
	p.Memory.Unreserve(p.bytes)
}
