package bitmap

import (
	"context"
	"sync"
	"unsafe"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// Limits of the pinned memory that callers have on loan. A round beyond them copies its bits.
const (
	mostLoans     = 64
	mostLoanWords = 1 << 26
)

// loans is pinned memory for bits that callers have on loan, and memory that they have returned.
type loans struct {
	mu     sync.Mutex
	out    size    // on loan
	free   []*loan // returned
	kept   int     // words of free
	closed bool
}

type size struct{ loans, words int }

// loan is pinned memory for the bits of a round.
type loan struct {
	store  *Store
	memory *device.Pinned // nil at first
}

// take returns the smallest memory in free of at least so many words; if there is none, a loan without memory.
func (s *Store) take(words int) *loan {
	l := &s.loans
	l.mu.Lock()
	defer l.mu.Unlock()
	best := -1
	for i, x := range l.free {
		if n := len(x.memory.Words); n >= words && (best < 0 || n < len(l.free[best].memory.Words)) {
			best = i
		}
	}
	if best < 0 {
		return &loan{store: s}
	}
	x, last := l.free[best], len(l.free)-1
	l.free[best], l.free[last] = l.free[last], nil
	l.free, l.kept = l.free[:last], l.kept-len(x.memory.Words)
	return x
}

// begin puts the memory on loan, within the limits.
func (x *loan) begin() bool {
	l, n := &x.store.loans, len(x.memory.Words)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out.loans == mostLoans || l.out.words+n > mostLoanWords {
		return false
	}
	l.out.loans, l.out.words = l.out.loans+1, l.out.words+n
	return true
}

// Return implements plan.Lender.
func (x *loan) Return() {
	l, n := &x.store.loans, len(x.memory.Words)
	l.mu.Lock()
	l.out.loans, l.out.words = l.out.loans-1, l.out.words-n
	keep := !l.closed && l.kept+n <= mostLoanWords
	if keep {
		l.free, l.kept = append(l.free, x), l.kept+n
	}
	l.mu.Unlock()
	if !keep {
		x.release()
	}
}

// release frees the memory, also after the device is closed.
func (x *loan) release() {
	if x.memory != nil {
		x.memory.Release(x.store.rt)
	}
}

// close frees the memory that is not on loan.
func (l *loans) close() {
	l.mu.Lock()
	free := l.free
	l.free, l.closed = nil, true
	l.mu.Unlock()
	for _, x := range free {
		x.release()
	}
}

// takeBits gives the slot memory for the bits of a round.
func (x *slot) takeBits(ctx context.Context, words int) error {
	if x.bits == nil {
		x.bits = x.store.take(words)
	}
	return x.Grow(ctx, &x.bits.memory, words)
}

// deliver waits for a round. It lends the bits of the only round to out, or copies the bits of a round.
func (x *slot) deliver(ctx context.Context, out *plan.Rows) error {
	c := &x.cut
	switch {
	case c.sel.Output != plan.OutputBits:
		x.Shed()
		return x.await(ctx)
	case out.Lend && c.count == c.sel.Len():
		if err := x.await(ctx); err != nil {
			return err
		}
		if x.bits.begin() {
			out.Bits = unsafe.Slice((*uint64)(unsafe.Pointer(&x.bits.memory.Words[0])), c.count*out.Stride)
			out.Lender, x.bits = x.bits, nil
			return nil
		}
	}
	if err := x.copyBits(ctx, out); err != nil {
		return err
	}
	return x.await(ctx)
}
