// Package shard serves the shards of a node: the handler of api.ShardService over indexes and
// tables of package engine.
package shard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
)

// Shards finds the shards that a node holds. Release ends the use of a shard. An epoch or shard
// that the node does not hold is an error that wraps ErrEpoch.
type Shards interface {
	OpenIndex(name string, epoch uint64, shard int) (x *Index, release func(), err error)
	OpenTable(name string, epoch uint64, shard int) (t *engine.Table, release func(), err error)
}

// Index is a shard of an index.
type Index struct {
	*engine.Index
	Live       *Live         // nil: no document is deleted
	Attributes *engine.Table // attribute table of the documents; nil: they have none
}

// Live describes the documents of a shard that are not deleted. Queries find no deleted documents, and
// the statistics leave these out.
type Live struct {
	Filter    *engine.Filter
	Docs      uint64 // number of documents
	WithTerms uint64 // documents with at least one term
	Length    uint64 // sum of their lengths
}

// EpochCode is the code of api.Error for ErrEpoch.
const EpochCode = "epoch"

// ErrEpoch is the error of a request for an epoch or shard that a node does not hold.
var ErrEpoch = errors.New("the node does not hold this epoch and shard")

// Register adds the service to a server.
func Register(s *connect.Server, shards Shards) { api.RegisterShardServiceHandler(s, handler{shards}) }

// Service returns the service for calls in this process.
func Service(shards Shards) api.ShardServiceClient { return handler{shards} }

// handler implements api.ShardServiceHandler.
type handler struct{ shards Shards }

func missing(t *api.ShardTarget) error {
	return fmt.Errorf("shard %d of %s, epoch %d: %w", t.GetShard(), t.GetCollection(), t.GetEpoch(), ErrEpoch)
}

// pinned is the content of a shard during a request.
type pinned struct {
	*engine.Snapshot
	live       *Live
	attributes *engine.Table
	release    func()
}

// end ends the use.
func (p *pinned) end() {
	p.Close()
	p.release()
}

// name returns the name of a document.
func (p *pinned) name(doc uint32) (string, error) {
	name, err := p.File().DocName(doc)
	return strings.ToValidUTF8(name, "\uFFFD"), err
}

// index pins the content of a shard for a request.
func (h handler) index(t *api.ShardTarget) (*pinned, error) {
	index, release, err := h.shards.OpenIndex(t.GetCollection(), t.GetEpoch(), int(t.GetShard()))
	if err != nil {
		return nil, err
	}
	x, err := index.Snapshot()
	if err != nil {
		release()
		return nil, err
	}
	return &pinned{x, index.Live, index.Attributes, release}, nil
}

// use calls f with the content of a shard. A fault of its file is an error.
func use[A any](h handler, t *api.ShardTarget, f func(*pinned) (A, error)) (out A, err error) {
	defer reply(&err)
	defer mapped.Catch(mapped.Watch(), &err)
	x, err := h.index(t)
	if err != nil {
		return out, err
	}
	defer x.end()
	return f(x)
}

// statistics returns the statistics of the documents that are not deleted.
func (p *pinned) statistics(ctx context.Context, terms []string) (engine.Statistics, error) {
	s := p.Statistics(terms...)
	if p.live == nil {
		return s, nil
	}
	s.Docs, s.Length = p.live.WithTerms, p.live.Length
	var present []string
	var counts []engine.Query
	for _, t := range terms {
		if s.DF[t] > 0 {
			present, counts = append(present, t), append(counts, engine.Query{Terms: []string{t}, CountOnly: true, Filter: p.live.Filter})
		}
	}
	found := make([]uint64, len(present))
	err := p.SearchAll(ctx, counts, func(first int, hits []engine.Hits) error {
		for i, h := range hits {
			found[first+i] = h.Count
		}
		return nil
	})
	for i, t := range present {
		s.DF[t] = found[i]
	}
	return s, err
}
