package schedule

import (
	"context"
	"sync"
	"time"
)

// runContext is the context of a job that runs on its caller's goroutine: the caller's
// context, which also ends at the job's deadline, or when the scheduler gives the attempt
// up. It costs nothing unless Done is called, which is rare on hosts.
type runContext struct {
	parent   context.Context
	deadline time.Time // zero is none

	mu   sync.Mutex
	done chan struct{} // nil until asked for
	stop func() bool   // ends the watch on parent
	err  error
}

func (c *runContext) begin(parent context.Context, deadline time.Time) {
	c.parent, c.deadline, c.err = parent, deadline, nil
}

// end cancels the contexts derived from c. It returns whether c may be used for another
// job: then its channel was never handed out.
func (c *runContext) end() bool {
	c.cancel(context.Canceled)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
	return c.done == nil
}

func (c *runContext) cancel(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
}

func (c *runContext) Deadline() (time.Time, bool) {
	d, ok := c.parent.Deadline()
	if !c.deadline.IsZero() && (!ok || c.deadline.Before(d)) {
		return c.deadline, true
	}
	return d, ok
}

func (c *runContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && c.done == nil {
		return c.parent.Err()
	}
	return c.err
}

func (c *runContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err == nil {
			c.err = c.parent.Err()
		}
		if c.err != nil {
			close(c.done)
		} else if c.parent.Done() != nil {
			c.stop = context.AfterFunc(c.parent, func() { c.cancel(c.parent.Err()) })
		}
	}
	return c.done
}

func (c *runContext) Value(key any) any { return c.parent.Value(key) }
