package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"heddle/engine/failure"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/part"
)

// Reach is the shards of a collection that a call asks. The requests of a partial call leave out
// shards that did not answer an earlier one.
type Reach struct {
	*Collection
	Partial bool
	missing map[int]error // by shard
}

// Coverage describes the shards that answered all requests of a partial call.
type Coverage struct {
	Epoch, Docs  uint64
	Shards       int
	Answered     int           // shards
	DocsAnswered uint64        // documents of these shards
	Missing      map[int]error // by shard; it must not change
}

// Coverage returns the coverage of a partial call; nil for other calls.
func (r *Reach) Coverage() *Coverage {
	if !r.Partial {
		return nil
	}
	out := &Coverage{Epoch: r.Layout.Epoch, Docs: r.Layout.Docs, Shards: len(r.Layout.Shards), Missing: r.missing}
	for _, i := range r.within() {
		out.Answered++
		out.DocsAnswered += r.Layout.Shards[i].Docs
	}
	return out
}

// MissingError is the error of a query whose shards cannot all answer.
type MissingError struct {
	Collection string
	Missing    []int // shards, ascending
	Of         int
	Err        error // error of the first missing shard
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: shards %s of %d do not answer: %v", e.Collection, strings.Trim(fmt.Sprint(e.Missing), "[]"), e.Of, e.Err)
}

// Unwrap returns the error of the first missing shard.
func (e *MissingError) Unwrap() error { return e.Err }

// within returns the shards that have not failed in an earlier request.
func (r *Reach) within() []int {
	all := make([]int, 0, len(r.Layout.Shards))
	for i := range r.Layout.Shards {
		if r.missing[i] == nil {
			all = append(all, i)
		}
	}
	return all
}

// Spread sends a request to the shards within reach by ask. It returns the answers in the order of their first shards.
func Spread[A any](ctx context.Context, r *Reach, f Fan, ask func(context.Context, *Fan) ([]Piece[A], []error)) ([]Piece[A], error) {
	if f.Layout, f.Partial = r.Layout, r.Partial; f.Shards == nil {
		f.Shards = r.within()
	}
	limited, stop := r.limit(ctx)
	defer stop()
	pieces, errs := ask(limited, &f)
	return pieces, r.note(ctx, errs)
}

// limit returns the context of a request. A request of a partial call may take half of the time
// that is left, so that a silent shard leaves time for the answer of the other shards.
func (r *Reach) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && r.Partial {
		return context.WithTimeout(ctx, time.Until(end)/2)
	}
	return context.WithCancel(ctx)
}

// note adds the shards that failed in a request, by their errors, to the missing ones. It returns
// the error of the call, if it cannot go on.
func (r *Reach) note(ctx context.Context, errs []error) error {
	if r.missing == nil {
		r.missing = map[int]error{}
	}
	var first error
	for i, err := range errs {
		switch code := failure.CodeOf(err); {
		case err == nil:
		case errors.Is(err, part.ErrEpoch), ctx.Err() != nil && r.Partial:
			return err
		case Final(err) && code != failure.Canceled && (code != failure.Deadline || !r.Partial):
			return err // the query has the fault, not the shard
		case code == failure.Canceled: // another failure has ended it
			if first == nil {
				first = err
			}
		default:
			if r.missing[i] = err; first == nil || failure.CodeOf(first) == failure.Canceled {
				first = err
			}
		}
	}
	switch {
	case first == nil || r.Partial && len(r.missing) < len(errs):
		return nil
	case len(r.missing) == 0:
		return first
	}
	return &failure.Error{Code: failure.CodeOf(first), Op: "search", Err: &MissingError{r.Layout.Name, slices.Sorted(maps.Keys(r.missing)), len(errs), first}}
}

// Final reports whether another replica would give the same error. A connection that breaks can appear
// as a cancellation by the node.
func Final(err error) bool {
	if errors.Is(err, part.ErrEpoch) {
		return false
	}
	if _, memory := errors.AsType[*limit.MemoryError](err); memory {
		return true
	}
	switch failure.CodeOf(err) {
	case failure.InvalidQuery, failure.InvalidOption, failure.Unsupported, failure.Deadline, failure.Unauthenticated, failure.Forbidden:
		return true
	}
	return false
}
