package cluster

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/engine/api"
	"heddle/engine/internal/stack"
)

// Within returns a coordinator of shards that a service of this process holds. It calls the service
// without a transport: messages are not copied, at most GOMAXPROCS goroutines call at a time, and no
// request is sent twice. Names of documents are asked last, for the documents of the answer alone.
func Within(maps Maps, service api.ShardServiceClient, opt Options) *Coordinator {
	c := New(maps, nil, opt)
	c.service = service
	return c
}

// here asks the service of this process for each of some shards.
func here[A any](ctx context.Context, r *reach, shards []int, ask asking[A]) ([]piece[A], error) {
	n := len(r.x.layout.Shards)
	pieces, errs := make([]piece[A], n), make([]error, n)
	all, stop := r.limit(ctx)
	defer stop()
	own := &node{client: r.c.service}
	var next atomic.Int64
	work := func() {
		for at := int(next.Add(1)) - 1; at < len(shards); at = int(next.Add(1)) - 1 {
			i := shards[at]
			if errs[i] = all.Err(); errs[i] == nil {
				pieces[i].answer, pieces[i].shards, errs[i] = ask(all, own, []int{i})
			}
			if errs[i] = engineError(errs[i], ""); errs[i] != nil {
				if pieces[i].shards = nil; !r.partial {
					stop()
				}
			}
		}
	}
	var helpers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(shards)) - 1 {
		helpers.Go(func() {
			stack.Grow()
			work()
		})
	}
	work()
	helpers.Wait()
	return slices.DeleteFunc(pieces, func(p piece[A]) bool { return p.shards == nil }), r.note(ctx, errs)
}
