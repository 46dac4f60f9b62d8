package cl

import (
	"errors"
	"fmt"
	"sync"

	"heddle/engine/plan"
)

// budget limits the device memory of buffers. A device has one budget for all its lists,
// tables, caches and scratch memory. A list cache reserves its whole size there and
// divides it by a budget of its own. It is safe for concurrent use.
type budget struct {
	mu     sync.Mutex
	device string
	used   uint64 // bytes
	limit  uint64 // bytes
	closed bool
}

// newBudget makes a budget of limit bytes on the device of that name.
func newBudget(device string, limit uint64) *budget { return &budget{device: device, limit: limit} }

const reserving = "reserving memory"

// isExceeded reports whether err comes from a budget with too little memory left. It is
// false for memory errors of a driver.
func isExceeded(err error) bool {
	failed, ok := errors.AsType[*plan.DeviceError](err)
	return ok && failed.Op == reserving
}

// reserve takes n bytes for the purpose in what. The error is plan.ErrOutOfMemory, with
// the size, the bytes in use and the limit, or plan.ErrClosed.
func (b *budget) reserve(n uint64, what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return plan.ErrClosed
	}
	if b.used+n > b.limit {
		return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.device, Op: reserving,
			Err: fmt.Errorf("%s take %d bytes, %d of %d are in use", what, n, b.used, b.limit)}
	}
	b.used += n
	return nil
}

// preflight checks that n bytes are free and reserves nothing.
func (b *budget) preflight(n uint64, what string) error {
	err := b.reserve(n, what)
	if err == nil {
		b.unreserve(n)
	}
	return err
}

// unreserve gives n bytes back.
func (b *budget) unreserve(n uint64) {
	b.mu.Lock()
	b.used -= n
	b.mu.Unlock()
}

// left returns the free bytes.
func (b *budget) left() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - b.used
}

// inUse returns the reserved bytes.
func (b *budget) inUse() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// size returns the limit in bytes.
func (b *budget) size() uint64 { return b.limit }

// resize changes the limit to n bytes. Only tests call it.
func (b *budget) resize(n uint64) {
	b.mu.Lock()
	b.limit = n
	b.mu.Unlock()
}

// close refuses further reservations. It reports false if the budget was closed already.
func (b *budget) close() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.closed
	b.closed = true
	return !was
}
