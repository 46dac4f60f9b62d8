package cl

import (
	"context"

	"heddle/engine/plan"
)

// pool holds the slots of one kind that nobody uses. Those that were made go first, so
// that there are no more than callers at a time.
type pool[S any] struct {
	made chan *S
	rest chan struct{} // one for each that may still be made
}

// newPool is a pool of n slots that are not made.
func newPool[S any](n int) pool[S] {
	p := pool[S]{make(chan *S, n), make(chan struct{}, n)}
	for range n {
		p.rest <- struct{}{}
	}
	return p
}

// take gets a slot, and makes it where there is none. It gives plan.ErrClosed when the
// store is closed meanwhile.
func (p pool[S]) take(ctx context.Context, closing <-chan struct{}, open func() (*S, error)) (*S, error) {
	select {
	case x := <-p.made:
		return x, nil
	default:
	}
	select {
	case x := <-p.made:
		return x, nil
	case <-p.rest:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-closing:
		return nil, plan.ErrClosed
	}
	x, err := open()
	if err != nil {
		p.rest <- struct{}{}
	}
	return x, err
}

// give gives a slot back that was taken.
func (p pool[S]) give(x *S) { p.made <- x }

// drain waits for all slots and releases those that were made.
func (p pool[S]) drain(release func(*S)) {
	for range cap(p.made) {
		select {
		case x := <-p.made:
			release(x)
		case <-p.rest:
		}
	}
}
