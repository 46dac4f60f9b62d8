package container

import (
	"runtime"
	"sync"
	"sync/atomic"

	"heddle/engine/file/mapped"
)

// Parallel calls f for 0 to n-1 on all cores and returns the error of the least
// i that failed, which does not depend on the order of execution. After an error
// it starts no more calls.
func Parallel(n int, f func(i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		mu     sync.Mutex
		least  = n
		first  error
		wg     sync.WaitGroup
	)
	work := func() {
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := mapped.Run(func() error { return f(i) }); err != nil {
				failed.Store(true)
				mu.Lock()
				if i < least {
					least, first = i, err
				}
				mu.Unlock()
			}
		}
	}
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return first
}

// ParallelRanges cuts [0, n) into ranges of at most size and calls f for each,
// like Parallel.
func ParallelRanges(n, size uint64, f func(lo, hi uint64) error) error {
	return Parallel(int((n+size-1)/size), func(i int) error {
		lo := uint64(i) * size
		return f(lo, min(lo+size, n))
	})
}
