package device

import (
	"context"
	"errors"

	"heddle/engine/plan"
)

// Pool holds the idle slots of one kind. It reuses them before it makes new ones, so that
// there are at most as many as concurrent callers, and as memory allows.
type Pool[S any] struct {
	made chan *S
	rest chan int // capacity 1: how many slots may still be made; the receiver makes one
}

// NewPool makes a pool of at most n slots.
func NewPool[S any](n int) Pool[S] {
	p := Pool[S]{make(chan *S, n), make(chan int, 1)}
	p.rest <- n
	return p
}

// Take returns an idle slot or makes one with open. If open fails with
// plan.ErrOutOfMemory and other callers have slots, it waits for one of theirs. It
// returns plan.ErrClosed once closing is closed. A slot that is not made before ctx ends goes to the pool.
func (p Pool[S]) Take(ctx context.Context, closing <-chan struct{}, open func() (*S, error)) (*S, error) {
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
			x, err := Detached(ctx, nil, func() (*S, error) { return p.create(n, open) }, p.Give)
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

// create makes a slot for the receiver of rest, which was n.
func (p Pool[S]) create(n int, open func() (*S, error)) (*S, error) {
	x, err := open()
	if err == nil {
		n--
	}
	if n > 0 {
		p.rest <- n
	}
	return x, err
}

// Try returns an idle slot or makes one with open. It returns nil if there are as many as may be, or
// open fails.
func (p Pool[S]) Try(open func() (*S, error)) *S {
	select {
	case x := <-p.made:
		return x
	default:
	}
	select {
	case n := <-p.rest:
		x, _ := p.create(n, open)
		return x
	default:
		return nil
	}
}

// Idle tells that no caller has a slot or makes one.
func (p Pool[S]) Idle() bool {
	rest := 0
	select {
	case rest = <-p.rest:
		p.rest <- rest
	default:
	}
	return len(p.made)+rest == cap(p.made)
}

// Give returns a slot to the pool.
func (p Pool[S]) Give(x *S) { p.made <- x }

// Drain waits for all slots and releases them.
func (p Pool[S]) Drain(release func(*S)) {
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

// Once returns the result of get. If that is nil, the caller that receives the token of
// building makes the object and stores it with put, and all other callers wait.
func Once[T any](ctx context.Context, building chan struct{}, closing <-chan struct{}, get func() *T, put func(*T), build func() (*T, error)) (*T, error) {
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
	t, err := caught(build)
	if err != nil {
		return nil, err
	}
	put(t)
	return t, nil
}
