package cl

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/match"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// question is a batch over the lists of the self-test, and its answer.
type question struct {
	src   *plan.Source
	batch plan.MatchBatch
	want  [][]uint32
}

func ask(t *testing.T) *question {
	t.Helper()
	src, postings, err := lists.Sample()
	if err != nil {
		t.Fatal(err)
	}
	q := &question{src: src}
	q.batch.Reset()
	for h := range uint32(len(postings)) {
		for k := range h + 1 {
			q.batch.Add(src, h, k)
			q.want = append(q.want, reference.Conjunction(postings, q.batch.Query(q.batch.Queries()-1)...))
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
	d := devicetest.Find(t, everything)
	tuning := d.Tuning()
	if b, err := device.Open(t.Context(), d, device.Options{}); err != nil { // starts the driver's threads
		t.Fatal(err)
	} else if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for _, step := range []string{"open", "build", "allocate", "upload", "enqueue", "wait"} {
		for _, driver := range []error{ocl.ErrDeviceNotAvailable, ocl.ErrOutOfHostMemory} {
			f := devicetest.NewFaults()
			f.Arm(step, 1, driver)
			b, err := device.Open(t.Context(), d, device.Options{Tuning: &tuning, Fault: f.Hook})
			if b != nil || err == nil {
				t.Errorf("%s failed, the device is open: %v", step, err)
				continue
			}
			kind := plan.ErrDeviceLost
			if driver == ocl.ErrOutOfHostMemory {
				kind = plan.ErrOutOfMemory
			}
			devicetest.Typed(t, err, driver, kind)
			if f.Count(step) == 0 {
				t.Errorf("opening never comes to %s", step)
			}
		}
	}
	for runtime.NumGoroutine() > before { // up to the time-out of the test
		time.Sleep(time.Millisecond)
	}
}

// TestLoadFaults fails each allocation and each upload of a load in turn. Either
// the store does without (tables that do not fit), and answers; or the load
// fails, and nothing stays.
func TestLoadFaults(t *testing.T) {
	testneeds.Clock(t)
	b, f := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.FewTiles(devicetest.Find(t, everything)))
	q := ask(t)
	for _, step := range []string{"allocate", "upload"} {
		for _, driver := range []error{ocl.ErrMemObjectAllocationFailure, ocl.ErrOutOfResources, ocl.ErrDeviceNotAvailable} {
			kinds := []error{plan.ErrDeviceLost}
			if driver == ocl.ErrMemObjectAllocationFailure || driver == ocl.ErrOutOfResources && step == "allocate" {
				kinds[0] = plan.ErrOutOfMemory
			}
			failed, n := 0, 0
			for n = 1; ; n++ {
				f.Arm(step, n, driver)
				s, err := load(devicetest.Limited(t), b, q.src)
				reached := f.Count(step) >= n
				f.Disarm()
				if err != nil {
					failed++
					devicetest.Typed(t, err, driver, kinds...)
					if used := b.Memory.InUse(); used != 0 {
						t.Fatalf("%s %d failed: %d bytes are still reserved", step, n, used)
					}
					continue
				}
				if err := q.run(devicetest.Limited(t), t, s); err != nil {
					t.Errorf("%s %d failed, the store was made without: %v", step, n, err)
				}
				if used := b.Memory.InUse(); used != s.Memory() {
					t.Errorf("%d bytes are reserved, the store says %d", used, s.Memory())
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if used := b.Memory.InUse(); used != 0 {
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

// TestLoadWithoutKernels fails each build of a load in turn: nothing stays.
func TestLoadWithoutKernels(t *testing.T) {
	d := devicetest.Find(t, everything)
	q := ask(t)
	for name, load := range map[string]func(*device.Runtime) (interface{ Close() error }, error){
		"all lists": func(rt *device.Runtime) (interface{ Close() error }, error) { return load(t.Context(), rt, q.src) },
		"a cache": func(rt *device.Runtime) (interface{ Close() error }, error) {
			return loadCached(t.Context(), rt, q.src, 0)
		},
	} {
		b, f := devicetest.OpenFaulty(t, d, devicetest.FewTiles(d))
		for n := 1; ; n++ {
			f.Arm("build", n, ocl.ErrOutOfHostMemory)
			s, err := load(b)
			if !f.Met(t, "build", n, err) {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				break
			}
			if used := b.Memory.InUse(); used != 0 {
				t.Fatalf("%s, build %d failed: %d bytes are still reserved", name, n, used)
			}
		}
	}
}

// TestRunFaults fails a round of a batch, each in turn, and uses the store again.
func TestRunFaults(t *testing.T) {
	b, f := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.FewTiles(devicetest.Find(t, everything)))
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
				f.Arm(step, n, driver)
				err := q.run(devicetest.Limited(t), t, s)
				f.Disarm()
				if err == nil {
					t.Errorf("%s %d failed, the batch was answered", step, n)
				}
				devicetest.Typed(t, err, driver, kind)
				if err := q.run(devicetest.Limited(t), t, s); err != nil {
					t.Fatalf("after %s %d had failed: %v", step, n, err)
				}
			}
		}
	}
	for !s.conjunction.Idle() { // up to the time-out of the test
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestResultsDoNotFit fails the allocation that results need beyond the first
// pinned memory.
func TestResultsDoNotFit(t *testing.T) {
	row := devicetest.Find(t, everything).Tuning()
	row.Slots = 1 // no other slot takes the fault
	b, f := devicetest.OpenFaulty(t, devicetest.Find(t, everything), row)
	docs := make([]uint32, 3*match.FirstDown/8)
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
	f.Arm("allocate", 1, ocl.ErrMemObjectAllocationFailure)
	err = s.Match(devicetest.Limited(t), &batch, &out)
	if f.Count("allocate") > 0 {
		devicetest.Typed(t, err, ocl.ErrMemObjectAllocationFailure, plan.ErrOutOfMemory)
	} else if err != nil { // on a device whose rounds are small
		t.Error(err)
	}
	f.Disarm()
	if err := s.Match(devicetest.Limited(t), &batch, &out); err != nil {
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
// gets the answer or an error, and no caller waits for ever.
func TestConcurrentFaults(t *testing.T) {
	b, f := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.FewTiles(devicetest.Find(t, everything)))
	q := ask(t)
	s, err := loadUntestedLists(t.Context(), b, q.src)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"enqueue", "wait"} {
		f.Arm(step, 11, ocl.ErrOutOfResources)
		f.Mu.Lock()
		f.Every = true
		f.Mu.Unlock()
		ctx := devicetest.Limited(t)
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
						devicetest.Typed(t, err, ocl.ErrOutOfResources, plan.ErrDeviceLost)
					}
					stop()
				}
			})
		}
		wg.Wait()
		f.Disarm()
		if err := q.run(ctx, t, s); err != nil {
			t.Errorf("after faults of %s: %v", step, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
