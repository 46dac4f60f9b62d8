package cl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/match"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// percentOf returns the sizes of buffers for a percentage of the lists.
func percentOf(src *plan.Source, percent uint64, buffers int) (sizes []uint64) {
	for range buffers {
		sizes = append(sizes, lists.CachedBytes(src)*percent/100/uint64(buffers)/16*16+16)
	}
	return sizes
}

// unpinned waits until no list of s is pinned, on its way, or waited for: abandoned work ends on its own.
func unpinned(s *CachedStore) {
	for !s.set.Cache.Idle() || !s.conjunction.Idle() { // up to the time-out of the test
		time.Sleep(time.Millisecond)
	}
}

// TestCachedConcurrent has callers with queries of every kind on a cache that is far too
// small for all of them. Some callers give up, and one closes the cache in the end.
func TestCachedConcurrent(t *testing.T) {
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.FewTiles(devicetest.Find(t, everything)))
	l := newLoad(t, 60, 80)
	for _, buffers := range []int{1, lists.FilterArena} {
		s, err := openCached(t.Context(), b, l.src, 256<<20, percentOf(l.src, 30, buffers))
		if err != nil {
			t.Fatal(err)
		}
		ctx := devicetest.Limited(t)
		var wg sync.WaitGroup
		for caller := range 6 {
			wg.Go(func() {
				for round := range 4 {
					if caller == 5 {
						short, stop := context.WithTimeout(ctx, time.Duration(round)*time.Millisecond)
						if err := l.ask(short, t, s, round); err != nil && !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
						stop()
					} else if err := l.ask(ctx, t, s, caller+round); err != nil {
						t.Errorf("caller %d: %v", caller, err)
					}
				}
			})
		}
		wg.Wait()
		unpinned(s)
		if c := s.CacheStats(); c.Evicted == 0 || c.Hits == 0 || c.Used > c.Capacity {
			t.Errorf("in %d buffers: %+v", buffers, c)
		}
		for caller := range 4 { // in the middle of it all
			wg.Go(func() {
				for round := 0; ; round++ {
					if err := l.ask(ctx, t, s, caller+round); err != nil {
						if !errors.Is(err, plan.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if err := s.Close(); err != plan.ErrClosed {
			t.Errorf("a second Close: %v", err)
		}
		if n := b.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
	}
}

// TestCachedFaults fails every step in turn: the error says so, nothing stays pinned, and
// the next batches are answered.
func TestCachedFaults(t *testing.T) {
	testneeds.Clock(t)
	b, f := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.FewTiles(devicetest.Find(t, everything)))
	l := newLoad(t, 20, 20)
	buffers := percentOf(l.src, 40, 1)
	for n := 1; ; n++ {
		f.Arm("allocate", n, ocl.ErrMemObjectAllocationFailure)
		s, err := openCached(t.Context(), b, l.src, 256<<20, buffers)
		if err == nil {
			if f.Count("allocate") >= n {
				t.Errorf("allocation %d failed, the store was made", n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		devicetest.Typed(t, err, ocl.ErrMemObjectAllocationFailure, plan.ErrOutOfMemory)
		if used := b.Memory.InUse(); used != 0 {
			t.Fatalf("allocation %d failed: %d bytes are still reserved", n, used)
		}
	}
	f.Disarm()
	s, err := openCached(t.Context(), b, l.src, 256<<20, buffers)
	if err != nil {
		t.Fatal(err)
	}
	for kind := range 3 { // scratch memory of the first use
		if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
			t.Fatal(err)
		}
	}
	f.Arm("allocate", 1, ocl.ErrMemObjectAllocationFailure) // from now on: the cache has its memory
	f.Mu.Lock()
	f.Every = true
	f.Mu.Unlock()
	for kind := range 12 {
		if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
			t.Fatalf("without further memory: %v", err)
		}
	}
	f.Disarm()
	for _, step := range []string{"upload", "enqueue", "wait"} {
		for n := 1; n <= 6; n++ {
			f.Arm(step, n, ocl.ErrDeviceNotAvailable)
			for kind := n; f.Count(step) < n; kind++ {
				if kind > n+30 {
					t.Fatalf("%s is no step any more", step)
				}
				err := l.ask(devicetest.Limited(t), t, s, kind)
				if f.Count(step) < n && err != nil {
					t.Fatalf("%s %d has not failed yet: %v", step, n, err)
				} else if f.Count(step) >= n {
					devicetest.Typed(t, err, ocl.ErrDeviceNotAvailable, plan.ErrDeviceLost)
				}
			}
			f.Disarm()
			unpinned(s)
			for kind := range 3 {
				if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
					t.Fatalf("after %s %d: %v", step, n, err)
				}
			}
		}
	}
	for _, step := range []string{"upload", "wait"} { // now and then, for several callers
		f.Arm(step, 5, ocl.ErrDeviceNotAvailable)
		f.Mu.Lock()
		f.Every = true
		f.Mu.Unlock()
		var wg sync.WaitGroup
		for caller := range 4 {
			wg.Go(func() {
				for round := range 4 {
					if err := l.ask(devicetest.Limited(t), t, s, caller+round); err != nil {
						devicetest.Typed(t, err, ocl.ErrDeviceNotAvailable, plan.ErrDeviceLost)
					}
				}
			})
		}
		wg.Wait()
		f.Disarm()
		unpinned(s)
		for kind := range 3 {
			if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
				t.Errorf("after faults of %s: %v", step, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCachedBeside uses algorithms without a self-test so far on a cache that takes all memory
// there is, and on one with less memory and many slots.
func TestCachedBeside(t *testing.T) {
	testneeds.OneCaller(t)
	l := newLoad(t, 20, 20)
	is := l.batch
	is.Algorithm = plan.IS
	for slots, mib := range map[int]uint64{devicetest.Find(t, everything).Tuning().Slots: 640, 17: 300} {
		tuning := devicetest.FewTiles(devicetest.Find(t, everything))
		tuning.Slots = slots
		b, err := device.Open(t.Context(), devicetest.Find(t, everything), device.Options{Tuning: &tuning, MemoryLimit: mib << 20})
		if err != nil {
			t.Fatal(err)
		}
		s, err := loadCached(t.Context(), b, l.src, 0)
		if err != nil {
			t.Fatal(err)
		}
		rest := b.Memory.Left() - min(match.SelfTestMemory, b.Memory.Size()/8) // as if there were more lists
		if err := b.Memory.Reserve(rest, "a test"); err != nil {
			t.Fatal(err)
		}
		for kind := range 3 {
			if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
				t.Errorf("%d MiB, %d slots: %v", mib, slots, err)
			}
		}
		if err := s.Match(devicetest.Limited(t), &is, new(plan.Results)); err != nil {
			t.Errorf("%d MiB, %d slots: %v", mib, slots, err)
		}
		b.Memory.Unreserve(rest)
		if err := errors.Join(s.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestCachedMemory makes caches of little memory and of much: the limit holds, lists that
// never fit are an error, and nothing is evicted if all lists fit.
func TestCachedMemory(t *testing.T) {
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.FewTiles(devicetest.Find(t, everything)))
	l := newLoad(t, 20, 40)
	if s, err := loadCached(t.Context(), b, l.src, 1<<20); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Fatalf("a cache in 1 MiB: %v, %v", s, err)
	}
	for _, bytes := range []uint64{512 << 20, 0} {
		s, err := loadCached(t.Context(), b, l.src, bytes)
		if err != nil {
			t.Fatal(err)
		}
		if memory := s.Memory(); memory != b.Memory.InUse() || bytes > 0 && memory > bytes {
			t.Errorf("of %d bytes: %d, %d are reserved", bytes, memory, b.Memory.InUse())
		}
		for kind := range 6 {
			if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
				t.Error(err)
			}
		}
		if c := s.CacheStats(); c.Evicted > 0 || c.Used != c.BytesIn || c.Misses > 40 || c.Hits < 5*c.Misses {
			t.Errorf("all lists fit: %+v", c)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}

	longest := plan.Handle(0)
	for h, list := range l.src.Lists {
		if list.Words > l.src.Lists[longest].Words {
			longest = plan.Handle(h)
		}
	}
	bytes := func(h plan.Handle) uint64 { return (4*uint64(l.src.Lists[h].Words) + 15) / 16 * 16 }
	s, err := openCached(t.Context(), b, l.src, 256<<20, []uint64{bytes(longest)}) // less the end
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var q plan.MatchBatch
	var out plan.Results
	q.Add(l.src, longest)
	if n, ok := s.Missing(q.Query(0), false); ok || n != bytes(longest) {
		t.Errorf("a list that is longer than the cache: %d bytes are missing, %t", n, ok)
	}
	err = s.Match(devicetest.Limited(t), &q, &out)
	devicetest.Typed(t, err, plan.ErrTooLarge, plan.ErrOutOfMemory)
	if c := s.CacheStats(); c.Misses != 0 || c.Capacity != bytes(longest)-16 {
		t.Errorf("nothing was brought in: %+v", c)
	}
	other := (longest + 1) % 20
	q.Reset()
	q.Add(l.src, other)
	for i := range 3 {
		n, ok := s.Missing(q.Query(0), false)
		if want := [3]uint64{bytes(other)}[i]; !ok || n != want {
			t.Errorf("use %d: %d bytes are missing, %t, want %d", i, n, ok, want)
		}
		if err := s.Match(devicetest.Limited(t), &q, &out); err != nil || !slices.Equal(out.Docs, l.lists[other]) {
			t.Errorf("after a list that does not fit: %v", err)
		}
	}
	if c := s.CacheStats(); c.Hits != 2 || c.Misses != 1 || c.Lists != 1 || c.BytesIn != bytes(other) || c.Used != bytes(other) {
		t.Errorf("one list, three times: %+v", c)
	}
	if n, _ := s.Missing(q.Query(0), true); n == 0 {
		t.Error("frequencies are not missing before they were asked for")
	}
	if got := testing.AllocsPerRun(100, func() { s.Missing(q.Query(0), true) }); got != 0 {
		t.Errorf("Missing makes %v objects", got)
	}
}
