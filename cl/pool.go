package cl

import (
	"context"

	"heddle/engine/plan"
)

// pool holds the slots of one kind that nobody uses; nil stands for one that was not
// made yet.
type pool[S any] chan *S

// newPool is a pool of n slots that are not made.
func newPool[S any](n int) pool[S] {
	p := make(pool[S], n)
	for range n {
		p <- nil
	}
	return p
}

// take gets a slot, and makes it where that is its first use. It gives plan.ErrClosed
// when the store is closed meanwhile.
func (p pool[S]) take(ctx context.Context, closing <-chan struct{}, open func() (*S, error)) (*S, error) {
	var x *S
	select {
	case x = <-p:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-closing:
		return nil, plan.ErrClosed
	}
	if x != nil {
		return x, nil
	}
	x, err := open()
	if err != nil {
		p <- nil
		return nil, err
	}
	return x, nil
}

// drain waits for all slots and releases those that were made.
func (p pool[S]) drain(release func(*S)) {
	for range cap(p) {
		if x := <-p; x != nil {
			release(x)
		}
	}
}
