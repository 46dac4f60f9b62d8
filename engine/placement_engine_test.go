package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/shard"
	"heddle/hostfallback"
)

// losable is a small device that can be lost.
type losable struct {
	*small
	lost *atomic.Bool
}

type losableStore struct {
	plan.Store
	b losable
}

func (b losable) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	s, err := b.small.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	return &losableStore{s, b}, nil
}

func (s *losableStore) Intersect(ctx context.Context, b *plan.Batch, out *plan.Results) error {
	if s.b.lost.Load() {
		return broken(plan.ErrDeviceLost, s.b.name)
	}
	return s.Store.Intersect(ctx, b, out)
}

// TestEngineShards has two devices that hold the lists together: they answer beside the
// host, and when one of them is lost, the host alone does.
func TestEngineShards(t *testing.T) {
	src, _ := inMemory(t)
	all, devices := smalls(src, 70, 70)
	var lost atomic.Bool
	devices[1] = losable{all[1], &lost}
	host := hostfallback.New(hostfallback.Options{Threads: 2})
	e := started(t, EngineOptions{Backends: append([]plan.Backend{host}, devices...), Options: Options{BatchCandidates: 50}})
	c := testCorpus()
	qs := c.queries(pick(1000, 300))
	ask := func() {
		t.Helper()
		var out plan.Results
		if err := e.SearchMany(t.Context(), qs, SearchOptions{}, Call{}, &out); err != nil {
			t.Fatal(err)
		}
		for i, q := range qs {
			if err := c.check(q, out.Count(i), out.Query(i), false); err != nil {
				t.Errorf("query %d: %v", i, err)
			}
		}
	}
	ask()
	var jobs [2]uint64
	for i, p := range e.Stats().Processors {
		if jobs[i] = p.Jobs; i == 1 && p.Name != "a, b" || p.Out != nil {
			t.Errorf("processor %d: %+v", i, p)
		}
	}
	if jobs[0] == 0 || jobs[1] == 0 {
		t.Errorf("%d blocks on host and devices", jobs)
	}
	lost.Store(true)
	ask()
	ask()
	var part *shard.PartError
	if out := e.Stats().Processors[1].Out; !errors.Is(out, plan.ErrDeviceLost) || !errors.As(out, &part) || part.Part != 1 {
		t.Errorf("the devices are out for %v", out)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, b := range all {
		if n := b.open.Load(); n != 0 {
			t.Errorf("%s: %d stores are still open", b.name, n)
		}
	}
}
