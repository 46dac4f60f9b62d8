package collections

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heddle/engine/internal/layout"
	"heddle/engine/server/watch"
)

// manifestPoll is the time between two looks at the manifest of a collection.
const manifestPoll = 100 * time.Millisecond

// loadRetry is the time between two attempts to open a state that cannot be opened.
const loadRetry = time.Second

// watched is the manifest of a collection.
type watched struct {
	seen map[string]os.FileInfo // the manifest, with its state before Load

	// The last state that could not be opened; of Run.
	failure string // error
	retry   time.Time
}

func (w *watched) look(dir string) { w.seen = watch.Look(manifestOf(dir)) }

func manifestOf(dir string) string { return filepath.Join(dir, layout.ManifestName) }

// Run opens new states as their manifests appear, until ctx ends.
func (s *Set) Run(ctx context.Context) {
	watch.Files(ctx, manifestPoll, s.manifests, func(manifests []string) []string {
		return s.changed(ctx, manifests)
	})
}

// manifests returns the manifests of all open collections.
func (s *Set) manifests() map[string]os.FileInfo {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := map[string]os.FileInfo{}
	for _, x := range s.all {
		if x.Collection != nil {
			maps.Copy(all, x.seen)
		}
	}
	return all
}

// changed opens the states of manifests, and returns the manifests that must be tried again.
func (s *Set) changed(ctx context.Context, manifests []string) (again []string) {
	s.mu.RLock()
	all := maps.Clone(s.all)
	s.mu.RUnlock()
	for name, x := range all {
		manifest := manifestOf(x.dir)
		if !slices.Contains(manifests, manifest) || x.Collection == nil {
			continue
		}
		if time.Now().Before(x.retry) {
			again = append(again, manifest)
			continue
		}
		now, err := x.Refresh(ctx)
		if err == nil {
			x.failure = ""
			s.log.Info().Str("collection", name).Uint64("state", now.State).Uint64("documents", now.Documents).Msg("in service")
			continue
		}
		if text := err.Error(); text != x.failure && ctx.Err() == nil {
			s.log.Error().Err(err).Msg("the old state of the collection stays in service")
		}
		x.failure, x.retry = err.Error(), time.Now().Add(loadRetry)
		again = append(again, manifest)
	}
	return again
}
