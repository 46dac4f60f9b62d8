package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/rs/zerolog"

	"heddle/engine"
	"heddle/engine/cluster/layout"
	"heddle/engine/collection"
	"heddle/engine/collection/view"
	"heddle/engine/server"
)

// manifestPoll is the time between two looks at the manifest of a collection.
const manifestPoll = 100 * time.Millisecond

// collections serves collections. It implements server.Service.
type collections struct {
	*view.Set
	dirs   map[string]string // by name
	log    zerolog.Logger
	engine atomic.Pointer[engine.Engine] // nil before Load
}

// takeCollections moves the folders among the files of indexes to the collections; nil if there are none.
func takeCollections(files map[string]string, log zerolog.Logger) (*collections, error) {
	c := &collections{Set: view.New(), dirs: map[string]string{}, log: log}
	for name, path := range files {
		folder, err := isCollection(path)
		if err != nil {
			return nil, err
		}
		if folder {
			c.dirs[name] = path
			delete(files, name)
		}
	}
	if len(c.dirs) == 0 {
		return nil, nil
	}
	return c, nil
}

// Register implements server.Service.
func (c *collections) Register(*connect.Server) {}

// Load implements server.Service: it opens the newest states.
func (c *collections) Load(ctx context.Context, e *engine.Engine) (err error) {
	for name, dir := range c.dirs {
		_, wrong := c.Set.Load(ctx, e, name, dir)
		err = errors.Join(err, wrong)
	}
	if err == nil {
		c.engine.Store(e)
	}
	return err
}

// Ready implements server.Service.
func (c *collections) Ready() error {
	if c.engine.Load() == nil {
		return &engine.Error{Code: engine.Closed, Op: "find collections", Err: errors.New("the collections are not loaded yet")}
	}
	return nil
}

// loadRetry is the time between two attempts to open a state that cannot be opened.
const loadRetry = time.Second

// follower opens the new states of a collection.
type follower struct {
	*collections
	name, dir string
	seen      os.FileInfo // manifest of the last attempt
	failure   string      // of the last attempt; empty: none
	retry     time.Time   // after a failure
}

// look opens the state of the manifest, unless it is in service.
func (f *follower) look(ctx context.Context) {
	now, err := os.Stat(filepath.Join(f.dir, layout.ManifestName))
	if err != nil {
		return
	}
	same := f.seen != nil && os.SameFile(f.seen, now) && f.seen.ModTime().Equal(now.ModTime())
	if same && (f.failure == "" || time.Now().Before(f.retry)) {
		return
	}
	f.seen = now
	m, err := f.Set.Load(ctx, f.engine.Load(), f.name, f.dir)
	if err != nil {
		if text := err.Error(); text != f.failure && ctx.Err() == nil {
			f.failure = text
			f.log.Error().Err(err).Msg("the old state of the collection stays in service")
		}
		f.retry = time.Now().Add(loadRetry)
		return
	}
	f.failure = ""
	f.log.Info().Str("collection", f.name).Uint64("state", m.Epoch).Uint64("documents", m.Live()).Msg("in service")
}

// follow opens new states as their manifests appear, until ctx ends.
func (c *collections) follow(ctx context.Context) {
	var all []*follower
	for name, dir := range c.dirs {
		all = append(all, &follower{collections: c, name: name, dir: dir})
	}
	ticks := time.NewTicker(manifestPoll)
	defer ticks.Stop()
	for {
		for _, f := range all {
			f.look(ctx)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// collectionsOf returns the collections in a folder, as NAME=FOLDER.
func collectionsOf(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.IsDir() && collection.Is(path) {
			found = append(found, e.Name()+"="+path)
		}
	}
	return found, nil
}

// services are several parts of a server.
type services []server.Service

func (all services) Register(s *connect.Server) {
	for _, x := range all {
		x.Register(s)
	}
}

func (all services) Load(ctx context.Context, e *engine.Engine) (err error) {
	for _, x := range all {
		err = errors.Join(err, x.Load(ctx, e))
	}
	return err
}

func (all services) Ready() error {
	for _, x := range all {
		if err := x.Ready(); err != nil {
			return err
		}
	}
	return nil
}
