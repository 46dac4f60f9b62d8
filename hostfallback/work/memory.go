package work

import (
	"math"
	"sync"
	"sync/atomic"

	"heddle/engine/file/mapped"
)

// Resources are the processors and the memory of one store.
type Resources struct {
	Threads int     // goroutines that share a batch, at least 1
	Memory  *Budget // bounds the auxiliary data, which the store keeps beside its source
}

// Budget bounds the bytes of the data that a store builds beside its source. A part of
// it may be held back for small data that save much time. A Budget is safe for
// concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
	held  atomic.Int64
}

// NewBudget returns a budget of limit bytes. A limit of 0 stands for the default: usual
// bytes, at least 64 MiB and at most 4 GiB.
func NewBudget(limit, usual uint64) *Budget {
	if limit == 0 {
		limit = min(max(usual, 64<<20), 4<<30)
	}
	return &Budget{limit: int64(min(limit, math.MaxInt64))}
}

// Limit returns the size of the budget in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns the number of bytes in use.
func (b *Budget) Used() int64 { return b.used.Load() }

// Left returns the number of bytes that Take would reserve.
func (b *Budget) Left() int64 { return max(b.limit-b.held.Load()-b.used.Load(), 0) }

// Hold keeps size bytes back for TakeHeld. They are not in use yet, but Take leaves them.
// A negative size frees bytes that Hold has kept back.
func (b *Budget) Hold(size int64) { b.held.Add(size) }

// Take reserves size bytes and reports whether they were left beside the bytes that are
// kept back.
func (b *Budget) Take(size int64) bool {
	if b.used.Add(size) <= b.limit-b.held.Load() {
		return true
	}
	b.used.Add(-size)
	return false
}

// TakeHeld reserves size bytes out of the bytes that Hold has kept back and reports
// whether enough of them were left.
func (b *Budget) TakeHeld(size int64) bool {
	if b.held.Add(-size) < 0 {
		b.held.Add(size)
		return false
	}
	b.used.Add(size)
	return true
}

// Return frees size bytes that Take has reserved.
func (b *Budget) Return(size int64) { b.used.Add(-size) }

// Pool keeps idle values of type T for the next batch. The zero value is ready, and
// safe for concurrent use.
type Pool[T any] struct{ pool sync.Pool }

// Get returns an idle value, or a new one.
func (p *Pool[T]) Get() *T {
	if x, ok := p.pool.Get().(*T); ok {
		return x
	}
	return new(T)
}

// Done makes x idle, unless err is the fault of a mapped file: such a fault ends a task
// anywhere and may leave x in any state. The error of the task is caught before:
//
//	defer pool.Done(x, &err)
//	defer mapped.Catch(mapped.Watch(), &err)
func (p *Pool[T]) Done(x *T, err *error) {
	if *err == nil || !mapped.IsFault(*err) {
		p.pool.Put(x)
	}
}
