package shard

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/build"
)

// faultyShards are shards of one content, of which one panics. Open counts the shards in use.
type faultyShards struct {
	Shards
	x    *engine.Index
	open atomic.Int64
}

// OpenIndex implements Shards.
func (f *faultyShards) OpenIndex(_ string, _ uint64, number int) (*Index, func(), error) {
	if number == 2 {
		panic("bug")
	}
	f.open.Add(1)
	return &Index{Index: f.x}, func() { f.open.Add(-1) }, nil
}

// TestPanic: a panic in one shard of a group leaves no other shard in use, so that a node can unload them.
func TestPanic(t *testing.T) {
	dir := t.TempDir()
	docs, file := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(docs, []byte("a\tw1 w2\nb\tw1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Build(t.Context(), file, []string{docs}, build.Options{Format: build.Text}); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x, err := e.OpenIndex(t.Context(), file, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f := &faultyShards{x: x}
	defer func() {
		if recover() != "bug" || f.open.Load() != 0 {
			t.Errorf("%d shards are in use", f.open.Load())
		}
	}()
	_, _ = handler{f}.ShardSearch(t.Context(), &api.ShardSearchRequest{Target: &api.ShardTarget{Collection: "x", Epoch: 1}, Texts: []string{"w1"}, Mode: "or", K: 3,
		More: []*api.ShardPart{{Shard: 1}, {Shard: 2}, {Shard: 3}}})
}
