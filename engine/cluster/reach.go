package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
)

// reach is the shards of a collection that a call asks. The requests of a partial call leave out
// shards that did not answer an earlier one.
type reach struct {
	c       *Coordinator
	x       *collection
	partial bool
	missing map[int]error // by shard
}

// coverage describes the shards that answered all requests of a partial call; nil for other calls.
func (r *reach) coverage() *api.Coverage {
	if !r.partial {
		return nil
	}
	out := &api.Coverage{Epoch: r.x.layout.Epoch, Shards: uint32(len(r.x.layout.Shards)), Docs: r.x.layout.Docs}
	for i, s := range r.x.layout.Shards {
		if err := r.missing[i]; err != nil {
			out.Missing = append(out.Missing, &api.MissingShard{Shard: uint32(i), Error: err.Error()})
			continue
		}
		out.ShardsAnswered++
		out.DocsAnswered += s.Docs
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
func (r *reach) within() []int {
	all := make([]int, 0, len(r.x.layout.Shards))
	for i := range r.x.layout.Shards {
		if r.missing[i] == nil {
			all = append(all, i)
		}
	}
	return all
}

// each sends a request of its own to each shard within reach, at the same time. Size is the number of
// queries. The answer of a missing shard is the zero value.
func each[A any](ctx context.Context, r *reach, times *window, size int, ask func(context.Context, api.ShardServiceClient, *api.ShardTarget) (A, error)) ([]A, error) {
	pieces, err := spread(ctx, r, task{times: times, size: size}, func(ctx context.Context, n *node, shards []int) (A, []int, error) {
		a, err := ask(ctx, n.client, target(r.x.layout, shards[0]))
		return a, shards, err
	})
	answers := make([]A, len(r.x.layout.Shards))
	for _, p := range pieces {
		answers[p.shards[0]] = p.answer
	}
	return answers, err
}

// target names a shard of a map in requests.
func target(m *layout.Map, shard int) *api.ShardTarget {
	return &api.ShardTarget{Collection: m.Name, Epoch: m.Epoch, Shard: uint32(shard)}
}

// limit returns the context of a request. A request of a partial call may take half of the time
// that is left, so that a silent shard leaves time for the answer of the other shards.
func (r *reach) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && r.partial {
		return context.WithTimeout(ctx, time.Until(end)/2)
	}
	return context.WithCancel(ctx)
}

// note adds the shards that failed in a request, by their errors, to the missing ones. It returns
// the error of the call, if it cannot go on.
func (r *reach) note(ctx context.Context, errs []error) error {
	if r.missing == nil {
		r.missing = map[int]error{}
	}
	var first error
	for i, err := range errs {
		switch code := engine.CodeOf(err); {
		case err == nil:
		case errors.Is(err, errEpoch), ctx.Err() != nil && r.partial:
			return err
		case final(err) && code != engine.Canceled && (code != engine.Deadline || !r.partial):
			return err // the query has the fault, not the shard
		case code == engine.Canceled: // another failure has ended it
			if first == nil {
				first = err
			}
		default:
			if r.missing[i] = err; first == nil || engine.CodeOf(first) == engine.Canceled {
				first = err
			}
		}
	}
	switch {
	case first == nil || r.partial && len(r.missing) < len(errs):
		return nil
	case len(r.missing) == 0:
		return first
	}
	return &engine.Error{Code: engine.CodeOf(first), Op: "search", Err: &MissingError{r.x.layout.Name, slices.Sorted(maps.Keys(r.missing)), len(errs), first}}
}
