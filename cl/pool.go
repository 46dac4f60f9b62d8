package cl

import (
	"context"
	"errors"

	"heddle/engine/plan"
)

// pool holds the idle slots of one kind. It reuses them before it makes new ones, so that
// there are at most as many as concurrent callers, and as memory allows.
type pool[S any] struct {
	made chan *S
	rest chan int // capacity 1: how many slots may still be made; the receiver makes one
}

// newPool makes a pool of at most n slots.
func newPool[S any](n int) pool[S] {
	p := pool[S]{make(chan *S, n), make(chan int, 1)}
	p.rest <- n
	return p
}

// take returns an idle slot or makes one with open. If open fails with
// plan.ErrOutOfMemory and other callers have slots, it waits for one of theirs. It
// returns plan.ErrClosed once closing is closed.
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
			rest = nil // tried once
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-closing:
			return nil, plan.ErrClosed
		}
	}
}

// tryTake returns an idle slot, or nil.
func (p pool[S]) tryTake() *S {
	select {
	case x := <-p.made:
		return x
	default:
		return nil
	}
}

// give returns a slot to the pool.
func (p pool[S]) give(x *S) { p.made <- x }

// idle returns the number of idle slots.
func (p pool[S]) idle() int { return len(p.made) }

// drain waits for all slots and releases them.
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

// once returns the result of get. If that is nil, the caller that receives the token of
// building makes the object and stores it with put, and all other callers wait.
func once[T any](ctx context.Context, building chan struct{}, closing <-chan struct{}, get func() *T, put func(*T), build func() (*T, error)) (*T, error) {
	if t := get(); t != nil {
		return t, nil
	}
	select {
	case <-building:
		defer func() { building <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-closing:
		return nil, plan.ErrClosed
	}
	if t := get(); t != nil { // another caller made it meanwhile
		return t, nil
	}
	t, err := build()
	if err != nil {
		return nil, err
	}
	put(t)
	return t, nil
}
