package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"heddle/engine"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/part"
	"heddle/engine/internal/stack"
)

// asking sends a request to a node for shards, and returns the answer with the shards that it has: one at
// least, and all of them if there is one shard.
type asking[A any] func(ctx context.Context, n *node, shards []int) (answer A, have []int, err error)

// attempt is a request to a node for shards.
type attempt[A any] struct {
	coordinator.Piece[A]
	node   *node
	cancel context.CancelFunc
	asked  []int
	alone  bool // takes no further shard
	began  time.Time
	work   uint64
	late   time.Time // time of second requests; zero after it
	err    error
}

// progress is the state of the requests to one shard: the shard has several replicas, and the first answer
// of a replica counts.
type progress[A any] struct {
	next     []*node     // replicas that may still be asked
	open     int         // running requests
	excluded bool        // a node has answered a request for several shards without this shard
	done     bool        // has an answer or an error
	by       *attempt[A] // the request that has answered
	err      error
}

// fan is a request to shards: one to each node, for all shards that it shall answer. If a node is late or
// fails, its shards go to their other replicas. The first answer counts.
type fan[A any] struct {
	*coordinator.Fan
	m       *network
	times   *window // recent times of requests of this kind
	ask     asking[A]
	all     []progress[A] // by shard
	open    []*attempt[A]
	results chan *attempt[A]
	left    int  // shards that are not done
	failed  bool // a shard has an error
}

// replicas is the number of replicas that a request may ask for a shard.
const replicas = 2

// spread sends a request to shards. It returns the answers in the order of their first shards, and the errors of shards.
func spread[A any](ctx context.Context, m *network, t *window, r *coordinator.Fan, ask asking[A]) (pieces []coordinator.Piece[A], errs []error) {
	n := len(r.Layout.Shards)
	f := &fan[A]{Fan: r, m: m, times: t, ask: ask, all: make([]progress[A], n), results: make(chan *attempt[A], 2*replicas*len(r.Shards))}
	f.run(ctx)
	errs = make([]error, n)
	for _, i := range r.Shards {
		s := &f.all[i]
		if errs[i] = s.err; s.by != nil {
			errs[i] = nil
			if s.by.Shards[0] == i {
				pieces = append(pieces, s.by.Piece)
			}
		}
	}
	return pieces, errs
}

// run asks until all shards are done.
func (f *fan[A]) run(ctx context.Context) {
	var pending []int
	f.left = len(f.Shards)
	for _, i := range f.Shards {
		if f.begin(i); len(f.all[i].next) > 0 {
			pending = append(pending, i)
		}
	}
	f.m.earn(f.send(ctx, pending))
	timer := time.NewTimer(f.m.opt.Silence)
	defer timer.Stop()
	for f.left > 0 && (f.Partial || !f.failed) {
		timer.Reset(f.wait())
		select {
		case a := <-f.results:
			f.end(ctx, a)
		case <-timer.C:
			f.second(ctx)
		case <-ctx.Done():
			f.cut(ctx.Err())
			return
		}
	}
	f.cut(context.Canceled)
}

// begin finds the replicas of a shard.
func (f *fan[A]) begin(i int) {
	s := &f.all[i]
	if s.next, s.err = f.m.order(f.Layout.Shards[i].Replicas); len(s.next) == 0 {
		if s.err == nil {
			s.err = &engine.Error{Code: engine.Unavailable, Op: "call", Err: errors.New("the shard has no replica")}
		}
		f.fail(s, s.err)
	}
	s.next = s.next[:min(len(s.next), replicas)]
}

// fail ends a shard without an answer.
func (f *fan[A]) fail(s *progress[A], err error) {
	s.done, s.err = true, err
	f.left, f.failed = f.left-1, true
}

// cut ends all shards that are not done.
func (f *fan[A]) cut(err error) {
	for _, i := range f.Shards {
		if s := &f.all[i]; !s.done {
			s.err = &engine.Error{Code: engine.CodeOf(err), Op: "search", Err: err}
		}
	}
}

