package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/rs/zerolog"

	"heddle/engine"
	"heddle/engine/collection"
	"heddle/engine/collection/feed"
	"heddle/engine/collection/view"
	"heddle/engine/internal/layout"
	"heddle/engine/server"
	"heddle/engine/server/watch"
)

// manifestPoll is the time between two looks at the manifest of a collection.
const manifestPoll = 100 * time.Millisecond

// collections serves collections. It implements server.Service.
type collections struct {
	*view.Set
	dirs   map[string]string // by name
	log    zerolog.Logger
	engine atomic.Pointer[engine.Engine] // nil before Load

	seen     map[string]os.FileInfo // manifests, with their states before Load
	failures map[string]failure     // by name, of the last attempt; of follow
}

// takeCollections moves the folders among the files of indexes to the collections; nil if there are none.
func takeCollections(files map[string]string, log zerolog.Logger) (*collections, error) {
	c := &collections{Set: view.New(), dirs: map[string]string{}, log: log, seen: map[string]os.FileInfo{}, failures: map[string]failure{}}
	for name, path := range files {
		folder, err := isCollection(path)
		if err != nil {
			return nil, err
		}
		if folder {
			c.dirs[name] = path
			maps.Copy(c.seen, watch.Look(manifestOf(path)))
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

// failure is a state that could not be opened.
type failure struct {
	text  string
	retry time.Time
}

// follow opens new states as their manifests appear, until ctx ends.
func (c *collections) follow(ctx context.Context) {
	watch.Files(ctx, manifestPoll, func() map[string]os.FileInfo { return c.seen }, func(manifests []string) []string {
		return c.changed(ctx, manifests)
	})
}

// changed opens the states of manifests, and returns the manifests that must be tried again.
func (c *collections) changed(ctx context.Context, manifests []string) (again []string) {
	for name, dir := range c.dirs {
		manifest := manifestOf(dir)
		if !slices.Contains(manifests, manifest) {
			continue
		}
		if time.Now().Before(c.failures[name].retry) {
			again = append(again, manifest)
			continue
		}
		m, err := c.Set.Load(ctx, c.engine.Load(), name, dir)
		if err == nil {
			delete(c.failures, name)
			c.log.Info().Str("collection", name).Uint64("state", m.Epoch).Uint64("documents", m.Live()).Msg("in service")
			continue
		}
		if text := err.Error(); text != c.failures[name].text && ctx.Err() == nil {
			c.log.Error().Err(err).Msg("the old state of the collection stays in service")
		}
		c.failures[name] = failure{err.Error(), time.Now().Add(loadRetry)}
		again = append(again, manifest)
	}
	return again
}

// feed changes the collections on behalf of administration.
func (c *collections) feed() *feed.Feed {
	return feed.New(feed.Options{Dirs: c.dirs, Creator: thisBuild().String(),
		Load: func(ctx context.Context, name string) error {
			if err := c.Ready(); err != nil {
				return err
			}
			_, err := c.Set.Load(ctx, c.engine.Load(), name, c.dirs[name])
			return err
		},
		Merged: func(name string, err error) {
			if err != nil {
				c.log.Error().Err(err).Str("collection", name).Msg("segments could not be joined")
			}
		}})
}

func manifestOf(dir string) string { return filepath.Join(dir, layout.ManifestName) }

// collectionsOf returns the collections in a folder, as NAME=FOLDER.
func collectionsOf(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); collection.Is(path) { // also behind a symbolic link
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
