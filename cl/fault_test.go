package cl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec"
	"heddle/engine/plan"
)

// faults makes one driver call fail, or every n-th.
type faults struct {
	mu    sync.Mutex
	step  string
	n     int // the n-th call from now fails; 0: none does
	every bool
	err   error
	calls map[string]int
}

func (f *faults) arm(step string, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step, f.n, f.err, f.every = step, n, err, false
	f.calls = map[string]int{}
}

func (f *faults) count(step string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[step]
}

func (f *faults) hook(step string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[step]++
	if step == f.step && f.n > 0 && (f.calls[step] == f.n || f.every && f.calls[step]%f.n == 0) {
		return f.err
	}
	return nil
}

// openFaulty opens the device without a self-test and with faults to be armed.
func openFaulty(t *testing.T, tuning Tuning) (*Backend, *faults) {
	t.Helper()
	d := testDevice(t)
	f := &faults{calls: map[string]int{}}
	b, err := Open(t.Context(), d, Options{Tuning: &tuning, SkipSelfTest: true, fault: f.hook})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := inUse(b); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, f
}

// inUse is what buffers are promised, in bytes.
func inUse(b *Backend) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// fewTiles is the device's row with rounds so small that a batch takes several.
func fewTiles(t *testing.T) Tuning {
	tuning := testDevice(t).Tuning()
	tuning.RoundTiles = 8
	return tuning
}

// question is a batch over the lists of the self-test, and its answer.
type question struct {
	src   *plan.Source
	batch plan.MatchBatch
	want  [][]uint32
}

func ask(t *testing.T) *question {
	t.Helper()
	src, lists, err := selfTestSource()
	if err != nil {
		t.Fatal(err)
	}
	q := &question{src: src}
	q.batch.Reset()
	for h := range uint32(len(lists)) {
		for k := range h + 1 {
			q.batch.Add(src, h, k)
			q.want = append(q.want, plainIntersect(lists, q.batch.Query(q.batch.Queries()-1)))
		}
	}
	return q
}

// run answers the question on s; a right answer gives nil, a wrong one fails the
// test.
func (q *question) run(ctx context.Context, t *testing.T, s plan.Store) error {
	t.Helper()
	var out plan.Results
	if err := s.Match(ctx, &q.batch, &out); err != nil {
		return err
	}
	for i, want := range q.want {
		if !slices.Equal(out.Query(i), want) {
			t.Errorf("query %d over lists %v: %d docIDs, want %d", i, q.batch.Query(i), out.Count(i), len(want))
		}
	}
	return nil
}

// limited ends a test that hangs.
func limited(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	return ctx
}

// typed checks that err is a *plan.DeviceError of one of kinds that names device
// and operation and wraps what the driver said.
func typed(t *testing.T, err, driver error, kinds ...error) {
	t.Helper()
	var device *plan.DeviceError
	if !errors.As(err, &device) {
		t.Errorf("%T is no *plan.DeviceError: %v", err, err)
		return
	}
	if !slices.Contains(kinds, device.Kind) {
		t.Errorf("%v is of kind %v, want one of %v", err, device.Kind, kinds)
	}
	if !errors.Is(err, driver) {
		t.Errorf("%v does not wrap %v", err, driver)
	}
	if device.Device == "" || device.Op == "" {
		t.Errorf("%v does not name device and operation: %+v", err, device)
	}
}

