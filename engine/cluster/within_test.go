package cluster

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// broken is the service of a process in which one shard cannot be read.
type broken struct {
	api.ShardServiceClient
	shard uint32
	err   error
}

func (b broken) ShardTerms(ctx context.Context, r *api.ShardTermsRequest) (*api.ShardTermsResponse, error) {
	if r.GetTarget().GetShard() == b.shard {
		return nil, b.err
	}
	return b.ShardServiceClient.ShardTerms(ctx, r)
}

// TestWithin: a shard that cannot be read fails the query, or is missing in a partial answer; a query
// whose context has ended asks no shard.
func TestWithin(t *testing.T) {
	m := place(t, newEngine(t), corpus(200), []int{0, 50, 120, 200}, 1)
	service := broken{shard.Service(&m.all), 1, &engine.Error{Code: engine.Corrupt, Op: "search", Err: errors.New("a damaged block")}}
	c := Within(m, service, Options{})
	var missing *MissingError
	if _, _, err := c.Search(t.Context(), "x", sample, api.Ask{}); !errors.As(err, &missing) || engine.CodeOf(err) != engine.Corrupt {
		t.Errorf("error %v", err)
	}
	got, cover, err := c.Search(t.Context(), "x", sample, api.Ask{AllowPartial: true, Names: true})
	if err != nil || !sameCoverage(cover, without("a damaged block")) || len(got.IDs) == 0 || len(got.Names) != len(got.IDs) {
		t.Errorf("%+v, coverage %v, %v", got, cover, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	service.shard, service.err = 0, errors.New("asked")
	if _, _, err := Within(m, service, Options{}).Search(ended, "x", sample, api.Ask{}); engine.CodeOf(err) != engine.Canceled {
		t.Errorf("error %v", err)
	}
}

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
			r := &reach{c: &Coordinator{}, x: &collection{layout: &layout.Map{Shards: []layout.Shard{one, one, one, one}}}}
			began := time.Now()
			pieces, err := here(t.Context(), r, task{size: 1, shards: []int{0, 1, 2, 3}}, func(_ context.Context, _ *node, shards []int) (int, []int, error) {
				time.Sleep(c.each)
				return shards[0], shards, nil
			})
			if took := time.Since(began); err != nil || len(pieces) != 4 || pieces[3].answer != 3 || took != c.want {
				t.Errorf("%d documents, %v each: %v after %v, want %v, %v", c.docs, c.each, pieces, took, c.want, err)
			}
		})
	}
}

// TestHereMissing: an answer that comes with an error does not count.
func TestHereMissing(t *testing.T) {
	one := layout.Shard{Docs: 10}
	r := &reach{c: &Coordinator{}, partial: true, x: &collection{layout: &layout.Map{Shards: []layout.Shard{one, one, one}}}}
	pieces, err := here(t.Context(), r, task{size: 1, shards: []int{0, 1, 2}}, func(_ context.Context, _ *node, shards []int) (int, []int, error) {
		if shards[0] == 1 {
			return 7, shards, &engine.Error{Code: engine.Corrupt, Op: "search", Err: errors.New("a damaged block")}
		}
		return shards[0], shards, nil
	})
	if err != nil || len(pieces) != 2 || pieces[0].answer != 0 || pieces[1].answer != 2 || len(r.missing) != 1 || r.missing[1] == nil {
		t.Errorf("%v, missing %v, %v", pieces, r.missing, err)
	}
}
