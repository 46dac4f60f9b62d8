// Package folder opens a folder of table files with equal columns as one table: the rows of all files, ordered by the
// names of the files. The table is merged once for each state of the folder, and kept beside the binaries of drivers.
package folder

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/internal/drivers"
	"heddle/engine/table/build"
	"heddle/engine/table/hdb"
	"heddle/engine/table/merge"
)

// Suffix ends the names of table files.
const Suffix = ".hdb"

// Files are the paths of the table files in a folder, by name; hidden files are left out. It returns nil if path,
// below root unless it is nil, is not a folder, and an fs.ErrNotExist for a folder without table files.
func Files(root *os.Root, path string) ([]string, error) {
	open := func() (fs.File, error) { return os.Open(path) }
	if root != nil {
		open = func() (fs.File, error) { return root.Open(path) }
	}
	f, err := open()
	if err != nil {
		return nil, nil // the reader of a file reports it
	}
	defer f.Close()
	dir, ok := f.(fs.ReadDirFile)
	if st, err := f.Stat(); err != nil || !st.IsDir() || !ok {
		return nil, err
	}
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), Suffix) && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			all = append(all, filepath.Join(path, e.Name()))
		}
	}
	if len(all) == 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: the folder has no %s files", fs.ErrNotExist, Suffix)}
	}
	slices.Sort(all)
	return all, nil
}

// Open opens the table at path, below root unless it is nil: a file, or a folder. trusted skips the checksums.
// Errors: hdb.ErrCorrupt; an error that names the file and the column if the columns of files differ.
func Open(ctx context.Context, root *os.Root, path string, trusted bool) (*hdb.File, error) {
	files, err := Files(root, path)
	switch {
	case err != nil:
		return nil, err
	case files == nil:
		return hdb.OpenIn(root, path, trusted)
	case len(files) == 1:
		return hdb.OpenIn(root, files[0], trusted)
	}
	parts := make([]merge.Part, 0, len(files))
	defer func() {
		for _, p := range parts {
			p.File.Close() // it was read only
		}
	}()
	state := sha256.New()
	for _, name := range files {
		f, err := hdb.OpenIn(root, name, trusted)
		if err != nil {
			return nil, err
		}
		parts = append(parts, merge.Whole(f, nil))
		state.Write(binary.LittleEndian.AppendUint64(nil, f.Checksum()))
	}
	if err := merge.Check(parts); err != nil {
		return nil, err
	}
	if root != nil {
		path = filepath.Join(root.Name(), path)
	}
	return merged(ctx, path, parts, state.Sum(nil), trusted)
}

// mostTries is the number of merges that other processes may undo.
const mostTries = 10

// merged opens the table of parts, the files of a folder: from the cache folder, or made for this time alone where there
// is none or it cannot be written.
func merged(ctx context.Context, folder string, parts []merge.Part, state []byte, trusted bool) (*hdb.File, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	of := sha256.Sum256([]byte(folder))
	name := fmt.Sprintf("%x-%x%s", of[:8], state[:16], Suffix)
	opt := build.Options{Creator: parts[0].File.Meta().Creator, Source: folder}
	cache := drivers.CacheFolder(os.Getenv)
	if cache != "" {
		f, err := kept(ctx, filepath.Join(cache, "tables"), name, parts, opt, trusted)
		if readOnly := new(*fs.PathError); !errors.As(err, readOnly) {
			return f, err
		}
	}
	dir, err := os.MkdirTemp("", "heddle")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // an open file stays readable
	return kept(ctx, dir, name, parts, opt, trusted)
}

// kept opens the table of the given name in a folder, which it makes unless it is there and intact. The table of an
// earlier state of the folder of parts, whose name begins alike, goes. A folder that cannot be written is a *fs.PathError.
func kept(ctx context.Context, dir, name string, parts []merge.Part, opt build.Options, trusted bool) (*hdb.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for merged tables: %w", err)
	}
	path := filepath.Join(dir, name)
	f, err := intact(path, trusted)
	for try := 0; err != nil; try++ {
		if _, err = merge.File(ctx, parts, path, opt); err == nil {
			f, err = hdb.OpenIn(nil, path, trusted)
		}
		// A process that opens another state of the folder may remove the table before it is open here.
		if err != nil && (try == mostTries || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	former, err := filepath.Glob(filepath.Join(dir, name[:strings.IndexByte(name, '-')+1]+"*"+Suffix))
	for _, name := range former {
		if name != path {
			os.Remove(name) // another process may have it open
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// intact opens a table and compares all its checksums, unless it is trusted: a damaged table is merged again.
func intact(path string, trusted bool) (*hdb.File, error) {
	f, err := hdb.OpenIn(nil, path, trusted)
	if err != nil || trusted {
		return f, err
	}
	if err := f.CheckSums(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Append adds a table file to a folder, which it makes if it is not there, under its own name: readers see the whole file
// or none. It links the file, or the file that a symbolic link names, and copies it where that is not possible. Errors:
// fs.ErrExist for a name that is taken; errors of Open.
func Append(dir, path string) error {
	name := filepath.Base(path)
	if !strings.HasSuffix(name, Suffix) || strings.HasPrefix(name, ".") {
		return fmt.Errorf("%s: the name of a table file in a folder ends in %s and begins with no point", path, Suffix)
	}
	f, err := hdb.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	files, err := Files(nil, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(files) > 0 {
		first, err := hdb.Open(files[0])
		if err != nil {
			return err
		}
		defer first.Close()
		if err := merge.Check([]merge.Part{merge.Whole(first, nil), merge.Whole(f, nil)}); err != nil {
			return err
		}
	}
	if err := clean(dir); err != nil {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // a link to a symbolic link would end elsewhere
		return err
	}
	return link(dir, path, filepath.Join(dir, name))
}
