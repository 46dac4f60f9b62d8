package engine

import (
	"context"
	"runtime"
	"testing"

	"heddle/engine/plan"
	"heddle/hostfallback"
)

// noting is a host that notes the bound of threads of its last batch.
type noting struct {
	plan.Backend
	threads int
}

func (b *noting) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	s, err := b.Backend.Load(ctx, src)
	return &notingStore{s, b}, err
}

type notingStore struct {
	plan.Store
	b *noting
}

func (s *notingStore) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	s.b.threads = b.Threads
	return s.Store.Match(ctx, b, out)
}

// TestThreadsOfOne: a query that is a batch by itself takes no more threads of a host beside a
// device than the scheduler gives it, or than the host has.
func TestThreadsOfOne(t *testing.T) {
	threads := min(2, runtime.GOMAXPROCS(0)) // a query that may take more than there are cores gets fewer
	host := &noting{Backend: hostfallback.New(hostfallback.Options{Threads: threads})}
	device := &faultyBackend{hostfallback.New(hostfallback.Options{Threads: 1}), &faulty{name: "device"}}
	x := openMemory(t, Options{Backends: []plan.Backend{host, device}})
	for mode, least := range map[string]int{"sync": 1, "async": threads} {
		q := testCorpus().queries(1)[0]
		q.Override = &Override{Mode: mode, Processor: x.e.Processors()[0].Name}
		if _, err := x.Search(t.Context(), q); err != nil || host.threads < least || host.threads > threads {
			t.Errorf("%s: %d threads, %v", mode, host.threads, err)
		}
	}
}
