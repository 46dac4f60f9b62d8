package coordinator

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"heddle/engine/failure"
	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// TestHere: one goroutine asks small shards until that takes too long; several ask large ones.
func TestHere(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct {
		docs       uint64
		each, want time.Duration // times of four shards
	}{
		{1000, 10 * time.Microsecond, 40 * time.Microsecond},
		{1000, time.Millisecond, 3 * time.Millisecond},
		{1e6, 10 * time.Microsecond, 20 * time.Microsecond},
		{1e6, time.Millisecond, 2 * time.Millisecond},
	} {
		testneeds.VirtualTime(t, func(t *testing.T) {
			one := layout.Shard{Docs: c.docs}
			f := &Fan{Layout: &layout.Map{Shards: []layout.Shard{one, one, one, one}}, Size: 1, Shards: []int{0, 1, 2, 3}}
			began := time.Now()
			pieces, errs := here(t.Context(), f, func(_ context.Context, shard int) (int, error) {
				time.Sleep(c.each)
				return shard, nil
			})
			if took := time.Since(began); errors.Join(errs...) != nil || len(pieces) != 4 || pieces[3].Answer != 3 || took != c.want {
				t.Errorf("%d documents, %v each: %v after %v, want %v, %v", c.docs, c.each, pieces, took, c.want, errs)
			}
		})
	}
}

// TestHereMissing: an answer that comes with an error does not count.
func TestHereMissing(t *testing.T) {
	one := layout.Shard{Docs: 10}
	r := &Reach{Collection: &Collection{Layout: &layout.Map{Shards: []layout.Shard{one, one, one}}}, Partial: true}
	pieces, err := Spread(t.Context(), r, Fan{Size: 1}, func(ctx context.Context, f *Fan) ([]Piece[int], []error) {
		return here(ctx, f, func(_ context.Context, shard int) (int, error) {
			if shard == 1 {
				return 7, &failure.Error{Code: failure.Corrupt, Op: "search", Err: errors.New("a damaged block")}
			}
			return shard, nil
		})
	})
	if err != nil || len(pieces) != 2 || pieces[0].Answer != 0 || pieces[1].Answer != 2 || len(r.missing) != 1 || r.missing[1] == nil {
		t.Errorf("%v, missing %v, %v", pieces, r.missing, err)
	}
}
