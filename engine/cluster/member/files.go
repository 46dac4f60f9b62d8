package member

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/cluster/node"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/layout"
)

// Files serves the shards that lie beside manifests to coordinators. It implements server.Service and
// shard.Shards.
type Files struct {
	Manifests []string                  // the files, or their folders
	node      atomic.Pointer[node.Node] // nil before Load
	loaded    atomic.Bool
}

// Register implements server.Service.
func (f *Files) Register(s *connect.Server) { shard.Register(s, f) }

// Load implements server.Service. Files that are absent belong to other machines. Shards that are
// open stay.
func (f *Files) Load(ctx context.Context, e *engine.Engine) error {
	f.node.CompareAndSwap(nil, node.New(e))
	for _, path := range f.Manifests {
		m, err := layout.ReadManifest(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".json" {
			path = filepath.Dir(path)
		}
		if err := f.load(ctx, m, path); err != nil {
			return err
		}
	}
	f.loaded.Store(true)
	return nil
}

// load opens the shards of a manifest that are in a folder.
func (f *Files) load(ctx context.Context, m *layout.Map, dir string) error {
	found := false
	for i, s := range m.Shards {
		file, attributes := filepath.Join(dir, s.File), ""
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, x := range s.Files() {
			if err := checkSize(filepath.Join(dir, x.File), x.Bytes); err != nil {
				return err
			}
		}
		if s.Attributes != nil {
			attributes = filepath.Join(dir, s.Attributes.File)
		}
		if err := f.node.Load().Load(ctx, m.Name, m.Epoch, i, file, attributes); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return fmt.Errorf("%s has no file of the manifest", dir)
	}
	return nil
}

// checkSize compares the size of a file with the manifest.
func checkSize(file string, bytes uint64) error {
	state, err := os.Stat(file)
	if err == nil && uint64(state.Size()) != bytes {
		return &engine.Error{Code: engine.Corrupt, Op: "load shard", Err: fmt.Errorf("%s has %d bytes: the manifest says %d", file, state.Size(), bytes)}
	}
	return err
}

// Ready implements server.Service.
func (f *Files) Ready() error {
	if !f.loaded.Load() {
		return &engine.Error{Code: engine.Closed, Op: "find shards", Err: errors.New("the shards are not loaded yet")}
	}
	return nil
}

// OpenIndex implements shard.Shards.
func (f *Files) OpenIndex(name string, epoch uint64, number int) (*shard.Index, func(), error) {
	if err := f.Ready(); err != nil {
		return nil, nil, err
	}
	return f.node.Load().OpenIndex(name, epoch, number)
}

// OpenTable implements shard.Shards.
func (f *Files) OpenTable(name string, epoch uint64, number int) (*engine.Table, func(), error) {
	if err := f.Ready(); err != nil {
		return nil, nil, err
	}
	return f.node.Load().OpenTable(name, epoch, number)
}
