package cl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
	"heddle/engine/plan/plantest/ranktest"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// tenth are buffers for a tenth of the lists of src, or each for the longest one.
func tenth(src *plan.Source, buffers int) (sizes []uint64) {
	longest := uint32(0)
	for _, words := range lists.ItemWords(src) {
		longest = max(longest, words)
	}
	for range buffers {
		n := max(lists.CachedBytes(src)/10/uint64(buffers), 4*uint64(longest))
		sizes = append(sizes, (n+15)/16*16+16)
	}
	return sizes
}

// cachedBackend loads stores that hold a tenth of their lists.
type cachedBackend struct {
	*Backend
	host          plan.Backend
	cached, never *atomic.Int64 // batches, and batches with a query that does not fit
}

func (b cachedBackend) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	if err := errors.Join(src.Validate(), ctx.Err()); err != nil {
		return nil, err
	}
	s, err := openCached(ctx, b.rt, src, 256<<20, tenth(src, 2))
	if err != nil {
		return nil, err
	}
	host, err := b.host.Load(ctx, src)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &cachedSuite{s, host, b}, nil
}

func (b cachedBackend) Close() error {
	if err := b.Backend.Close(); err != nil {
		return err
	}
	return b.host.Close()
}

// cachedSuite asks pure Go where a query of a batch does not fit the cache.
type cachedSuite struct {
	*CachedStore
	host plan.Store
	b    cachedBackend
}

// or calls other if err says that some lists never fit, which Missing must know.
func (s *cachedSuite) or(err error, queries int, postings func(i int) []plan.Handle, ranked bool, other func() error) error {
	s.b.cached.Add(1)
	never := false
	for i := range queries {
		_, fits := s.Missing(postings(i), ranked)
		never = never || !fits
	}
	var dev *plan.DeviceError
	if errors.As(err, &dev) && dev.Op == "bringing lists in" && errors.Is(err, plan.ErrOutOfMemory) && never {
		s.b.never.Add(1)
		return other()
	}
	if err == nil && never {
		return errors.New("a query that does not fit was answered")
	}
	return err
}

// hostFilters are the filters of pure Go, by those of the device.
var hostFilters sync.Map

func (s *cachedSuite) Filter(ctx context.Context, bits []uint64) (plan.Filter, error) {
	f, err := s.CachedStore.Filter(ctx, bits)
	if err != nil {
		return nil, err
	}
	host, err := s.host.Filter(ctx, bits)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	hostFilters.Store(f, host)
	return f, nil
}

// onHost returns the filters of pure Go.
func onHost(filters []plan.Filter) (all []plan.Filter) {
	for _, f := range filters {
		if host, ok := hostFilters.Load(f); ok {
			f = host.(plan.Filter)
		}
		all = append(all, f)
	}
	return all
}

func (s *cachedSuite) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	err := s.CachedStore.Match(ctx, b, out)
	if b.Validate(s.set.Src) != nil {
		return err
	}
	return s.or(err, b.Queries(), distinct(b), false, func() error {
		host := *b
		host.Filters = onHost(b.Filters)
		return s.host.Match(ctx, &host, out)
	})
}

// distinct returns the lists of a query of b.
func distinct(b *plan.MatchBatch) func(i int) []plan.Handle {
	return func(i int) []plan.Handle {
		postings := b.AppendLists(nil, i)
		slices.Sort(postings)
		return slices.Compact(postings)
	}
}

func (s *cachedSuite) Sets(ctx context.Context, b *plan.MatchBatch, out *plan.Sets) error {
	err := s.or(s.CachedStore.Sets(ctx, b, out), b.Queries(), distinct(b), false, func() error { return plan.SetsOf(ctx, s, s.set.Src.Docs, b, out) })
	if err != nil {
		return err
	}
	host, more := *b, plan.Sets{}
	host.Filters = onHost(b.Filters)
	if err := s.host.Sets(ctx, &host, &more); err != nil {
		return out.Fail(err)
	}
	for i, f := range out.Filters {
		hostFilters.Store(f, more.Filters[i])
	}
	return nil
}

func (s *cachedSuite) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	err := s.CachedStore.Rank(ctx, r, out)
	if r.Validate(s.set.Src) != nil {
		return err
	}
	return s.or(err, r.Queries(), func(i int) (postings []plan.Handle) {
		for _, t := range r.Query(i) {
			postings = append(postings, t.List)
		}
		return postings
	}, true, func() error {
		host := *r
		host.Filters = onHost(r.Filters)
		return s.host.Rank(ctx, &host, out)
	})
}

func (s *cachedSuite) Close() error {
	if err := s.CachedStore.Close(); err != nil {
		return err
	}
	return s.host.Close()
}

// TestCachedSuite runs the suite of all backends where a tenth of the lists, and of their
// frequencies, are resident, in two buffers.
func TestCachedSuite(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything)
	var cached, never atomic.Int64
	open := func(t *testing.T) plan.Backend {
		b, err := Open(t.Context(), d, Options{SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		return cachedBackend{b, hostfallback.New(hostfallback.Options{}), &cached, &never}
	}
	opt := plantest.Options{Small: true, Corrupt: true,
		Codecs:     []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset, codec.HSLRC128},
		Algorithms: []plan.Algorithm{plan.Auto, plan.HS16, plan.MergePath}}
	matchtest.Run(t, open, opt)
	ranktest.Run(t, open, opt)
	t.Logf("%d batches, %d of them with a query that does not fit", cached.Load(), never.Load())
	if c, n := cached.Load(), never.Load(); n == 0 || 3*n > c {
		t.Errorf("%d of %d batches have a query that does not fit", n, c)
	}
}
