package engine

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// corrections are by how much a backend misses its estimates, for batches of a class:
// real over estimated time. A model is a plane through a few measurements; where costs
// come in steps (threads that wake, what is made on first use), what batches really take
// corrects it. The zero value corrects nothing. It is safe for concurrent use.
type corrections struct {
	less [classes]atomic.Uint64 // bits of the ratio less one
	last [classes]atomic.Uint64 // the same of the last batch
}

const classes = 64 * 4

// class is where batches of like work are: of as many bytes up to a factor of two, with
// rows as a result or without, with checks or without.
func (w *work) class() int {
	c := bits.Len64(uint64(w[workByte])) & 63 << 2
	if w[workRow] > 0 {
		c |= 1
	}
	if w[workCheck] > 0 {
		c |= 2
	}
	return c
}

// ratio of a class.
func (c *corrections) ratio(class int) float64 { return 1 + math.Float64frombits(c.less[class].Load()) }

const (
	learnRate  = 0.5
	forgetRate = 0.002 // by each batch that goes elsewhere, so that the backend is tried again
)

// learn takes note of what a batch took: the lesser of it and the batch before, since
// some make what the next ones have.
func (c *corrections) learn(class int, estimated, took time.Duration) {
	seen := float64(took) / float64(max(estimated, 1))
	before := 1 + math.Float64frombits(c.last[class].Swap(math.Float64bits(seen-1)))
	c.move(class, min(seen, before), learnRate)
}

// forget moves the ratio towards one.
func (c *corrections) forget(class int) { c.move(class, 1, forgetRate) }

// move moves the ratio. Of two that do so at a time one may be lost.
func (c *corrections) move(class int, to, rate float64) {
	old := c.ratio(class)
	c.less[class].Store(math.Float64bits(old + rate*(to-old) - 1))
}
