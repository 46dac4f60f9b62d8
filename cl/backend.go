package cl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"
	"github.com/rs/zerolog"

	"heddle/codec"
	"heddle/engine/plan"
)

// Options of a backend; the zero value is right for most.
type Options struct {
	// MemoryLimit caps what lists, tables and scratch take, in bytes. 0 means
	// nine tenths of what the device reports, half where its reports are known
	// to be wrong.
	MemoryLimit uint64
	// Profiling fills the device times of plan.Stats.
	Profiling bool
	// CountLoads fills plan.Stats.BytesMoved; kernels get slower.
	CountLoads bool
	// Tuning overrides the row of the tuning table.
	Tuning *Tuning
	// SkipSelfTest opens a device without the self-test, for tests of the
	// kernels themselves.
	SkipSelfTest bool
	Log          *zerolog.Logger

	// fault is asked before each step of a driver and may fail it, in tests.
	fault func(step string) error
}

// Backend is one OpenCL device. Commands are enqueued by one goroutine at a time
// (do). It is safe for concurrent use.
type Backend struct {
	dev     *Device
	tuning  Tuning
	opt     Options
	context *ocl.Context
	// transfer carries what is not part of a batch: lists, tables, mappings. Each
	// slot has a queue of its own for its rounds, so that the transfers of one
	// batch overlap the kernels of another, and a kernel that runs out of
	// work-groups overlaps the next one. (One queue for uploads, kernels and
	// downloads each, tied by events, was measured to be slower.)
	transfer *ocl.CommandQueue
	core     *ocl.Program
	building sync.Mutex // guards programs; held while one is built
	programs map[kernelID]*ocl.Program

	progress   sync.Once // testProgress has run, and
	progresses bool      // it passed

	tested tested

	// enqueuing is held by who enqueues commands. (A goroutine that does so for all,
	// reached over a channel, took two switches of goroutines a batch: more than the
	// driver takes.)
	enqueuing sync.Mutex
	ended     bool // guarded by it

	budget
}

var _ plan.Backend = (*Backend)(nil)

// Open makes a backend of a device: it checks limits, builds the kernels and
// runs the self-test. Errors are *plan.DeviceError of kind ErrNoDevice (limits),
// ErrBuild, ErrSelfTest, ErrOutOfMemory or ErrDeviceLost.
func Open(ctx context.Context, d *Device, opt Options) (*Backend, error) {
	if opt.Tuning != nil {
		copied := *d
		copied.tuning = d.quirks.apply(*opt.Tuning)
		copied.describeTuning()
		d = &copied
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	b := &Backend{dev: d, tuning: d.tuning, opt: opt, programs: map[kernelID]*ocl.Program{}}
	b.tested.codecs, b.tested.algorithms = map[codec.ID]bool{}, map[plan.Algorithm]bool{}
	b.tested.ranks, b.tested.words = map[plan.Accumulators]bool{}, map[tableTest]bool{}
	b.device = d.String()
	b.limit = opt.MemoryLimit
	if b.limit == 0 {
		b.limit = d.info.Memory / 10 * 9
		if d.quirks.memoryLies {
			b.limit = d.info.Memory / 2
		}
	}
	if err := b.start(); err != nil {
		b.release()
		return nil, err
	}
	if !opt.SkipSelfTest {
		began := time.Now()
		if err := b.selfTest(ctx); err != nil {
			return nil, errors.Join(err, b.Close())
		}
		if opt.Log != nil {
			opt.Log.Debug().Str("device", d.String()).Dur("took", time.Since(began)).Msg("self-test passed")
		}
	}
	return b, nil
}

func (b *Backend) start() (err error) {
	if err := b.fault("open"); err != nil {
		return err
	}
	if b.context, err = ocl.CreateContext([]*ocl.Device{b.dev.handle}); err != nil {
		return b.fail("creating a context", err)
	}
	if b.transfer, err = b.newQueue(); err != nil {
		return err
	}
	return b.buildCore()
}

func (b *Backend) newQueue() (*ocl.CommandQueue, error) {
	var properties ocl.CommandQueueProperty
	if b.opt.Profiling {
		properties = ocl.CommandQueueProfilingEnable
	}
	q, err := b.context.CreateCommandQueue(b.dev.handle, properties)
	if err != nil {
		return nil, b.failAlloc("creating a queue", err)
	}
	return q, nil
}

// fault lets a test fail a step.
func (b *Backend) fault(step string) error {
	if b.opt.fault == nil {
		return nil
	}
	err := b.opt.fault(step)
	if step == "allocate" {
		return b.failAlloc(step, err)
	}
	return b.fail(step, err)
}

// do runs f, which enqueues commands, while nobody else does. After Close it gives
// plan.ErrClosed.
func (b *Backend) do(f func() error) error {
	b.enqueuing.Lock()
	defer b.enqueuing.Unlock()
	if b.ended {
		return plan.ErrClosed
	}
	return f()
}

// buffer makes a device buffer of at least one load of four words.
func (b *Backend) buffer(flags ocl.MemFlag, bytes uint64, what string) (*ocl.MemObject, error) {
	if err := b.fault("allocate"); err != nil {
		return nil, err
	}
	m, err := b.context.CreateEmptyBuffer(flags, int(max(bytes, 16)))
	if err != nil {
		return nil, b.failAlloc(fmt.Sprintf("allocating %d bytes for %s", bytes, what), err)
	}
	return m, nil
}

// Info describes the device.
func (b *Backend) Info() plan.Info { return b.dev.info }

// CopyPeak measures a copy inside device memory, in bytes read and written a
// second, the best of several.
func (b *Backend) CopyPeak(ctx context.Context) (float64, error) {
	size := min(b.limit/8, b.dev.info.MaxAlloc, 1<<30)
	if err := b.reserve(2*size, "buffers of the copy benchmark"); err != nil {
		return 0, err
	}
	defer b.unreserve(2 * size)
	src, err := b.buffer(ocl.MemReadWrite, size, "the copy benchmark")
	if err != nil {
		return 0, err
	}
	defer src.Release()
	dst, err := b.buffer(ocl.MemReadWrite, size, "the copy benchmark")
	if err != nil {
		return 0, err
	}
	defer dst.Release()
	const copies = 4
	best := 0.0
	for range 6 {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		var took time.Duration
		err := b.do(func() error {
			if err := b.transfer.Finish(); err != nil {
				return err
			}
			began := time.Now()
			for range copies {
				e, err := b.transfer.EnqueueCopyBuffer(src, dst, 0, 0, int(size), nil)
				if err != nil {
					return err
				}
				e.Release()
			}
			err := b.transfer.Finish()
			took = time.Since(began)
			return err
		})
		if err != nil {
			return 0, b.fail("copying", err)
		}
		best = max(best, copies*2*float64(size)/took.Seconds())
	}
	return best, nil
}

// Close releases the device. Stores must be closed before;
// a second Close gives plan.ErrClosed.
func (b *Backend) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return plan.ErrClosed
	}
	b.closed = true
	b.mu.Unlock()
	b.enqueuing.Lock() // who enqueues has ended
	b.ended = true
	b.enqueuing.Unlock()
	b.release()
	return nil
}

func (b *Backend) release() {
	b.releasePrograms()
	if b.transfer != nil {
		b.transfer.Release()
	}
	if b.context != nil {
		b.context.Release()
	}
}
