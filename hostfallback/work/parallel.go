package work

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"heddle/engine/file/mapped"
)

// Threads is the number of goroutines of a batch that may have most, 0 for any number.
func Threads(all, most int) int {
	if most > 0 {
		return min(all, most)
	}
	return all
}

// Parallel calls task(w, 0) to task(w, n-1) on up to threads goroutines; the calling
// goroutine is one of them. w is the number of the goroutine, 0 to threads-1: calls with
// the same w never overlap. Parallel returns the first error of a task, or the error of
// ctx when ctx ends first; the goroutines then start no further task. The fault of a mapped
// file is an error of its task. One thread allocates nothing.
func Parallel(ctx context.Context, threads, n int, task func(w, i int) error) error {
	threads = min(threads, n)
	if threads <= 1 {
		return sequential(ctx, n, task)
	}
	l := &loop{ctx: ctx, n: n, task: task}
	for w := 1; w < threads; w++ {
		l.group.Go(func() error { return l.run(w) })
	}
	err := l.run(0)
	if other := l.group.Wait(); err == nil {
		err = other
	}
	return err
}

func sequential(ctx context.Context, n int, task func(w, i int) error) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := task(0, i); err != nil {
			return err
		}
	}
	return nil
}

// loop is one call of Parallel on several goroutines.
type loop struct {
	ctx    context.Context
	n      int
	task   func(w, i int) error
	next   atomic.Int64 // the first task that has not started
	failed atomic.Bool
	group  errgroup.Group
}

// run takes tasks in turn until none is left or a task has failed.
func (l *loop) run(w int) (err error) {
	defer func() {
		if err != nil {
			l.failed.Store(true)
		}
	}()
	defer mapped.Catch(mapped.Watch(), &err)
	for !l.failed.Load() {
		i := int(l.next.Add(1)) - 1
		if i >= l.n {
			return nil
		}
		if err := l.ctx.Err(); err != nil {
			return err
		}
		if err := l.task(w, i); err != nil {
			return err
		}
	}
	return nil
}
