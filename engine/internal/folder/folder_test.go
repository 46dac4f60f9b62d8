package folder

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"heddle/engine/plan/testneeds"
	"heddle/engine/table/build"
	"heddle/engine/table/hdb"
	"heddle/engine/table/merge"
	"heddle/engine/table/read/csv"
)

// made builds a table file with a column of integers.
func made(t *testing.T, path string, rows int) {
	t.Helper()
	table(t, path, strings.Repeat("7\n", rows))
}

// table builds a table file with a column of the integers of lines.
func table(t *testing.T, path, lines string) {
	t.Helper()
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader("n\n" + lines)})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := build.Build(t.Context(), src, path, build.Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestAppendLink adds a table file by a symbolic link, whose relative path does not hold in the folder.
func TestAppendLink(t *testing.T) {
	t.Setenv("HEDDLE_CACHE", "off")
	dir := t.TempDir()
	t.Chdir(dir)
	testneeds.Link(t, filepath.Join("sub", "real.hdb"), "day.hdb")
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	made(t, filepath.Join("sub", "real.hdb"), 3)
	if err := Append("many", "day.hdb"); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), nil, "many", false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if files, err := Files(nil, "many"); err != nil || len(files) != 1 || files[0] != filepath.Join("many", "day.hdb") || f.Rows() != 3 {
		t.Errorf("%q, %v, %d rows", files, err, f.Rows())
	}
}

// TestStates opens two states of a folder at the same time, each of which removes the table of the other one.
func TestStates(t *testing.T) {
	dir := t.TempDir()
	var parts [2][]merge.Part
	for state := range parts {
		path := filepath.Join(dir, fmt.Sprint(state, Suffix))
		made(t, path, 1+state)
		f, err := hdb.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		parts[state] = []merge.Part{merge.Whole(f, nil)}
	}
	for range 30 {
		t.Setenv("HEDDLE_CACHE", t.TempDir())
		var both errgroup.Group
		for state := range parts {
			both.Go(func() error {
				f, err := merged(t.Context(), dir, parts[state], bytes.Repeat([]byte{byte(state)}, sha256.Size), false)
				if err != nil {
					return err
				}
				return f.Close()
			})
		}
		if err := both.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopied: of copies to one name at the same time, one is there.
func TestCopied(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	if err := os.WriteFile(from, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for round := range 30 {
		var all errgroup.Group
		var added atomic.Int32
		for range 2 {
			all.Go(func() error {
				err := copied(dir, from, filepath.Join(dir, fmt.Sprint(round)))
				if err == nil {
					added.Add(1)
				} else if errors.Is(err, fs.ErrExist) {
					err = nil
				}
				return err
			})
		}
		if err := all.Wait(); err != nil || added.Load() != 1 {
			t.Fatalf("round %d: %d copies added, %v", round, added.Load(), err)
		}
	}
}

// TestDamaged damages the table of a folder at several places: the next Open merges the files again.
func TestDamaged(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("HEDDLE_CACHE", cache)
	dir := t.TempDir()
	made(t, filepath.Join(dir, "a.hdb"), 5000)
	made(t, filepath.Join(dir, "b.hdb"), 300)
	open := func() (path string, whole []byte) {
		t.Helper()
		f, err := Open(t.Context(), nil, dir, false)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if whole, err = os.ReadFile(f.Path()); err != nil || f.Rows() != 5300 || f.CheckSums() != nil {
			t.Errorf("%d rows, %v, %v", f.Rows(), err, f.CheckSums())
		}
		return f.Path(), whole
	}
	path, whole := open()
	for _, at := range []int{0, len(whole) / 3, len(whole) / 2, len(whole) - 1} {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 4
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if again, now := open(); again != path || !bytes.Equal(now, whole) {
			t.Errorf("damage at byte %d of %d stays", at, len(whole))
		}
	}
	if err := os.Truncate(path, int64(len(whole)/2)); err != nil {
		t.Fatal(err)
	}
	open()
}

// TestReadOnly opens a folder of files with cache folders that cannot be made or written, also one with a damaged table.
func TestReadOnly(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	made(t, filepath.Join(dir, "a.hdb"), 50)
	made(t, filepath.Join(dir, "b.hdb"), 3)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() (path string) {
		t.Helper()
		f, err := Open(t.Context(), nil, dir, false)
		if err != nil {
			t.Fatal(err)
		}
		if f.Rows() != 53 {
			t.Errorf("%d rows", f.Rows())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		return f.Path()
	}
	t.Setenv("HEDDLE_CACHE", filepath.Join(file, "below"))
	open()
	cache := t.TempDir()
	t.Setenv("HEDDLE_CACHE", cache)
	path := open()
	if err := errors.Join(os.Truncate(path, 100), os.Chmod(filepath.Dir(path), 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "x"), nil, 0o600); err == nil {
		t.Skip("the user may write in any folder")
	}
	if open() == path {
		t.Error("the damaged table is open")
	}
}
