// Package meter counts the queries of an engine by processor, with the distribution of their
// times. The difference of two counts describes the time in between.
package meter

import (
	"context"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/observe"
)

// Meter is an observe.Observer. The zero value has counted nothing. It is safe for concurrent use.
type Meter struct {
	processors sync.Map // name → *counter
}

// A time of n nanoseconds belongs to a class by its highest bit and the three bits behind it, so a
// class is at most an eighth wider than its least time.
const (
	fineBits = 3
	classes  = (64 - fineBits) << fineBits
)

type counter struct {
	queries   atomic.Uint64
	predicted atomic.Uint64 // batches with a predicted time, once per query
	errors    atomic.Uint64 // sum of their relative errors, in millionths
	took      [classes]atomic.Uint64
}

// Count is the state of a processor's counters at a moment.
type Count struct {
	// Queries counts queries with an answer. A block of a batch counts each of its queries here, and
	// once in the distribution of times.
	Queries   uint64
	Predicted uint64
	// Errors is the sum of relative errors of predicted times, without sign, in millionths.
	Errors uint64
	Took   [classes]uint64
}

// Answered implements observe.Observer. Answers from the result cache count under the name "".
func (m *Meter) Answered(_ context.Context, q *observe.Explanation) {
	if q.Err != nil {
		return
	}
	c, ok := m.processors.Load(q.Processor)
	if !ok {
		c, _ = m.processors.LoadOrStore(q.Processor, new(counter))
	}
	c.(*counter).add(q)
}

func (c *counter) add(q *observe.Explanation) {
	c.queries.Add(uint64(max(q.Queries, 1)))
	c.took[classOf(q.Took)].Add(1)
	if e, ok := q.PredictionError(); ok {
		c.predicted.Add(1)
		c.errors.Add(uint64(1e6 * math.Abs(e)))
	}
}

// Happened implements observe.Observer.
func (m *Meter) Happened(observe.Event) {}

// Counts returns the counts by name of the processor.
func (m *Meter) Counts() map[string]*Count {
	all := map[string]*Count{}
	for name, c := range m.processors.Range {
		all[name.(string)] = c.(*counter).count()
	}
	return all
}

func (c *counter) count() *Count {
	n := &Count{Queries: c.queries.Load(), Predicted: c.predicted.Load(), Errors: c.errors.Load()}
	for i := range c.took {
		n.Took[i] = c.took[i].Load()
	}
	return n
}

// Since returns the count of the time after old, which is nil or an earlier count of the same
// processor.
func (c *Count) Since(old *Count) *Count {
	d := *c
	if old == nil {
		return &d
	}
	d.Queries -= old.Queries
	d.Predicted -= old.Predicted
	d.Errors -= old.Errors
	for i := range d.Took {
		d.Took[i] -= old.Took[i]
	}
	return &d
}

// PredictionError returns the mean relative error of predicted times; 0 without predictions.
func (c *Count) PredictionError() float64 {
	if c.Predicted == 0 {
		return 0
	}
	return float64(c.Errors) / 1e6 / float64(c.Predicted)
}

// Quantile returns a time that a part p of the queries does not exceed, from 0 to 1. It is at most
// an eighth too long; 0 without queries.
func (c *Count) Quantile(p float64) time.Duration {
	total := uint64(0)
	for _, n := range c.Took {
		total += n
	}
	rank := max(uint64(math.Ceil(p*float64(total))), 1)
	for i, n := range c.Took {
		if n >= rank {
			return greatest(i)
		}
		rank -= n
	}
	return 0
}

// classOf returns the class of a time.
func classOf(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < 1<<fineBits {
		return int(n)
	}
	shift := bits.Len64(n) - fineBits - 1
	return shift<<fineBits + int(n>>shift)
}

// greatest returns the greatest time of a class.
func greatest(class int) time.Duration {
	shift := class>>fineBits - 1
	if shift <= 0 {
		return time.Duration(class)
	}
	top := uint64(class&(1<<fineBits-1) | 1<<fineBits)
	return time.Duration((top+1)<<shift - 1)
}
