package schedule

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// runContext is the context of a batch on a processor with inline jobs. It ends when the scheduler gives the
// attempts of all its jobs up. If a job runs on its caller's goroutine, it is the caller's context, which also ends at
// the job's deadline. It costs nothing unless Done is called, which is rare on hosts.
type runContext struct {
	context.Context           // the caller's, if inline
	deadline        time.Time // zero is none

	ended atomic.Bool

	mu     sync.Mutex
	own    context.Context // has the channel; nil until asked for
	cancel context.CancelFunc
}

func (c *runContext) begin(parent context.Context, deadline time.Time) {
	c.Context, c.deadline = parent, deadline
	c.ended.Store(false)
}

// end cancels the contexts derived from c. It returns whether c may be used for another
// job: then its channel was never handed out.
func (c *runContext) end() (reuse bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended.Store(true)
	if c.own != nil {
		c.cancel()
	}
	return c.own == nil
}

func (c *runContext) Deadline() (time.Time, bool) {
	d, ok := c.Context.Deadline()
	if !c.deadline.IsZero() && (!ok || c.deadline.Before(d)) {
		return c.deadline, true
	}
	return d, ok
}

func (c *runContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

func (c *runContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		c.own, c.cancel = context.WithCancel(c.Context)
		if c.ended.Load() {
			c.cancel()
		}
	}
	return c.own.Done()
}

// polled is the context of a block of a stream, whose batches are used again: only Err tells its end.
type polled struct{ *runContext }

func (polled) Done() <-chan struct{} { return nil }
