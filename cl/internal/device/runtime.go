package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"
	"github.com/rs/zerolog"

	"heddle/engine/plan"
)

// Options configures an open device. The zero value is valid.
type Options struct {
	MemoryLimit  uint64                  // bytes for all buffers; 0: nine tenths of the reported memory, half where reports are wrong
	Profiling    bool                    // measure device times
	CountLoads   bool                    // count loads, with slower kernels
	Tuning       *Tuning                 // in place of the device's row
	Passed       bool                    // another process has passed the self-test of opening
	SkipSelfTest bool                    // trust the kernels, for tests
	Log          *zerolog.Logger         // may be nil
	Step         func(name string)       // called before "context", "build" and "self-test"; may be nil
	Fault        func(step string) error // may fail a driver step, for tests
}

// Runtime is an open device: its context, programs and memory budget. It is safe for
// concurrent use.
type Runtime struct {
	Info       plan.Info
	Tuning     Tuning
	Memory     *Budget // budget of all buffers of the device
	Regions    Regions // buffer of filters
	Profiling  bool
	CountLoads bool
	Log        *zerolog.Logger

	dev          *Device
	Ops          Operations
	skipSelfTest bool
	faulty       func(step string) error
	context      *ocl.Context
	number       int // the least number that no other open context has
	// Transfer carries lists, tables and mappings. Each slot has a queue of its own for
	// its rounds, so that the transfers of one batch overlap the kernels of another one,
	// and a kernel that runs out of work-groups overlaps the next one. One queue each for
	// uploads, kernels and downloads, tied by events, was measured to be slower.
	Transfer *ocl.CommandQueue
	core     *ocl.Program
	building sync.Mutex   // held during a build
	built    sync.RWMutex // guards programs
	programs map[KernelID]*ocl.Program

	paces  sync.Map // *pace by KernelID
	tested tested
	known  sync.Map // results of Remember

	detached sync.WaitGroup // work that its callers have left, or may leave

	halving atomic.Int32 // above 0 launches have two pieces: during self-tests, for drivers whose offsets are wrong
	// FewGroups is a number of work-groups above which launches are cut, whatever time they take. 0: none. For tests.
	FewGroups int

	// enqueuing is held while commands are enqueued. A single goroutine that enqueues for
	// all callers took two goroutine switches per batch, more than the driver takes.
	enqueuing sync.Mutex
	ended     bool     // guarded by enqueuing, as are the fields below
	yielding  int      // callers in yield
	retired   []func() // free what they may still use
}

// Open checks the limits of a device, builds the core programs and runs their
// self-tests. Errors are *plan.DeviceError of kind ErrNoDevice (limits), ErrBuild,
// ErrSelfTest, ErrOutOfMemory or ErrDeviceLost. If ctx ends first, its error returns, and the device closes by itself.
func Open(ctx context.Context, d *Device, opt Options) (*Runtime, error) {
	return Detached(ctx, nil, func() (*Runtime, error) { return open(ctx, d, opt) }, func(rt *Runtime) { _ = rt.Close() })
}

func open(ctx context.Context, d *Device, opt Options) (*Runtime, error) {
	if opt.Tuning != nil {
		d = d.With(func(_ *plan.Info, t *Tuning) { *t = d.quirks.apply(*opt.Tuning) })
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	limit := opt.MemoryLimit
	if limit == 0 {
		limit = d.info.Memory / 10 * 9
		if d.quirks.memoryLies {
			limit = d.info.Memory / 2
		}
	}
	if limit == 0 {
		return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: d.String(), Op: "checking limits", Err: errors.New("its memory has 0 bytes")}
	}
	rt := &Runtime{Info: d.info, Tuning: d.tuning, Memory: NewBudget(d.String(), limit), Profiling: opt.Profiling,
		CountLoads: opt.CountLoads, Log: opt.Log, dev: d, Ops: d.ops, skipSelfTest: opt.SkipSelfTest, faulty: opt.Fault,
		programs: map[KernelID]*ocl.Program{}}
	rt.Regions.rt = rt
	step := opt.Step
	if step == nil {
		step = func(string) {}
	}
	if err := rt.start(step); err != nil {
		rt.release()
		return nil, err
	}
	log := zerolog.Nop()
	if opt.Log != nil {
		log = *opt.Log
	}
	switch {
	case opt.SkipSelfTest:
	case opt.Passed:
		log.Debug().Str("device", d.String()).Msg("self-test left out, another process has passed it")
	default:
		step("self-test")
		began := time.Now()
		if err := rt.SelfTest(ctx); err != nil {
			return nil, errors.Join(err, rt.Close())
		}
		log.Debug().Str("device", d.String()).Dur("took", time.Since(began)).Msg("self-test passed")
	}
	return rt, nil
}

func (rt *Runtime) start(step func(string)) (err error) {
	step("context")
	if err := rt.Fault("open"); err != nil {
		return err
	}
	if rt.context, err = ocl.CreateContext([]*ocl.Device{rt.dev.handle}); err != nil {
		return rt.Fail("creating a context", err)
	}
	rt.number = takeNumber()
	if rt.Transfer, err = rt.NewQueue(); err != nil {
		return err
	}
	step("build")
	return rt.buildCore()
}

