package workload

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Each calls f for 0 to n-1 on all cores. It returns the first error, or the error
// of ctx.
func Each(ctx context.Context, n int, f func(i int) error) error {
	return EachWith(ctx, n, func(_ *struct{}, i int) error { return f(i) })
}

// EachWith is Each with memory of type S that one goroutine reuses for its calls.
func EachWith[S any](ctx context.Context, n int, f func(s *S, i int) error) error {
	return OnThreads(ctx, runtime.GOMAXPROCS(0), n, f)
}

// OnThreads is EachWith on a number of goroutines.
func OnThreads[S any](ctx context.Context, threads, n int, f func(s *S, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range threads {
		group.Go(func() error {
			s := new(S)
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := f(s, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// scratch is the memory of one goroutine that draws lists.
type scratch struct {
	positions []uint32 // documents in the order of themes
	bitmap    []uint64 // all zero between calls
}
