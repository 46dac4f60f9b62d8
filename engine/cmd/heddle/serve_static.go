package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cluster"
	"heddle/engine/cluster/node"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/layout"
)

// isNATS reports whether a value of --cluster names servers of NATS, not a file.
func isNATS(cluster string) bool {
	return strings.HasPrefix(cluster, "nats://") || strings.HasPrefix(cluster, "tls://")
}

// staticCluster answers queries from the nodes that a file names.
func staticCluster(c config.Cluster, timeout time.Duration) (*cluster.Coordinator, error) {
	if strings.Contains(c.Servers, "://") {
		return nil, usageError{fmt.Errorf("--cluster %s: want nats://HOST:PORT, tls://HOST:PORT, or the file of a cluster", c.Servers)}
	}
	s, err := cluster.Open(c.Servers)
	if err == nil {
		i := identity(c)
		i.Configured = true
		s.Client, err = i.Client(s.Client)
	}
	if err != nil {
		return nil, err
	}
	return cluster.New(s, s, cluster.Options{Timeout: timeout}), nil
}

// shardFiles serves the shards of manifests to coordinators. It implements server.Service and
// shard.Shards.
type shardFiles struct {
	manifests []string
	node      atomic.Pointer[node.Node] // nil before Load
	loaded    atomic.Bool
}

// Register implements server.Service.
func (f *shardFiles) Register(s *connect.Server) { shard.Register(s, f) }

// Load implements server.Service. Files that are absent belong to other machines. Shards that are
// open stay.
func (f *shardFiles) Load(ctx context.Context, e *engine.Engine) error {
	f.node.CompareAndSwap(nil, node.New(e))
	for _, path := range f.manifests {
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
func (f *shardFiles) load(ctx context.Context, m *layout.Map, dir string) error {
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
func (f *shardFiles) Ready() error {
	if !f.loaded.Load() {
		return &engine.Error{Code: engine.Closed, Op: "find shards", Err: errors.New("the shards are not loaded yet")}
	}
	return nil
}

// OpenIndex implements shard.Shards.
func (f *shardFiles) OpenIndex(name string, epoch uint64, number int) (*shard.Index, func(), error) {
	if err := f.Ready(); err != nil {
		return nil, nil, err
	}
	return f.node.Load().OpenIndex(name, epoch, number)
}

// OpenTable implements shard.Shards.
func (f *shardFiles) OpenTable(name string, epoch uint64, number int) (*engine.Table, func(), error) {
	if err := f.Ready(); err != nil {
		return nil, nil, err
	}
	return f.node.Load().OpenTable(name, epoch, number)
}
