package cluster

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/api"
	"heddle/engine/internal/stack"
)

// Within returns a coordinator of shards that a service of this process holds. It calls the service
// without a transport: messages are not copied, at most GOMAXPROCS goroutines call at a time, one where
// the shards are small, and no request is sent twice. Names of documents are asked last, for the documents of the answer alone.
func Within(maps Maps, service api.ShardServiceClient, opt Options) *Coordinator {
	c := New(maps, nil, opt)
	c.service = service
	return c
}

// To start a goroutine and to wait for it wakes sleeping threads, which takes longer than a query on a
// small shard. So one goroutine asks all shards if they have little work, the number of queries times
// documents, until it has taken too long.
const (
	littleWork = 1 << 18
	tooLong    = 250 * time.Microsecond
)

// here asks the service of this process for each of the shards of a task.
func here[A any](ctx context.Context, r *reach, t task, ask asking[A]) ([]piece[A], error) {
	n := len(r.x.layout.Shards)
	pieces, errs := make([]piece[A], n), make([]error, n)
	all, stop := r.limit(ctx)
	defer stop()
	own := &node{client: r.c.service}
	var next atomic.Int64
	take := func() (more bool) {
		at := int(next.Add(1)) - 1
		if at >= len(t.shards) {
			return false
		}
		i := t.shards[at]
		if errs[i] = all.Err(); errs[i] == nil {
			pieces[i].answer, pieces[i].shards, errs[i] = ask(all, own, []int{i})
		}
		if errs[i] = engineError(errs[i], ""); errs[i] != nil {
			if pieces[i].shards = nil; !r.partial {
				stop()
			}
		}
		return true
	}
	work := uint64(0)
	for _, i := range t.shards {
		work += uint64(t.size) * r.x.layout.Shards[i].Docs
	}
	more := true
	for began := time.Now(); more && work <= littleWork && time.Since(began) < tooLong; {
		more = take()
	}
	var helpers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(t.shards)-int(next.Load())) - 1 {
		helpers.Go(func() {
			stack.Grow()
			for take() {
			}
		})
	}
	for more {
		more = take()
	}
	helpers.Wait()
	return slices.DeleteFunc(pieces, func(p piece[A]) bool { return p.shards == nil }), r.note(ctx, errs)
}