// send asks the next replica of each shard, with one request to a node. It returns the number of requests.
func (f *fan[A]) send(ctx context.Context, shards []int) int {
	now, known := time.Now(), len(f.open)
	for _, i := range shards {
		s := &f.all[i]
		n := s.next[0]
		s.next, s.open = s.next[1:], s.open+1
		alone := !f.Groups || s.excluded || !n.groups(now)
		var a *attempt[A]
		if at := slices.IndexFunc(f.open[known:], func(a *attempt[A]) bool { return a.node == n && !a.alone }); at >= 0 && !alone {
			a = f.open[known+at]
		} else {
			a = &attempt[A]{node: n, alone: alone, began: now}
			f.open = append(f.open, a)
		}
		a.asked = append(a.asked, i)
		a.work += uint64(f.Size) * f.Layout.Shards[i].Docs
	}
	for _, a := range f.open[known:] {
		a.late = now.Add(f.times.late(a.work, f.m.opt.Second))
		var own context.Context
		own, a.cancel = context.WithCancel(ctx)
		go f.one(own, a)
	}
	return len(f.open) - known
}

// one is a request.
func (f *fan[A]) one(ctx context.Context, a *attempt[A]) {
	stack.Grow()
	defer a.cancel()
	n := a.node
	n.running.Add(1)
	answer, have, err := f.ask(ctx, n, a.asked)
	n.running.Add(-1)
	took := time.Since(a.began)
	a.Piece, a.err = coordinator.Piece[A]{Shards: have, Answer: answer}, engineError(err, n.name)
	n.note(took, a.err == nil)
	if a.err == nil {
		f.times.add(a.work, took)
	} else if !coordinator.Final(a.err) && !errors.Is(a.err, part.ErrEpoch) && ctx.Err() == nil { // no loser of a race, and no cancelled call
		n.note(f.m.opt.Silence, false) // a broken node answers fast, and is no better for it
	}
	f.results <- a
}

// wait is the time until a request is late.
func (f *fan[A]) wait() time.Duration {
	first := time.Time{}
	for _, a := range f.open {
		if !a.late.IsZero() && (first.IsZero() || a.late.Before(first)) {
			first = a.late
		}
	}
	if first.IsZero() {
		return time.Hour // the context ends earlier, or nothing may be asked
	}
	return time.Until(first)
}

// second sends second requests for the shards whose first request is late.
func (f *fan[A]) second(ctx context.Context) {
	now := time.Now()
	for _, a := range slices.Clone(f.open) {
		if a.late.IsZero() || now.Before(a.late) {
			continue
		}
		var shards []int
		var nodes []*node
		for _, i := range a.asked {
			if s := &f.all[i]; !s.done && len(s.next) > 0 {
				if shards = append(shards, i); !slices.Contains(nodes, s.next[0]) {
					nodes = append(nodes, s.next[0])
				}
			}
		}
		if silent := a.began.Add(f.m.opt.Silence); len(shards) > 0 && now.Before(silent) && !f.m.spend(len(nodes)) {
			a.late = silent
			continue
		}
		a.late = time.Time{}
		f.send(ctx, shards)
	}
}

// end takes the end of a request. Shards without an answer go to their next replica.
func (f *fan[A]) end(ctx context.Context, a *attempt[A]) {
	f.open = slices.DeleteFunc(f.open, func(b *attempt[A]) bool { return a == b })
	if a.err == nil {
		f.accept(a)
	}
	var again []int
	for _, i := range a.asked {
		s := &f.all[i]
		s.open--
		switch {
		case s.done:
		case a.err == nil: // the node has left it out
			s.excluded, s.next = true, slices.Insert(s.next, 0, a.node)
			again = append(again, i)
		case coordinator.Final(a.err):
			f.fail(s, a.err)
		default:
			if s.err == nil || errors.Is(s.err, part.ErrEpoch) {
				s.err = a.err
			}
			if len(s.next) > 0 {
				again = append(again, i)
			} else if s.open == 0 {
				f.fail(s, s.err)
			}
		}
	}
	f.send(ctx, again)
	for _, b := range f.open {
		if !slices.ContainsFunc(b.asked, func(i int) bool { return !f.all[i].done }) {
			b.cancel()
		}
	}
}

// accept takes the answer of a request for the shards that it has. It replaces the answers of some of these
// shards. An answer that shares only some shards with an earlier one is of no use.
func (f *fan[A]) accept(a *attempt[A]) {
	fresh := 0
	for _, i := range a.Shards {
		old := f.all[i].by
		if old == nil {
			fresh++
		} else if slices.ContainsFunc(old.Shards, func(i int) bool { return !slices.Contains(a.Shards, i) }) {
			return
		}
	}
	if fresh == 0 {
		return
	}
	for _, i := range a.Shards {
		s := &f.all[i]
		if s.by = a; !s.done {
			s.done = true
			f.left--
		}
	}
}
