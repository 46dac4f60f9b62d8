package cluster

import (
	"context"
	"runtime"
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

// here asks all shards within reach, which the service of this process holds.
func here[A any](ctx context.Context, r *reach, stop func(), answers []A, errs []error, ask func(ctx context.Context, shard int) (A, error)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(answers); i = int(next.Add(1)) - 1 {
			if r.missing[i] != nil {
				continue
			}
			if errs[i] = ctx.Err(); errs[i] == nil {
				answers[i], errs[i] = ask(ctx, i)
			}
			if errs[i] = engineError(errs[i], ""); errs[i] != nil && !r.partial {
				stop()
			}
		}
	}
	var helpers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(answers)) - 1 {
		helpers.Go(func() {
			stack.Grow()
			work()
		})
	}
	work()
	helpers.Wait()
}

// names sets the names of the documents of queries.
func (s *search) names(ctx context.Context, at []int) error {
	m := s.x.layout
	asked := make([]*api.ShardDocumentsRequest, len(m.Shards))
	for _, i := range at {
		for _, id := range s.hits[i].IDs {
			n := m.Find(id)
			if asked[n] == nil {
				asked[n] = &api.ShardDocumentsRequest{Target: target(m, n)}
			}
			asked[n].Docs = append(asked[n].Docs, uint32(id-m.Shards[n].First))
		}
	}
	names := make([][]string, len(m.Shards))
	for n, r := range asked {
		if r == nil {
			continue
		}
		a, err := s.c.service.ShardDocuments(ctx, r)
		if err != nil {
			return engineError(err, "")
		}
		names[n] = a.GetNames()
	}
	for _, i := range at {
		h := &s.hits[i]
		if len(h.IDs) > 0 {
			h.Names = make([]string, len(h.IDs))
		}
		for j, id := range h.IDs {
			n := m.Find(id)
			h.Names[j], names[n] = names[n][0], names[n][1:]
		}
	}
	return nil
}
