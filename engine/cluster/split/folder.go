package split

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/file/container"
	"heddle/engine/file/scratch"
	"heddle/engine/internal/layout"
)

// tempPattern is the name of a folder inside of the target. Its content is moved into the target
// when all shards are complete.
const tempPattern = ".heddle-split-*"

// folder is the target of a split.
type folder struct {
	dir, temp  string
	made       bool // the folder, by this split
	attributes bool // the shards have attribute tables
}

// openFolder makes or takes over a folder. It refuses a folder with other content than shards,
// unless force is set.
func openFolder(dir string, force bool) (*folder, error) {
	f := &folder{dir: dir}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Mkdir(dir, 0o777); err != nil {
			return nil, err
		}
		f.made = true
	case err != nil:
		return nil, err
	case !force && slices.ContainsFunc(entries, foreign):
		if _, err := layout.ReadManifest(dir); err != nil {
			return nil, fmt.Errorf("%s: %w: it has files and no valid %s", dir, container.ErrForeign, layout.ManifestName)
		}
	}
	if f.temp, err = os.MkdirTemp(dir, tempPattern); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// foreign tells whether a folder with an entry must have a manifest.
func foreign(e fs.DirEntry) bool {
	return !strings.HasPrefix(e.Name(), strings.TrimSuffix(tempPattern, "*"))
}

// path is where shard i is written.
func (f *folder) path(i int) string { return filepath.Join(f.temp, fmt.Sprint(i)) }

// attributesPath is where the attribute table of shard i is written.
func (f *folder) attributesPath(i int) string { return f.path(i) + ".hdb" }

// publish moves the shards into the folder, sets their names, sizes and checksums in m, and writes
// m as the manifest. Then it removes the shards of the manifest before.
//
// The name of a shard has a part of its checksum, so it never replaces a different shard.
func (f *folder) publish(m *layout.Map, suffix string) (err error) {
	before, _ := layout.ReadManifest(f.dir) // without a valid one there is nothing to remove
	kept := map[string]bool{}
	if before != nil {
		for _, s := range before.Shards {
			for _, file := range s.Files() {
				kept[file.File] = true
			}
		}
	}
	var moved []string
	defer func() {
		if err != nil {
			err = errors.Join(err, f.remove(moved))
		}
	}()
	move := func(path, suffix string, i int) (layout.File, error) {
		file, err := layout.Describe(path, "")
		if err != nil {
			return file, err
		}
		file.File = fmt.Sprintf("%s-%05d-%s%s", m.Name, i, file.SHA256[:12], suffix)
		if err := os.Rename(path, filepath.Join(f.dir, file.File)); err != nil {
			return file, err
		}
		if !kept[file.File] {
			moved = append(moved, file.File)
		}
		delete(kept, file.File)
		return file, nil
	}
	for i := range m.Shards {
		s := &m.Shards[i]
		file, err := move(f.path(i), suffix, i)
		if s.File, s.Bytes, s.SHA256 = file.File, file.Bytes, file.SHA256; err == nil && f.attributes {
			file, err = move(f.attributesPath(i), ".hdb", i)
			s.Attributes = &file
		}
		if err != nil {
			return err
		}
	}
	if err := (container.OSDisk{}).SyncDir(f.dir); err != nil {
		return err
	}
	if err := m.Write(filepath.Join(f.dir, layout.ManifestName)); err != nil {
		return err
	}
	if f.made {
		if err := (container.OSDisk{}).SyncDir(filepath.Dir(f.dir)); err != nil {
			return err
		}
	}
	var old []string
	for file := range kept {
		old = append(old, file)
	}
	moved = nil // the manifest has them
	return f.remove(old)
}

// remove removes files of the folder. Missing files are no error.
func (f *folder) remove(files []string) error {
	var errs []error
	for _, file := range files {
		if err := os.Remove(filepath.Join(f.dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// close removes the temporary files, and the folder if this split made it and it is empty.
func (f *folder) close() error {
	var err error
	if f.temp != "" {
		err = scratch.RemoveAll(f.temp)
	}
	if entries, list := os.ReadDir(f.dir); f.made && list == nil && len(entries) == 0 {
		err = errors.Join(err, os.Remove(f.dir))
	}
	return err
}
