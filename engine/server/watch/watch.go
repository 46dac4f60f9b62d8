// Package watch notices the replacement of files by comparing their states at regular times,
// which works on every file system.
package watch

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Look returns the states of files; nil for a file without one.
func Look(names ...string) map[string]os.FileInfo {
	states := map[string]os.FileInfo{}
	for _, name := range names {
		states[name], _ = os.Stat(name) // its reader reports the error
	}
	return states
}

// Files calls changed with the files whose state has changed since the last call, until ctx ends.
// The files that changed returns are passed to it again at the next look.
// Current, which is called each time, returns the names of the files, and their states from before
// their contents were read; for a nil state the first look counts. A file counts when its state has
// been the same twice, so that a file that is being written waits. A file that does not exist has
// not changed.
func Files(ctx context.Context, every time.Duration, current func() map[string]os.FileInfo, changed func(names []string) (again []string)) {
	known := map[string]os.FileInfo{} // at the last call of changed
	seen := map[string]os.FileInfo{}  // at the last look
	var again []string
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		var all []string
		files := current()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			now, err := os.Stat(name)
			if err != nil {
				continue
			}
			if _, ok := known[name]; !ok {
				if known[name] = files[name]; known[name] == nil {
					known[name] = now
				}
			}
			if slices.Contains(again, name) || !Same(known[name], now) && Same(seen[name], now) {
				known[name] = now
				all = append(all, name)
			}
			seen[name] = now
		}
		if again = nil; len(all) > 0 {
			again = changed(all)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// Reload calls changed after a change of the files, unless every is 0, and signalled after each
// signal of hangup, until ctx ends. Files are as in current of Files, but a file with a nil state has changed when it
// exists. Both may be called at once. A warning names a file that is lost at two looks.
func Reload(ctx context.Context, every time.Duration, files func() map[string]os.FileInfo, hangup <-chan os.Signal, log zerolog.Logger, changed, signalled func()) {
	var task sync.WaitGroup
	defer task.Wait()
	if every > 0 {
		task.Go(func() {
			lost := map[string]int{} // looks since the file was there
			Files(ctx, every, func() map[string]os.FileInfo {
				now := maps.Clone(files())
				for name, first := range now {
					if first == nil {
						now[name] = absent{}
					}
					if _, err := os.Stat(name); err == nil {
						lost[name] = 0
					} else if _, seen := lost[name]; !seen && first == nil {
						lost[name] = 2
					} else if lost[name]++; lost[name] == 2 {
						log.Warn().Err(err).Msg("a file is lost: its last content stays in service")
					}
				}
				return now
			}, func([]string) []string {
				changed()
				return nil
			})
		})
	}
	for {
		select {
		case <-hangup:
			signalled()
		case <-ctx.Done():
			return
		}
	}
}

// absent is the state of a file that does not exist.
type absent struct{ os.FileInfo }

// Same reports whether two states are of the same file with the same content.
func Same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