// TestErrorKinds maps what drivers say to what the engine acts on.
func TestErrorKinds(t *testing.T) {
	b := &Backend{dev: &Device{info: plan.Info{Device: "A", Platform: "P"}}}
	for _, c := range []struct {
		driver      error
		work, alloc error // the kind during work, and while buffers are made
	}{
		{ocl.ErrMemObjectAllocationFailure, plan.ErrOutOfMemory, plan.ErrOutOfMemory},
		{ocl.ErrOutOfHostMemory, plan.ErrOutOfMemory, plan.ErrOutOfMemory},
		{ocl.ErrInvalidBufferSize, plan.ErrOutOfMemory, plan.ErrOutOfMemory},
		{ocl.ErrOutOfResources, plan.ErrDeviceLost, plan.ErrOutOfMemory},
		{ocl.ErrDeviceNotAvailable, plan.ErrDeviceLost, plan.ErrDeviceLost},
		{ocl.ErrInvalidCommandQueue, plan.ErrDeviceLost, plan.ErrDeviceLost},
		{ocl.ErrExecStatusErrorForEventsInWaitList, plan.ErrDeviceLost, plan.ErrDeviceLost},
		{ocl.ErrOther(-9999), plan.ErrDeviceLost, plan.ErrDeviceLost},
	} {
		typed(t, b.fail("working", c.driver), c.driver, c.work)
		typed(t, b.failAlloc("allocating", c.driver), c.driver, c.alloc)
		typed(t, b.fail("working", fmt.Errorf("wrapped: %w", c.driver)), c.driver, c.work)
	}
	if err := b.fail("working", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	if err := b.failAlloc("allocating", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	first := b.fail("the first step", ocl.ErrOutOfHostMemory)
	if err := b.fail("the second step", first); err != first {
		t.Errorf("a typed error was wrapped again: %v", err)
	}
	for _, word := range []string{"A (P)", "the first step", "out of memory", "out of host memory"} {
		if !strings.Contains(first.Error(), word) {
			t.Errorf("%q does not say %q", first, word)
		}
	}
}

// TestOpenFaults fails to open, in every step, and leaves nothing behind.
func TestOpenFaults(t *testing.T) {
	d := testDevice(t)
	tuning := d.Tuning()
	if b, err := Open(t.Context(), d, Options{}); err != nil { // what the driver starts once
		t.Fatal(err)
	} else if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for _, step := range []string{"open", "build", "allocate", "upload", "enqueue", "wait"} {
		for _, driver := range []error{ocl.ErrDeviceNotAvailable, ocl.ErrOutOfHostMemory} {
			f := &faults{}
			f.arm(step, 1, driver)
			b, err := Open(t.Context(), d, Options{Tuning: &tuning, fault: f.hook})
			if b != nil || err == nil {
				t.Errorf("%s failed, the device is open: %v", step, err)
				continue
			}
			kind := plan.ErrDeviceLost
			if driver == ocl.ErrOutOfHostMemory {
				kind = plan.ErrOutOfMemory
			}
			typed(t, err, driver, kind)
			if f.count(step) == 0 {
				t.Errorf("opening never comes to %s", step)
			}
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestLoadFaults fails each allocation and each upload of a load in turn. Either
// the store does without (tables that do not fit), and answers; or the load
// fails, and nothing stays.
func TestLoadFaults(t *testing.T) {
	b, f := openFaulty(t, fewTiles(t))
	q := ask(t)
	for _, step := range []string{"allocate", "upload"} {
		for _, driver := range []error{ocl.ErrMemObjectAllocationFailure, ocl.ErrOutOfResources, ocl.ErrDeviceNotAvailable} {
			kinds := []error{plan.ErrDeviceLost}
			if driver == ocl.ErrMemObjectAllocationFailure || driver == ocl.ErrOutOfResources && step == "allocate" {
				kinds[0] = plan.ErrOutOfMemory
			}
			failed, n := 0, 0
			for n = 1; ; n++ {
				f.arm(step, n, driver)
				s, err := b.Load(limited(t), q.src)
				reached := f.count(step) >= n
				f.arm("", 0, nil)
				if err != nil {
					failed++
					typed(t, err, driver, kinds...)
					if used := inUse(b); used != 0 {
						t.Fatalf("%s %d failed: %d bytes are still reserved", step, n, used)
					}
					continue
				}
				if err := q.run(limited(t), t, s); err != nil {
					t.Errorf("%s %d failed, the store was made without: %v", step, n, err)
				}
				if used := inUse(b); used != s.Memory() {
					t.Errorf("%d bytes are reserved, the store says %d", used, s.Memory())
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if used := inUse(b); used != 0 {
					t.Fatalf("%s %d failed, then closed: %d bytes are still reserved", step, n, used)
				}
				if !reached {
					break
				}
			}
			if failed == 0 {
				t.Errorf("no failing %s made a load fail", step)
			}
		}
	}
}

// TestRunFaults fails a round of a batch, each in turn, and uses the store again.
func TestRunFaults(t *testing.T) {
	b, f := openFaulty(t, fewTiles(t))
	q := ask(t)
	s, err := b.load(t.Context(), q.src)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"enqueue", "wait"} {
		for _, driver := range []error{ocl.ErrOutOfResources, ocl.ErrDeviceNotAvailable, ocl.ErrMemObjectAllocationFailure} {
			kind := plan.ErrDeviceLost
			if driver == ocl.ErrMemObjectAllocationFailure {
				kind = plan.ErrOutOfMemory
			}
			for n := 1; n < 6; n++ {
				f.arm(step, n, driver)
				err := q.run(limited(t), t, s)
				f.arm("", 0, nil)
				if err == nil {
					t.Errorf("%s %d failed, the batch was answered", step, n)
				}
				typed(t, err, driver, kind)
				if err := q.run(limited(t), t, s); err != nil {
					t.Fatalf("after %s %d had failed: %v", step, n, err)
				}
			}
		}
	}
	if n := s.slots; n != len(s.free) {
		t.Errorf("%d of %d slots came back", len(s.free), n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestResultsDoNotFit fails the allocation that results need beyond the first
// pinned memory.
func TestResultsDoNotFit(t *testing.T) {
	b, f := openFaulty(t, testDevice(t).Tuning())
	docs := make([]uint32, 3*firstDown/8)
	for i := range docs {
		docs[i] = uint32(i)
	}
	src := &plan.Source{Docs: uint32(len(docs))}
	if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	s, err := b.load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	var batch plan.MatchBatch
	var out plan.Results
	batch.Add(src, 0)
	f.arm("allocate", 1, ocl.ErrMemObjectAllocationFailure)
	err = s.Match(limited(t), &batch, &out)
	if f.count("allocate") > 0 {
		typed(t, err, ocl.ErrMemObjectAllocationFailure, plan.ErrOutOfMemory)
	} else if err != nil { // on a device whose rounds are small
		t.Error(err)
	}
	f.arm("", 0, nil)
	if err := s.Match(limited(t), &batch, &out); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out.Query(0), docs) {
		t.Error("a query of one list does not give the list")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestConcurrentFaults has callers on a device that fails now and then: each
// gets the answer or an error, and nobody waits for ever.
func TestConcurrentFaults(t *testing.T) {
	b, f := openFaulty(t, fewTiles(t))
	q := ask(t)
	s, err := b.load(t.Context(), q.src)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"enqueue", "wait"} {
		f.arm(step, 11, ocl.ErrOutOfResources)
		f.mu.Lock()
		f.every = true
		f.mu.Unlock()
		ctx := limited(t)
		var wg sync.WaitGroup
		for caller := range 4 {
			wg.Go(func() {
				for range 3 {
					ctx, stop := context.WithCancel(ctx)
					if caller == 3 { // and some give up
						time.AfterFunc(time.Millisecond, stop)
					}
					err := q.run(ctx, t, s)
					if err != nil && !errors.Is(err, context.Canceled) {
						typed(t, err, ocl.ErrOutOfResources, plan.ErrDeviceLost)
					}
					stop()
				}
			})
		}
		wg.Wait()
		f.arm("", 0, nil)
		if err := q.run(ctx, t, s); err != nil {
			t.Errorf("after faults of %s: %v", step, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestBuildFailure gives the log of the compiler.
func TestBuildFailure(t *testing.T) {
	b, _ := openFaulty(t, testDevice(t).Tuning())
	p, err := b.build("__kernel void broken(__global int *x) { x[0] = no_such_name; }")
	if p != nil {
		p.Release()
	}
	var device *plan.DeviceError
	if !errors.Is(err, plan.ErrBuild) || !errors.As(err, &device) {
		t.Fatalf("a program that does not compile: %v", err)
	}
	if !strings.Contains(device.Log, "no_such_name") || !strings.Contains(err.Error(), "no_such_name") {
		t.Errorf("the compiler's log is not in the error: %v", err)
	}
	p, err = b.build("__kernel void fine(__global int *x) { x[0] = 1; }")
	if err != nil {
		t.Fatalf("after a failed build: %v", err)
	}
	p.Release()
}

// TestBuildFailureAtOpening closes what was opened so far.
func TestBuildFailureAtOpening(t *testing.T) {
	d := testDevice(t)
	failed := &plan.DeviceError{Kind: plan.ErrBuild, Device: d.String(), Op: "building", Log: "line 3: what?"}
	b, err := Open(t.Context(), d, Options{fault: func(step string) error {
		if step == "build" {
			return failed
		}
		return nil
	}})
	if b != nil || !errors.Is(err, plan.ErrBuild) || !strings.Contains(err.Error(), "line 3: what?") {
		t.Errorf("open: %v, %v", b, err)
	}
}

// TestSelfTestFails builds kernels that take bitsets for unknown lists: what a
// driver that miscompiles would do.
func TestSelfTestFails(t *testing.T) {
	b, _ := openFaulty(t, testDevice(t).Tuning())
	source := programSource(b.tuning, false, coreKernels...)
	wrong := strings.Replace(source, "#define CODEC_BITSET 3", "#define CODEC_BITSET 5", 1)
	if wrong == source {
		t.Fatal("the kernels do not define CODEC_BITSET as 3")
	}
	right := b.core
	use := func(p *ocl.Program) {
		for _, k := range coreKernels {
			b.programs[k] = p
		}
	}
	broken, err := b.build(wrong)
	if err != nil {
		t.Fatal(err)
	}
	use(broken)
	err = b.selfTest(limited(t))
	use(right)
	broken.Release()
	var device *plan.DeviceError
	if !errors.Is(err, plan.ErrSelfTest) || !errors.As(err, &device) || device.Err == nil {
		t.Errorf("the self-test of wrong kernels: %v", err)
	}
	if err := b.selfTest(limited(t)); err != nil {
		t.Errorf("the self-test of right kernels: %v", err)
	}
}

// TestMemoryPreflight refuses before anything is allocated, with sizes.
func TestMemoryPreflight(t *testing.T) {
	d := testDevice(t)
	q := ask(t)
	f := &faults{calls: map[string]int{}}
	b, err := Open(t.Context(), d, Options{MemoryLimit: 1000, SkipSelfTest: true, fault: f.hook})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.Load(t.Context(), q.src)
	if s != nil || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Fatalf("load into 1000 bytes: %v", err)
	}
	if n := f.count("allocate"); n != 0 {
		t.Errorf("%d buffers were allocated before the refusal", n)
	}
	for _, word := range []string{"of 1000", "lists and scratch take"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %s", err, word)
		}
	}
	if inUse(b) != 0 {
		t.Errorf("%d bytes are reserved", inUse(b))
	}
	if b, err := Open(t.Context(), d, Options{MemoryLimit: 1000}); b != nil || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("a self-test in 1000 bytes: %v", err)
	}
}

// TestMemoryLimits raises the limit step by step: with little, a load is
// refused; then it gets by without tables; in the end it has them all. The limit
// holds throughout.
func TestMemoryLimits(t *testing.T) {
	d := testDevice(t)
	q := ask(t)
	tuning := fewTiles(t)
	full, err := Open(t.Context(), d, Options{Tuning: &tuning, SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := full.load(t.Context(), q.src)
	if err != nil {
		t.Fatal(err)
	}
	needed, bits := s.Memory(), s.tables[plan.Bits].bytes
	if err := errors.Join(s.Close(), full.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit uint64
		auto  plan.Algorithm // Auto: the load is refused
	}{
		{needed - bits - 1, plan.Auto},
		{needed - bits, plan.BS},
		{needed, plan.Bits},
	} {
		b, err := Open(t.Context(), d, Options{Tuning: &tuning, SkipSelfTest: true, MemoryLimit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.load(t.Context(), q.src)
		if c.auto == plan.Auto {
			if !errors.Is(err, plan.ErrOutOfMemory) || inUse(b) != 0 {
				t.Errorf("limit %d of %d: %v, %d bytes reserved", c.limit, needed, err, inUse(b))
			}
		} else if err != nil {
			t.Errorf("limit %d of %d: %v", c.limit, needed, err)
		} else {
			if s.auto != c.auto || inUse(b) > c.limit {
				t.Errorf("limit %d of %d: %v, %d bytes reserved", c.limit, needed, s.auto, inUse(b))
			}
			if err := q.run(limited(t), t, s); err != nil {
				t.Error(err)
			}
			if s.auto == plan.BS { // what was asked for is not quietly something else
				batch := q.batch
				batch.Algorithm = plan.Bits
				if err := s.Match(limited(t), &batch, &plan.Results{}); !errors.Is(err, plan.ErrOutOfMemory) {
					t.Errorf("tables that do not fit: %v", err)
				}
				if err := q.run(limited(t), t, s); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if inUse(b) != 0 {
			t.Errorf("limit %d: %d bytes are still reserved", c.limit, inUse(b))
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSelfTestOnFirstUse tests the kernels of codecs when lists are loaded, and those
// of algorithms when a batch asks for one; wrong ones are not used.
func TestSelfTestOnFirstUse(t *testing.T) {
	b, err := Open(t.Context(), testDevice(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	src, _, err := selfTestSource(codec.Raw, codec.HSLRC256)
	if err != nil {
		t.Fatal(err)
	}
	id := kernelID{"intersect", useLines}
	source := programSource(b.tuning, false, id)
	wrong := strings.Replace(source, "#define PROBE_OWN 4", "#define PROBE_OWN 44", 1)
	if wrong == source {
		t.Fatal("the kernels do not define PROBE_OWN as 4")
	}
	if b.programs[id], err = b.build(wrong); err != nil {
		t.Fatal(err)
	}
	if s, err := b.Load(t.Context(), src); s != nil || !errors.Is(err, plan.ErrSelfTest) || b.tested.codecs[codec.HSLRC256] {
		t.Errorf("lists whose kernels are wrong: %v", err)
	}
	b.programs[id].Release()
	delete(b.programs, id)
	s, err := b.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !b.tested.codecs[codec.HSLRC256] || len(b.tested.codecs) != 1 {
		t.Errorf("tested codecs: %v", b.tested.codecs)
	}
	for _, a := range []plan.Algorithm{plan.HS32, plan.PMF1} {
		batch := plan.MatchBatch{Algorithm: a}
		batch.Add(src, 0, 2)
		if err := s.Match(t.Context(), &batch, &plan.Results{}); err != nil {
			t.Fatal(err)
		}
	}
	if !b.tested.algorithms[plan.PMF1] || len(b.tested.algorithms) != 1 {
		t.Errorf("tested algorithms: %v", b.tested.algorithms)
	}
}
