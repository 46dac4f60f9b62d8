// Package work runs batches on the host: it admits them to a store, splits them
// into tasks, runs the tasks on goroutines and lends them memory.
package work

import (
	"context"
	"sync"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// Gate admits batches to a store until the store is closed. The zero value is open.
// A Gate is safe for concurrent use.
type Gate struct {
	mu     sync.RWMutex // read-locked by each running batch
	closed bool
}

// Enter admits one operation, which ends with Leave. It returns plan.ErrClosed after
// Close and the error of ctx when ctx has ended; op names the operation in the error.
func (g *Gate) Enter(ctx context.Context, op string) error {
	g.mu.RLock()
	err := ctx.Err()
	if g.closed {
		err = &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: op}
	}
	if err != nil {
		g.mu.RUnlock()
	}
	return err
}

// Leave ends an operation that Enter has admitted.
func (g *Gate) Leave() { g.mu.RUnlock() }

// Close waits for the running operations and refuses later ones.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
}

// epoch is the origin of times: time.Since reads one clock, time.Now two.
var epoch = time.Now()

// Run is the frame of every operation of a store: it enters the gate and calls answer, which
// checks its batch. On success it adds the time of the whole call to the statistics that answer
// has stored in stats. The fault of a mapped file is an error.
func Run(ctx context.Context, g *Gate, op string, stats *plan.Stats, answer func() error) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	start := time.Since(epoch)
	if err := g.Enter(ctx, op); err != nil {
		return err
	}
	defer g.Leave()
	if err := answer(); err != nil {
		return err
	}
	stats.Wall = max(time.Since(epoch)-start, 1)
	return nil
}
