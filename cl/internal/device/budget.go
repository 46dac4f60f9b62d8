package device

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"heddle/engine/plan"
)

// Budget limits the device memory of buffers. A device has one budget for all its lists,
// tables, caches and scratch memory. A list cache reserves its whole size there and
// divides it by a budget of its own. Other processes may take memory of the device: a driver that
// refuses a buffer lowers the limit, which rises again with time. It is safe for concurrent use.
type Budget struct {
	Calm time.Duration // without a refusal, until a lowered limit rises by a step. Default: raiseAfter

	mu      sync.Mutex
	device  string
	used    uint64    // bytes
	limit   uint64    // bytes, at present
	most    uint64    // bytes; the first limit
	changed time.Time // when limit, which is below most, fell or rose
	Closed  bool
	spare   map[*func() bool]bool // free memory that their owners can do without
}

const (
	raiseAfter = 30 * time.Second
	raiseSteps = 16 // equal steps from no memory to the first limit
)

// NewBudget makes a budget of limit bytes on the device of that name.
func NewBudget(dev string, limit uint64) *Budget {
	return &Budget{device: dev, limit: limit, most: limit, Calm: raiseAfter}
}

const reserving = "reserving memory"

// refusal is the error of a driver that has no memory for a buffer within the budget.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// IsExceeded reports whether a smaller buffer may fit: err comes from a budget with too little memory
// left, or from a driver that refused a buffer on the device.
func IsExceeded(err error) bool {
	failed, ok := errors.AsType[*plan.DeviceError](err)
	if !ok {
		return false
	}
	_, refused := failed.Err.(refusal)
	return refused || failed.Op == reserving
}

// OnShortage makes Reserve call free where too little memory is left. free gives memory back
// that its owner can do without, and tells whether it did. The result removes free again.
func (b *Budget) OnShortage(free func() bool) (remove func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spare == nil {
		b.spare = map[*func() bool]bool{}
	}
	b.spare[&free] = true
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.spare, &free)
	}
}

// freeSpare calls the functions of OnShortage until one gives memory back.
func (b *Budget) freeSpare() bool {
	b.mu.Lock()
	all := slices.Collect(maps.Keys(b.spare))
	b.mu.Unlock()
	return slices.ContainsFunc(all, func(free *func() bool) bool { return (*free)() })
}

// Reserve takes n bytes for a purpose. The error is plan.ErrOutOfMemory, with
// the size, the bytes in use and the limit, or plan.ErrClosed.
func (b *Budget) Reserve(n uint64, what string) error {
	err := b.reserve(n, what)
	for IsExceeded(err) && b.freeSpare() {
		err = b.reserve(n, what)
	}
	return err
}

func (b *Budget) reserve(n uint64, what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Closed {
		return plan.ErrClosed
	}
	b.raise()
	if b.used+n > b.limit {
		return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.device, Op: reserving,
			Err: fmt.Errorf("%s take %d bytes, %d of %d are in use", what, n, b.used, b.limit)}
	}
	b.used += n
	return nil
}

// Preflight checks that n bytes are free and reserves nothing.
func (b *Budget) Preflight(n uint64, what string) error {
	err := b.Reserve(n, what)
	if err == nil {
		b.Unreserve(n)
	}
	return err
}

// Unreserve gives n bytes back.
func (b *Budget) Unreserve(n uint64) {
	b.mu.Lock()
	b.used -= n
	b.mu.Unlock()
}

// Lower sets the limit to the memory in use, because the driver has no more. refused bytes of it, for
// a buffer that the driver refused, count half: a smaller buffer may fit. It reports whether the
// limit fell.
func (b *Budget) Lower(refused uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.limit
	b.limit, b.changed = min(was, b.used-min(refused/2, b.used)), time.Now()
	return b.limit < was
}

// raise raises a lowered limit by a step for each time Calm since it fell or rose.
func (b *Budget) raise() {
	if b.limit == b.most {
		return
	}
	if steps := min(time.Since(b.changed)/b.Calm, raiseSteps); steps > 0 {
		b.limit, b.changed = min(b.limit+uint64(steps)*(b.most/raiseSteps+1), b.most), time.Now()
	}
}

// Left returns the free bytes.
func (b *Budget) Left() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.raise()
	return b.limit - min(b.used, b.limit)
}

// InUse returns the reserved bytes.
func (b *Budget) InUse() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Size returns the limit in bytes.
func (b *Budget) Size() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.raise()
	return b.limit
}

// Resize changes the limit to n bytes. Only tests call it.
func (b *Budget) Resize(n uint64) {
	b.mu.Lock()
	b.limit, b.most = n, n
	b.mu.Unlock()
}

// close refuses further reservations. It reports false if the budget was closed already.
func (b *Budget) close() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.Closed
	b.Closed = true
	return !was
}
