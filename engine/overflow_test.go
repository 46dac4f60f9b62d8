package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"heddle/engine/index/bm25"
	"heddle/engine/internal/placement"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// smallCache has room for lists of so many docIDs in all, and no host to help it.
type smallCache struct {
	plan.Store
	src   *plan.Source
	room  uint32
	fault error // the error of the next batch
	asked int   // queries that were not empty
}

func (s *smallCache) CacheStats() plan.CacheStats { return plan.CacheStats{} }

func (s *smallCache) Missing(lists []plan.Handle, ranked bool) (uint64, bool) {
	n := uint32(0)
	for _, h := range lists {
		n += s.src.Lists[h].Len
	}
	return 4 * uint64(n), n <= s.room
}

func (s *smallCache) check(lists []plan.Handle) error {
	if _, ok := s.Missing(lists, false); !ok {
		return plan.ErrTooLarge
	}
	if len(lists) > 0 {
		s.asked++
	}
	return s.fault
}

func (s *smallCache) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	for i := range b.Queries() {
		if err := s.check(b.AppendLists(nil, i)); err != nil {
			return err
		}
	}
	return s.Store.Match(ctx, b, out)
}

func (s *smallCache) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	for i := range r.Queries() {
		var lists []plan.Handle
		for _, t := range r.Query(i) {
			lists = append(lists, t.List)
		}
		if err := s.check(lists); err != nil {
			return err
		}
	}
	return s.Store.Rank(ctx, r, out)
}

// TestOverflow asks batches in which no query, some queries or all queries fit. The
// answers equal the answers of the host.
func TestOverflow(t *testing.T) {
	src, _ := rankedCorpus(500).source(t, 0)
	back := hostfallback.New(hostfallback.Options{Threads: 2})
	host, err := back.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	var b plan.MatchBatch
	var f plan.MatchBatch
	r := plan.RankBatch{K: 5, Norm: plan.NewNorm(bm25.Default().K1, bm25.Default().B, 10)}
	for i := range 60 {
		x, y := plan.Handle(i%len(src.Lists)), plan.Handle(i*7%len(src.Lists))
		b.Add(src, x, y)
		if err := f.AddExpr(src, plan.Expr{Op: plan.OpOr, Args: []plan.Expr{{List: x}, {List: y}}}); err != nil {
			t.Fatal(err)
		}
		r.Add(src, plan.Term{List: x, Weight: 9}, plan.Term{List: y, Weight: 5})
	}
	b.Add(src)
	for _, room := range []uint32{0, 20, 200, 1 << 30} {
		cache := &smallCache{Store: host, src: src, room: room}
		s := placement.NewOverflow(cache, host, src.Docs)
		var got, want plan.Results
		for _, count := range []bool{false, true} {
			b.CountOnly, f.CountOnly = count, count
			if err := errors.Join(s.Match(t.Context(), &b, &got), host.Match(t.Context(), &b, &want)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Docs, want.Docs) || got.Stats.Queries != 61 {
				t.Errorf("room %d: intersections differ", room)
			}
			if err := errors.Join(s.Match(t.Context(), &f, &got), host.Match(t.Context(), &f, &want)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Docs, want.Docs) || got.Stats.Queries != 60 {
				t.Errorf("room %d: expressions differ", room)
			}
		}
		var top, best plan.TopK
		if err := errors.Join(s.Rank(t.Context(), &r, &top), host.Rank(t.Context(), &r, &best)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(top.Offsets, best.Offsets) || !slices.Equal(top.Docs, best.Docs) || !slices.Equal(top.Scores, best.Scores) {
			t.Errorf("room %d: rankings differ", room)
		}
		if some, all := cache.asked > 0, cache.asked == 5*60; some != (room > 0) || all != (room == 1<<30) {
			t.Errorf("room %d: the cache answered %d queries", room, cache.asked)
		}
		if cache.fault = plan.ErrDeviceLost; room == 200 {
			if err := s.Rank(t.Context(), &r, &top); !errors.Is(err, plan.ErrDeviceLost) {
				t.Errorf("a device that is lost: %v", err)
			}
			ctx, stop := context.WithCancel(t.Context())
			stop()
			cache.fault = nil
			if err := s.Match(ctx, &b, &got); !errors.Is(err, context.Canceled) {
				t.Errorf("a context that has ended: %v", err)
			}
		}
	}
}
