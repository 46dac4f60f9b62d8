package cluster

import (
	"context"
	"errors"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/part"
)

// broken are the parts of a process in which one cannot be read.
type broken struct {
	coordinator.Parts
	shard int
	err   error
}

func (b broken) Part(name string, epoch uint64, number int) (*part.Part, func(), error) {
	if number == b.shard {
		return nil, nil, b.err
	}
	return b.Parts.Part(name, epoch, number)
}

// TestWithin: a shard that cannot be read fails the query, or is missing in a partial answer; a query
// whose context has ended asks no shard.
func TestWithin(t *testing.T) {
	m := place(t, newEngine(t), corpus(200), []int{0, 50, 120, 200}, 1)
	parts := broken{m, 1, &engine.Error{Code: engine.Corrupt, Op: "search", Err: errors.New("a damaged block")}}
	c := Within(m, parts, Options{})
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
	parts.shard, parts.err = 0, errors.New("asked")
	if _, _, err := Within(m, parts, Options{}).Search(ended, "x", sample, api.Ask{}); engine.CodeOf(err) != engine.Canceled {
		t.Errorf("error %v", err)
	}
}
