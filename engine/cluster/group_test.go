package cluster

import (
	"sync/atomic"
	"testing"

	"heddle/engine/api"
	"heddle/engine/cluster/shard"
)

// faultyShards are shards of which one panics. Open counts the shards in use.
type faultyShards struct {
	*shard.Memory
	open atomic.Int64
}

// OpenIndex implements shard.Shards.
func (f *faultyShards) OpenIndex(name string, epoch uint64, number int) (*shard.Index, func(), error) {
	if number == 2 {
		panic("bug")
	}
	f.open.Add(1)
	x, _, err := f.Memory.OpenIndex(name, epoch, number)
	return x, func() { f.open.Add(-1) }, err
}

// TestPanic: a panic in one shard of a group leaves no other shard in use, so that a node can unload them.
func TestPanic(t *testing.T) {
	m := place(t, newEngine(t), corpus(200), []int{0, 50, 100, 150, 200}, 1)
	f := &faultyShards{Memory: &m.all}
	defer func() {
		if recover() != "bug" || f.open.Load() != 0 {
			t.Errorf("%d shards are in use", f.open.Load())
		}
	}()
	_, _ = shard.Service(f).ShardSearch(t.Context(), &api.ShardSearchRequest{Target: &api.ShardTarget{Collection: "x", Epoch: 1}, Texts: []string{"w1"}, Mode: "or", K: 3,
		More: []*api.ShardPart{{Shard: 1}, {Shard: 2}, {Shard: 3}}})
}
