package view

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
	"heddle/engine/internal/layout"
	"heddle/engine/server/watch"
)

// manifestPoll is the time between two looks at the manifest of a collection.
const manifestPoll = 100 * time.Millisecond

// Service is collections whose changes a server follows. It implements server.Service.
type Service struct {
	*Set
	dirs   map[string]string // by name
	log    zerolog.Logger
	engine atomic.Pointer[engine.Engine] // nil before Load

	seen     map[string]os.FileInfo // manifests, with their states before Load
	failures map[string]failure     // by name, of the last attempt; of Run
}

// Follow makes a service of the collections in folders, by name.
func Follow(dirs map[string]string, log zerolog.Logger) *Service {
	c := &Service{Set: New(), dirs: dirs, log: log, seen: map[string]os.FileInfo{}, failures: map[string]failure{}}
	for _, dir := range dirs {
		maps.Copy(c.seen, watch.Look(manifestOf(dir)))
	}
	return c
}

// Register implements server.Service.
func (c *Service) Register(*connect.Server) {}

// Load implements server.Service: it opens the newest states.
func (c *Service) Load(ctx context.Context, e *engine.Engine) (err error) {
	for name, dir := range c.dirs {
		_, wrong := c.Set.Load(ctx, e, name, dir)
		err = errors.Join(err, wrong)
	}
	if err == nil {
		c.engine.Store(e)
	}
	return err
}

// Update opens the newest state of a collection.
func (c *Service) Update(ctx context.Context, name string) error {
	if err := c.Ready(); err != nil {
		return err
	}
	_, err := c.Set.Load(ctx, c.engine.Load(), name, c.dirs[name])
	return err
}

// Ready implements server.Service.
func (c *Service) Ready() error {
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

// Run opens new states as their manifests appear, until ctx ends.
func (c *Service) Run(ctx context.Context) {
	watch.Files(ctx, manifestPoll, func() map[string]os.FileInfo { return c.seen }, func(manifests []string) []string {
		return c.changed(ctx, manifests)
	})
}

// changed opens the states of manifests, and returns the manifests that must be tried again.
func (c *Service) changed(ctx context.Context, manifests []string) (again []string) {
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

func manifestOf(dir string) string { return filepath.Join(dir, layout.ManifestName) }
