package cl

import (
	"errors"
	"fmt"
	"sync"

	"heddle/engine/plan"
)

// budget is device memory that buffers are promised out of: a backend's, or the part of it
// that a store has to itself. It is safe for concurrent use.
type budget struct {
	mu     sync.Mutex
	device string
	used   uint64 // bytes promised to buffers
	limit  uint64
	closed bool
}

const reserving = "reserving memory"

// isReserved says that err is of a budget that has less left than was asked for.
func isReserved(err error) bool {
	failed, ok := errors.AsType[*plan.DeviceError](err)
	return ok && failed.Op == reserving
}

// reserve promises n bytes of device memory to the caller or says why not.
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

func (b *budget) unreserve(n uint64) {
	b.mu.Lock()
	b.used -= n
	b.mu.Unlock()
}

// left is what nobody has been promised, in bytes.
func (b *budget) left() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - b.used
}
