package engine

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/rs/zerolog"

	"heddle/engine/plan"
)

// store is what a backend makes of lists or of a table.
type store interface {
	Memory() uint64
	Close() error
}

// resident is what is loaded on the first backend of a list that works, and moves on to
// the next when that one fails. It is safe for concurrent use, except that close must
// not run beside other calls.
type resident[S store] struct {
	what string // is loaded, for the log
	load func(ctx context.Context, b plan.Backend) (S, error)
	log  zerolog.Logger

	turn   chan struct{} // held by who changes rest, opened and active
	rest   []candidate
	spare  *running[S]   // takes what is too large for active, and over when no candidate is left; may be nil
	opened []*running[S] // every backend that was opened, for close
	active atomic.Pointer[running[S]]
}

// running is an open backend with the store that was loaded.
type running[S store] struct {
	backend plan.Backend
	store   S
	info    plan.Info
	kept    bool // stays open: somebody else closes it
}

func (r *running[S]) close() error {
	err := r.store.Close()
	if !r.kept {
		err = errors.Join(err, r.backend.Close())
	}
	return err
}

// begin makes the first of list that works the active one.
func (x *resident[S]) begin(ctx context.Context, list []candidate, log zerolog.Logger) error {
	x.turn = make(chan struct{}, 1)
	x.rest, x.log = list, log
	_, err := x.advance(ctx, nil)
	return err
}

// open opens a candidate and loads; on failure nothing stays open.
func (x *resident[S]) open(ctx context.Context, c candidate) (*running[S], error) {
	b, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	s, err := x.load(ctx, b)
	if err != nil {
		if c.kept {
			return nil, err
		}
		return nil, errors.Join(err, b.Close())
	}
	return &running[S]{backend: b, store: s, info: b.Info(), kept: c.kept}, nil
}

// advance replaces the failed backend (nil at the start) by the next one that
// opens and loads, unless another goroutine has done so already. When none is
// left it gives nil and why those that it tried did not start.
func (x *resident[S]) advance(ctx context.Context, failed *running[S]) (*running[S], error) {
	select { // not a mutex: who waits for another's slow start can be cancelled
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r := x.active.Load(); r != failed {
		return r, nil
	}
	var errs []error
	for len(x.rest) > 0 {
		c := x.rest[0]
		r, err := x.open(ctx, c)
		if err != nil && ctx.Err() != nil { // says nothing about the backend
			return nil, ctx.Err()
		}
		x.rest = x.rest[1:]
		if err != nil {
			x.log.Warn().Err(err).Str("backend", c.name).Msg("backend not usable")
			errs = append(errs, err)
			continue
		}
		x.opened = append(x.opened, r)
		x.take(r)
		return r, nil
	}
	if x.spare != nil && x.spare != failed {
		x.take(x.spare)
		return x.spare, nil
	}
	return nil, errors.Join(errs...)
}

func (x *resident[S]) take(r *running[S]) {
	x.active.Store(r)
	x.log.Info().Str("backend", r.info.Kind).Str("device", r.info.Device).Uint64("bytes", r.store.Memory()).Msg(x.what + " resident")
}

// beside is the spare that answers what is too large for r: the last candidate, unless
// there is one already; nil if there is none. A loss of r costs no more for it.
func (x *resident[S]) beside(ctx context.Context, r *running[S]) (*running[S], error) {
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if last := len(x.rest) - 1; x.spare == nil && last >= 0 {
		spare, err := x.open(ctx, x.rest[last])
		if err != nil {
			return nil, err
		}
		x.spare, x.rest = spare, x.rest[:last]
	}
	if x.spare == r {
		return nil, nil
	}
	return x.spare, nil
}

// try calls f with the active store, and with the next one if that fails. What is too
// large for the active one is the spare's, and the next goes to the active one again.
func (x *resident[S]) try(ctx context.Context, f func(s S) error) error {
	r := x.active.Load()
	for {
		err := f(r.store)
		if err != nil && ctx.Err() == nil && errors.Is(err, plan.ErrTooLarge) {
			spare, why := x.beside(ctx, r)
			if spare == nil {
				return errors.Join(err, why)
			}
			return f(spare.store)
		}
		if err == nil || ctx.Err() != nil || !failsOver(err) {
			return err
		}
		x.log.Error().Err(err).Str("device", r.info.Device).Msg("backend failed")
		next, nextErr := x.advance(ctx, r)
		if next == nil {
			return errors.Join(err, nextErr)
		}
		r = next
	}
}

// failsOver reports whether another backend may answer where this one failed.
func failsOver(err error) bool {
	return errors.Is(err, plan.ErrDeviceLost) || errors.Is(err, plan.ErrOutOfMemory) || errors.Is(err, plan.ErrBuild)
}

// close closes all that was opened.
func (x *resident[S]) close() error {
	var errs []error
	for _, r := range x.opened {
		errs = append(errs, r.close())
	}
	if x.spare != nil {
		errs = append(errs, x.spare.close())
	}
	return errors.Join(errs...)
}
