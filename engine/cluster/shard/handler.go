// Package shard serves the shards of a node: the handler of api.ShardService over indexes and
// tables of package engine.
package shard

import (
	"fmt"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/part"
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
	Attributes *engine.Table // attribute table of the documents; nil: they have none
}

// EpochCode is the code of api.Error for ErrEpoch.
const EpochCode = "epoch"

// ErrEpoch is the error of a request for an epoch or shard that a node does not hold.
var ErrEpoch = part.ErrEpoch

// Register adds the service to a server.
func Register(s *connect.Server, shards Shards) { api.RegisterShardServiceHandler(s, handler{shards}) }

// handler implements api.ShardServiceHandler.
type handler struct{ shards Shards }

func missing(t *api.ShardTarget) error {
	return fmt.Errorf("shard %d of %s, epoch %d: %w", t.GetShard(), t.GetCollection(), t.GetEpoch(), ErrEpoch)
}

// pinned is the content of a shard during a request.
type pinned struct {
	part.Part
	release func()
}

// end ends the use.
func (p *pinned) end() {
	p.Release()
	p.release()
}

// index pins the content of a shard for a request.
func (h handler) index(t *api.ShardTarget) (*pinned, error) {
	index, release, err := h.shards.OpenIndex(t.GetCollection(), t.GetEpoch(), int(t.GetShard()))
	if err != nil {
		return nil, err
	}
	g, err := index.Internal().Acquire()
	if err != nil {
		release()
		return nil, failure.Wrap("snapshot", err)
	}
	p := &pinned{part.Part{Generation: g}, release}
	if index.Attributes != nil {
		p.Attributes = index.Attributes.Internal()
	}
	return p, nil
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

func invalidOption(op, format string, args ...any) error {
	return &engine.Error{Code: engine.InvalidOption, Op: op, Err: fmt.Errorf(format, args...)}
}
