package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"heddle/engine/index/bm25"
	"heddle/engine/internal/shard"
	"heddle/engine/plan"
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

func (s *losableStore) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if s.b.lost.Load() {
		return broken(plan.ErrDeviceLost, s.b.name)
	}
	return s.Store.Match(ctx, b, out)
}

// TestEngineShards has two devices that hold the lists together: they answer beside the
// host, and when one of them is lost, the host alone does.
func TestEngineShards(t *testing.T) {
	src, _ := inMemory(t)
	all, devices := smalls(src, 70, 70)
	var lost atomic.Bool
	devices[1] = losable{all[1], &lost}
	host := hostfallback.New(hostfallback.Options{Threads: 2})
	e := started(t, Options{Backends: append([]plan.Backend{host}, devices...), BatchCandidates: 50})
	c := testCorpus()
	qs := c.queries(pick(1000, 300))
	ask := func() {
		t.Helper()
		var out plan.Results
		if err := e.searchMany(t.Context(), qs, searchOptions{}, &out, calling{}); err != nil {
			t.Fatal(err)
		}
		for i, q := range qs {
			if err := c.check(q, out.Count(i), out.Query(i), false); err != nil {
				t.Errorf("query %d: %v", i, err)
			}
		}
	}
	ask()
	var jobs [3]uint64
	for i, p := range e.Stats().Processors {
		if jobs[i] = p.Jobs; p.Removed != nil {
			t.Errorf("processor %d: %+v", i, p)
		}
	}
	if jobs[0] == 0 || jobs[1] == 0 || jobs[2] != 0 { // the first device of the shards runs the jobs
		t.Errorf("%d blocks on host and devices", jobs)
	}
	lost.Store(true)
	for e.Stats().Processors[1].Removed == nil { // until the device gets a block
		ask()
	}
	var part *shard.PartError
	if out := e.Stats().Processors[1].Removed; !errors.Is(out, plan.ErrDeviceLost) || !errors.As(out, &part) || part.Part != 1 {
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

// TestEngineShardsRank: rankings in every mode, with the statistics of a larger
// collection, over one device and over shards are the same: documents, scores and the
// order of equal ones. So are counts and expressions.
func TestEngineShardsRank(t *testing.T) {
	src, dict := rankedCorpus(400).source(t, 0)
	stats := &Statistics{Docs: 9000, Length: 70000, DF: make(map[string]uint64)}
	for i := range rankedTerms {
		stats.DF[fmt.Sprint("t", i)] = uint64(70 + i%9)
	}
	start := func(n int) *served {
		_, devices := smalls(src, slices.Repeat([]uint64{1000}, n)...)
		e, err := startSource(t.Context(), src, dict, Options{Backends: devices, Placement: "shards"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	}
	whole, qs := start(1), rankedQueries(pick(60, 20))
	for _, n := range []int{3, 7}[:pick(2, 1)] {
		e := start(n)
		if info, err := e.Info(); err != nil || len(info.Resident) != 1 {
			t.Fatalf("%+v, %v", info, err)
		}
		for _, opt := range []rankOptions{
			{Mode: Or, K: 3}, {Mode: And, K: 10}, {Mode: AndOr, K: 10}, {Mode: AndOr, K: 400},
			{Mode: Or, K: 400, Statistics: stats}, {Mode: AndOr, K: 7, Statistics: stats},
			{Mode: Or, K: 20, Scoring: &bm25.Params{Variant: bm25.Lucene}}, // without lengths and frequencies: many are equal
		} {
			var got, want rankings
			if err := errors.Join(e.rankMany(t.Context(), qs, opt, &got, calling{}), whole.rankMany(t.Context(), qs, opt, &want, calling{})); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
				t.Errorf("%d shards, %+v: %d documents, want %d", n, opt, len(got.Docs), len(want.Docs))
			}
			one, err := e.rank(t.Context(), qs[3], opt, calling{})
			docs, scores := want.Query(3)
			if err != nil || !slices.Equal(one.Docs, docs) || !slices.Equal(one.Scores, scores) {
				t.Errorf("%d shards, %+v, alone: %v, want %v, %v", n, opt, one.Docs, docs, err)
			}
		}
		for _, opt := range []searchOptions{{CountOnly: true}, {Any: true}, {Any: true, CountOnly: true}} {
			var got, want plan.Results
			plain := make([]Query, len(qs))
			for i := range plain {
				plain[i] = Query{Terms: []string{fmt.Sprint("t", i%rankedTerms), fmt.Sprint("t", i*i%rankedTerms)}}
			}
			if err := errors.Join(e.searchMany(t.Context(), plain, opt, &got, calling{}), whole.searchMany(t.Context(), plain, opt, &want, calling{})); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Docs, want.Docs) {
				t.Errorf("%d shards, %+v: the answers differ", n, opt)
			}
		}
	}
}

// small is a device in pure Go with little memory.
type small struct {
	plan.Backend
	name        string
	holds, says uint64 // bytes of lists and frequencies; 0 in says means holds
	load        error

	open atomic.Int64 // stores
}

type smallStore struct {
	plan.Store
	b   *small
	src *plan.Source
}

func (b *small) Info() plan.Info {
	return plan.Info{Kind: "small", Device: b.name, ComputeUnits: 2, Memory: cmp.Or(b.says, b.holds), Batch: 100, RankBatches: 3, Algorithms: b.Backend.Info().Algorithms}
}

func (b *small) full(words int) error {
	if 4*uint64(words) <= b.holds {
		return nil
	}
	return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.name, Op: "loading"}
}

func (b *small) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	if err := cmp.Or(b.load, b.full(len(src.Words))); err != nil {
		return nil, err
	}
	s, err := b.Backend.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	b.open.Add(1)
	return &smallStore{s, b, src}, nil
}

func (s *smallStore) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	if err := s.b.full(len(s.src.Words) + len(s.src.Freqs)); err != nil {
		return err
	}
	return s.Store.Rank(ctx, r, out)
}

func (s *smallStore) Close() error {
	s.b.open.Add(-1)
	return s.Store.Close()
}

// smalls makes devices a, b, ..., which hold so many percent of the words of src.
func smalls(src *plan.Source, percent ...uint64) (all []*small, devices []plan.Backend) {
	for i, p := range percent {
		b := &small{Backend: hostfallback.New(hostfallback.Options{Threads: 1}), name: string(rune('a' + i)), holds: 4 * uint64(len(src.Words)) * p / 100}
		all, devices = append(all, b), append(devices, b)
	}
	return all, devices
}
