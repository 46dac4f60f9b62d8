package cluster

import (
	"context"
	"errors"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
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
	if _, _, err := c.Search(t.Context(), "x", query, api.Ask{}); !errors.As(err, &missing) || engine.CodeOf(err) != engine.Corrupt {
		t.Errorf("error %v", err)
	}
	got, cover, err := c.Search(t.Context(), "x", query, api.Ask{AllowPartial: true, Names: true})
	if err != nil || !sameCoverage(cover, without("a damaged block")) || len(got.IDs) == 0 || len(got.Names) != len(got.IDs) {
		t.Errorf("%+v, coverage %v, %v", got, cover, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	service.shard, service.err = 0, errors.New("asked")
	if _, _, err := Within(m, service, Options{}).Search(ended, "x", query, api.Ask{}); engine.CodeOf(err) != engine.Canceled {
		t.Errorf("error %v", err)
	}
}
