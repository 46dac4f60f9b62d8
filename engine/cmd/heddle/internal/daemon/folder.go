package daemon

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle/engine/collection"
	tablefolder "heddle/engine/internal/folder"
	"heddle/engine/server/catalog"
	"heddle/engine/server/watch"
)

// Content is the files and collections of a folder, by name.
type Content struct{ Indexes, Tables, Collections map[string]string }

// Read lists a folder: files by their names without .hdl and .hdb, and folders of collections and of table files.
func Read(dir string) (Content, error) {
	c := Content{map[string]string{}, map[string]string{}, map[string]string{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return c, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if name, ok := strings.CutSuffix(e.Name(), ".hdl"); ok && !e.IsDir() {
			c.Indexes[name] = path
		} else if name, ok := strings.CutSuffix(e.Name(), ".hdb"); ok && !e.IsDir() {
			c.Tables[name] = path
		} else if collection.Is(path) { // also behind a symbolic link
			c.Collections[e.Name()] = path
		} else if files, _ := tablefolder.Files(nil, path); files != nil {
			c.Tables[e.Name()] = path
		}
	}
	return c, nil
}

// lookAgain is the time between two looks at a folder.
const lookAgain = 250 * time.Millisecond

// folder follows the content of a folder: files and collections that appear are served, and the ones that leave are
// not.
type folder struct {
	dir    string
	daemon *Daemon

	mu     sync.Mutex
	served map[string]string      // by path: the name in service
	seen   map[string]os.FileInfo // at the last look; of new paths
	failed map[string]os.FileInfo // paths that could not be opened, with their states
	err    string                 // of the last look
}

// follow looks at the folder until ctx ends.
func (f *folder) follow(ctx context.Context) {
	ticks := time.NewTicker(lookAgain)
	defer ticks.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticks.C:
			f.look(ctx, false)
		case <-ctx.Done():
		}
	}
}

// look serves the content of the folder. A path waits until two looks have found it in the same state, because it may
// be written in place, unless now is true.
func (f *folder) look(ctx context.Context, now bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := Read(f.dir)
	if err != nil {
		if err.Error() != f.err {
			f.daemon.Log.Error().Err(err).Msg("the folder cannot be read: its content stays in service")
		}
		f.err = err.Error()
		return
	}
	f.err = ""
	here := map[string]bool{}
	for _, kind := range f.kinds() {
		for _, path := range kind.of(&c) {
			here[path] = true
		}
	}
	for path := range f.served {
		if !here[path] {
			f.remove(ctx, path)
		}
	}
	seen := map[string]os.FileInfo{}
	for _, kind := range f.kinds() {
		all := kind.of(&c)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			path := all[name]
			if f.served[path] != "" {
				continue
			}
			state := watch.Look(path)[path]
			if seen[path] = state; !now && !watch.Same(f.seen[path], state) || watch.Same(f.failed[path], state) {
				continue
			}
			err := catalog.CheckName(name)
			if err == nil {
				err = kind.add(ctx, name, path)
			}
			if err != nil {
				f.failed[path] = state
				f.daemon.Log.Error().Err(err).Str("file", path).Msg("not in service")
				continue
			}
			delete(f.failed, path)
			f.served[path] = name
		}
	}
	f.seen = seen
}

// kind is a kind of content.
type kind struct {
	of  func(*Content) map[string]string
	add func(ctx context.Context, name, path string) error
}

func (f *folder) kinds() []kind {
	d := f.daemon
	return []kind{
		{func(c *Content) map[string]string { return c.Indexes }, d.server.AddIndex},
		{func(c *Content) map[string]string { return c.Tables }, d.server.AddTable},
		{func(c *Content) map[string]string { return c.Collections }, d.server.AddCollection},
	}
}

// remove takes a path out of service.
func (f *folder) remove(ctx context.Context, path string) {
	name := f.served[path]
	delete(f.served, path)
	if err := f.daemon.server.Remove(ctx, name, path); err != nil {
		f.daemon.Log.Error().Err(err).Str("file", path).Msg("a file that has left the folder")
	}
}

// newFolder follows the folder of the configuration, whose content from the start is in service.
func (d *Daemon) newFolder() *folder {
	f := &folder{dir: d.Config.Server.Dev, daemon: d, served: map[string]string{}, seen: map[string]os.FileInfo{}, failed: map[string]os.FileInfo{}}
	for _, all := range []map[string]string{d.Content.Indexes, d.Content.Tables, d.Content.Collections} {
		for name, path := range all {
			f.served[path] = name
		}
	}
	return f
}
