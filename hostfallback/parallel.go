package hostfallback

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls f(0) to f(n-1) on up to threads goroutines, its own among them, and
// returns the first error, or that of ctx when it ends first.
func parallel(ctx context.Context, threads, n int, f func(i int) error) error {
	if min(threads, n) <= 1 { // allocates nothing
		for i := range n {
			err := ctx.Err()
			if err == nil {
				err = f(i)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	var next, failed atomic.Int64
	var once sync.Once
	var first error
	work := func() {
		for failed.Load() == 0 {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = f(i)
			}
			if err != nil {
				once.Do(func() { first = err })
				failed.Store(1)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(threads, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return first
}
