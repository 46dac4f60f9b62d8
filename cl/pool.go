package cl

import (
	"context"
	"errors"

	"heddle/engine/plan"
)

// pool holds the slots of one kind that nobody uses. Those that were made go first, so
// that there are no more than callers at a time, nor more than there is memory for.
type pool[S any] struct {
	made chan *S
	rest chan int // capacity 1: how many may still be made, if any; who takes it makes one
}

// newPool is a pool of n slots that are not made.
func newPool[S any](n int) pool[S] {
	p := pool[S]{make(chan *S, n), make(chan int, 1)}
	p.rest <- n
	return p
}

// take gets a slot, and makes it where there is none. Where there is no memory for it, it
// waits for one that others have, if they have any. It gives plan.ErrClosed when the
// store is closed meanwhile.
func (p pool[S]) take(ctx context.Context, closing <-chan struct{}, open func() (*S, error)) (*S, error) {
	select {
	case x := <-p.made:
		return x, nil
	default:
	}
	for rest := p.rest; ; {
		select {
		case x := <-p.made:
			return x, nil
		case n := <-rest:
			x, err := open()
			if err == nil {
				n--
			}
			if n > 0 {
				p.rest <- n
			}
			if err == nil || n == cap(p.made) || !errors.Is(err, plan.ErrOutOfMemory) {
				return x, err
			}
			rest = nil // it is tried once
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-closing:
			return nil, plan.ErrClosed
		}
	}
}

// give gives a slot back that was taken.
func (p pool[S]) give(x *S) { p.made <- x }

// drain waits for all slots and releases those that were made.
func (p pool[S]) drain(release func(*S)) {
	for left := cap(p.made); left > 0; {
		select {
		case x := <-p.made:
			release(x)
			left--
		case n := <-p.rest:
			left -= n
		}
	}
}