// SelfTest runs the self-tests of the operations.
func (rt *Runtime) SelfTest(ctx context.Context) error {
	rt.halving.Add(1)
	defer rt.halving.Add(-1)
	for _, op := range rt.Ops {
		if op.SelfTest == nil {
			continue
		}
		if err := op.SelfTest(ctx, rt); err != nil {
			return err
		}
	}
	return nil
}

// NewQueue makes an in-order queue, which keeps times if the device profiles.
func (rt *Runtime) NewQueue() (*ocl.CommandQueue, error) {
	var properties ocl.CommandQueueProperty
	if rt.Profiling {
		properties = ocl.CommandQueueProfilingEnable
	}
	q, err := rt.context.CreateCommandQueue(rt.dev.handle, properties)
	if err != nil {
		return nil, rt.failAlloc("creating a queue", err)
	}
	return q, nil
}

// Fault lets a test fail a step: "open", "build", "upload", "enqueue", "wait" or "profile". Buffer has the steps "allocate",
// "allocate again", and "pin" for staging memory.
func (rt *Runtime) Fault(step string) error {
	if rt.faulty == nil {
		return nil
	}
	return rt.Fail(step, rt.faulty(step))
}

// Do runs f, which enqueues commands, while no other goroutine enqueues. f does not wait, or others would, except in
// yield. After close it returns plan.ErrClosed.
func (rt *Runtime) Do(f func() error) error {
	rt.enqueuing.Lock()
	defer rt.enqueuing.Unlock()
	if rt.ended {
		return plan.ErrClosed
	}
	return f()
}

// yield runs wait, in the function of Do, while others enqueue.
func (rt *Runtime) yield(wait func() error) error {
	rt.yielding++
	rt.enqueuing.Unlock()
	err := wait()
	rt.enqueuing.Lock()
	if rt.yielding--; rt.yielding == 0 {
		for _, free := range rt.retired {
			free()
		}
		rt.retired = nil
	}
	if rt.ended {
		return plan.ErrClosed
	}
	return err
}

// retire calls free, which frees what functions of Do no longer find, once none of them is in yield.
func (rt *Runtime) retire(free func()) {
	rt.enqueuing.Lock()
	defer rt.enqueuing.Unlock()
	if rt.yielding > 0 {
		rt.retired = append(rt.retired, free)
	} else {
		free()
	}
}

// Buffer makes a device buffer with room for at least one load of four words. The caller
// has reserved its bytes. If the driver has no memory on the device, Buffer frees spare memory, tries
// once more, and lowers the budget. It does not run in Runtime.Do.
func (rt *Runtime) Buffer(flags ocl.MemFlag, bytes uint64, what string) (*ocl.MemObject, error) {
	step, pinned := "allocate", flags&ocl.MemAllocHostPtr != 0
	if pinned {
		step = "pin"
	}
	m, err := rt.create(step, flags, bytes)
	if !pinned && isShortage(err) {
		rt.Memory.freeSpare()
		m, err = rt.create("allocate again", flags, bytes)
		refused := uint64(0)
		if isShortage(err) {
			refused, err = bytes, refusal{err}
		}
		if rt.Memory.Lower(refused) && rt.Log != nil {
			rt.Log.Warn().Str("device", rt.Name()).Uint64("bytes", bytes).Uint64("limit", rt.Memory.Size()).Msg("the device has less memory than expected, the limit falls")
		}
	}
	if err != nil {
		return nil, rt.failAlloc(fmt.Sprintf("allocating %d bytes for %s", bytes, what), err)
	}
	return m, nil
}

// create makes a buffer. Some drivers take the memory of a buffer with its first command: one that kernels
// only read, which holds data, gets it here.
func (rt *Runtime) create(step string, flags ocl.MemFlag, bytes uint64) (m *ocl.MemObject, err error) {
	if rt.faulty != nil {
		if err := rt.faulty(step); err != nil {
			return nil, err
		}
	}
	if m, err = rt.context.CreateEmptyBuffer(flags, int(max(bytes, 16))); err != nil || flags&ocl.MemReadOnly == 0 {
		return m, err
	}
	if err = rt.writeNow(context.Background(), m, 0, make([]uint32, 4)); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

// Name returns the names of the device and its platform, for errors.
func (rt *Runtime) Name() string {
	if rt.dev == nil { // a test without a device
		return rt.Info.Device + " (" + rt.Info.Platform + ")"
	}
	return rt.dev.String()
}

// MaxWorkGroup returns the largest work-group in work-items.
func (rt *Runtime) MaxWorkGroup() int { return rt.dev.group }

// Close releases the device. Its stores must be closed before. A second call returns
// plan.ErrClosed.
func (rt *Runtime) Close() error {
	if !rt.Memory.close() {
		return plan.ErrClosed
	}
	rt.detached.Wait()
	rt.enqueuing.Lock() // commands under way have been enqueued
	rt.ended = true
	rt.enqueuing.Unlock()
	rt.release()
	return nil
}

func (rt *Runtime) release() {
	rt.releasePrograms()
	rt.Regions.release()
	if rt.Transfer != nil {
		rt.Transfer.Release()
	}
	if rt.context != nil {
		rt.context.Release()
		returnNumber(rt.number)
	}
}
