package cl

import (
	"context"
	"errors"
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

// question is a batch over the lists of the self-test, and its answer.
type question struct {
	src   *plan.Source
	batch plan.MatchBatch
	want  [][]uint32
}

func ask(t *testing.T) *question {
	t.Helper()
	src, lists, err := sampleLists()
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

// TestOpenFaults fails to open, in every step, and leaves nothing behind.
func TestOpenFaults(t *testing.T) {
	d := testDevice(t, everything)
	tuning := d.Tuning()
	if b, err := openDevice(t.Context(), d, deviceOptions{}); err != nil { // what the driver starts once
		t.Fatal(err)
	} else if err := b.close(); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for _, step := range []string{"open", "build", "allocate", "upload", "enqueue", "wait"} {
		for _, driver := range []error{ocl.ErrDeviceNotAvailable, ocl.ErrOutOfHostMemory} {
			f := newFaults()
			f.arm(step, 1, driver)
			b, err := openDevice(t.Context(), d, deviceOptions{Tuning: &tuning, Fault: f.hook})
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
	b, f := openFaulty(t, testDevice(t, everything), fewTiles(testDevice(t, everything)))
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
				s, err := load(limited(t), b, q.src)
				reached := f.count(step) >= n
				f.disarm()
				if err != nil {
					failed++
					typed(t, err, driver, kinds...)
					if used := b.memory.inUse(); used != 0 {
						t.Fatalf("%s %d failed: %d bytes are still reserved", step, n, used)
					}
					continue
				}
				if err := q.run(limited(t), t, s); err != nil {
					t.Errorf("%s %d failed, the store was made without: %v", step, n, err)
				}
				if used := b.memory.inUse(); used != s.Memory() {
					t.Errorf("%d bytes are reserved, the store says %d", used, s.Memory())
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if used := b.memory.inUse(); used != 0 {
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
	b, f := openFaulty(t, testDevice(t, everything), fewTiles(testDevice(t, everything)))
	q := ask(t)
	s, err := loadUntestedLists(t.Context(), b, q.src)
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
				f.disarm()
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
	if n := s.conjunction.slots; n != len(s.conjunction.free) {
		t.Errorf("%d of %d slots came back", len(s.conjunction.free), n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestResultsDoNotFit fails the allocation that results need beyond the first
// pinned memory.
func TestResultsDoNotFit(t *testing.T) {
	b, f := openFaulty(t, testDevice(t, everything), testDevice(t, everything).Tuning())
	docs := make([]uint32, 3*firstDown/8)
	for i := range docs {
		docs[i] = uint32(i)
	}
	src := &plan.Source{Docs: uint32(len(docs))}
	if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	s, err := loadUntestedLists(t.Context(), b, src)
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
	f.disarm()
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
	b, f := openFaulty(t, testDevice(t, everything), fewTiles(testDevice(t, everything)))
	q := ask(t)
	s, err := loadUntestedLists(t.Context(), b, q.src)
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
		f.disarm()
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
	b, _ := openFaulty(t, testDevice(t, everything), testDevice(t, everything).Tuning())
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
	d := testDevice(t, everything)
	failed := &plan.DeviceError{Kind: plan.ErrBuild, Device: d.String(), Op: "building", Log: "line 3: what?"}
	b, err := openDevice(t.Context(), d, deviceOptions{Fault: func(step string) error {
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
	b, _ := openFaulty(t, testDevice(t, everything), testDevice(t, everything).Tuning())
	source := b.ops.source(b.tuning, false, b.ops.core()...)
	wrong := strings.Replace(source, "#define CODEC_BITSET 3", "#define CODEC_BITSET 5", 1)
	if wrong == source {
		t.Fatal("the kernels do not define CODEC_BITSET as 3")
	}
	var right *ocl.Program
	use := func(p *ocl.Program) {
		for _, k := range b.ops.core() {
			right = b.replaceProgram(k, p)
		}
	}
	broken, err := b.build(wrong)
	if err != nil {
		t.Fatal(err)
	}
	use(broken)
	err = b.selfTest(limited(t))
	use(right) // the same program for all of them
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
	d := testDevice(t, everything)
	q := ask(t)
	f := newFaults()
	b, err := openDevice(t.Context(), d, deviceOptions{MemoryLimit: 1000, SkipSelfTest: true, Fault: f.hook})
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	s, err := load(t.Context(), b, q.src)
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
	if b.memory.inUse() != 0 {
		t.Errorf("%d bytes are reserved", b.memory.inUse())
	}
	if b, err := openDevice(t.Context(), d, deviceOptions{MemoryLimit: 1000}); b != nil || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("a self-test in 1000 bytes: %v", err)
	}
}

// TestMemoryLimits raises the limit step by step: with little, a load is
// refused; then it gets by without tables; in the end it has them all. The limit
// holds throughout.
func TestMemoryLimits(t *testing.T) {
	d := testDevice(t, everything)
	q := ask(t)
	tuning := fewTiles(testDevice(t, everything))
	full, err := openDevice(t.Context(), d, deviceOptions{Tuning: &tuning, SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := loadUntestedLists(t.Context(), full, q.src)
	if err != nil {
		t.Fatal(err)
	}
	needed, bits := s.Memory(), s.set.aux[plan.Bits].bytes
	if err := errors.Join(s.Close(), full.close()); err != nil {
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
		b, err := openDevice(t.Context(), d, deviceOptions{Tuning: &tuning, SkipSelfTest: true, MemoryLimit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		s, err := loadUntestedLists(t.Context(), b, q.src)
		if c.auto == plan.Auto {
			if !errors.Is(err, plan.ErrOutOfMemory) || b.memory.inUse() != 0 {
				t.Errorf("limit %d of %d: %v, %d bytes reserved", c.limit, needed, err, b.memory.inUse())
			}
		} else if err != nil {
			t.Errorf("limit %d of %d: %v", c.limit, needed, err)
		} else {
			if s.set.auto != c.auto || b.memory.inUse() > c.limit {
				t.Errorf("limit %d of %d: %v, %d bytes reserved", c.limit, needed, s.set.auto, b.memory.inUse())
			}
			if err := q.run(limited(t), t, s); err != nil {
				t.Error(err)
			}
			if s.set.auto == plan.BS { // what was asked for is not quietly something else
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
		if b.memory.inUse() != 0 {
			t.Errorf("limit %d: %d bytes are still reserved", c.limit, b.memory.inUse())
		}
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSelfTestOnFirstUse tests the kernels of codecs when lists are loaded, and those
// of algorithms when a batch asks for one; wrong ones are not used.
func TestSelfTestOnFirstUse(t *testing.T) {
	b, err := openDevice(t.Context(), testDevice(t, everything), deviceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	src, _, err := sampleLists(codec.Raw, codec.HSLRC256)
	if err != nil {
		t.Fatal(err)
	}
	id := kernelID{"intersect", useLines}
	source := b.source(id)
	wrong := strings.Replace(source, "#define PROBE_OWN 4", "#define PROBE_OWN 44", 1)
	if wrong == source {
		t.Fatal("the kernels do not define PROBE_OWN as 4")
	}
	p, err := b.build(wrong)
	if err != nil {
		t.Fatal(err)
	}
	b.replaceProgram(id, p)
	if s, err := load(t.Context(), b, src); s != nil || !errors.Is(err, plan.ErrSelfTest) || b.hasPassed(codec.HSLRC256) {
		t.Errorf("lists whose kernels are wrong: %v", err)
	}
	b.replaceProgram(id, nil).Release()
	s, err := load(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !b.hasPassed(codec.HSLRC256) || b.hasPassed(codec.LRC) || b.hasPassed(plan.PMF1) {
		t.Error("tests have passed that did not run, or the reverse")
	}
	for _, a := range []plan.Algorithm{plan.HS32, plan.PMF1} {
		batch := plan.MatchBatch{Algorithm: a}
		batch.Add(src, 0, 2)
		if err := s.Match(t.Context(), &batch, &plan.Results{}); err != nil {
			t.Fatal(err)
		}
	}
	if !b.hasPassed(plan.PMF1) || b.hasPassed(plan.HS32) || b.hasPassed(plan.PMF2) {
		t.Error("tests have passed that did not run, or the reverse")
	}
}
