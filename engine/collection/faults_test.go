package collection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// TestFaults lets each operation on the disk fail during each kind of change, alone, or together with
// all later operations as if the process had ended. Then the collection has the state from before
// the change or the state after it, and after it if the change has succeeded. The next writer goes
// on and removes the files that are left over.
func TestFaults(t *testing.T) {
	first := []document{{"a", "red loom"}, {"b", "blue loom"}, {"c", "green"}}
	second := []document{{"d", "red weft"}, {"b", "grey"}}
	third := []document{{"c", "white"}, {"e", "black"}, {"e", "pink"}}
	start := model(nil).add(first).add(second)
	for name, change := range map[string]struct {
		run  func(w *Writer) error
		want model
	}{
		"add":    {func(w *Writer) error { _, err := add(w, third); return err }, start.add(third)},
		"delete": {func(w *Writer) error { _, err := w.Delete(t.Context(), each([]string{"a", "d"})); return err }, start.delete([]string{"a", "d"})},
		"merge":  {func(w *Writer) error { return w.Merge(t.Context()) }, start},
	} {
		for _, dead := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/dead=", dead), func(t *testing.T) {
				dir, w := create(t, options(nil))
				for _, docs := range [][]document{first, second} {
					_, err := add(w, docs)
					must(t, err)
				}
				must(t, w.Close())
				for fail := 0; fault(t, dir, &containertest.Disk{Fail: fail, Dead: dead}, change.run, namesOf(start), namesOf(change.want)); fail++ {
				}
			})
		}
	}
}

// fault copies a collection and changes the copy on a disk that fails. It reports whether the disk failed.
func fault(t *testing.T, from string, d *containertest.Disk, run func(*Writer) error, before, after []string) bool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "books")
	must(t, os.CopyFS(dir, os.DirFS(from)))
	w, err := openOn(d, dir, Options{Creator: "test"})
	if err == nil {
		err = run(w)
		must(t, w.lock.Close()) // the process has ended: no other clean-up
		for _, s := range w.segments {
			s.close()
		}
		if isMapped(dir) {
			t.Fatalf("operation %d: files are mapped behind the end of the writer", d.Fail)
		}
	}
	if err != nil && !errors.Is(err, containertest.ErrFault) {
		t.Fatalf("operation %d: %v", d.Fail, err)
	}
	got := content(t, dir)
	if !slices.Equal(got, after) && (err == nil || !slices.Equal(got, before)) {
		t.Fatalf("operation %d, error %v: documents %v, want %v or %v", d.Fail, err, got, before, after)
	}
	next, err2 := Open(dir, Options{Creator: "test"})
	must(t, err2)
	defer next.Close()
	tidy(t, next)
	_, err2 = add(next, []document{{"z", "last"}})
	must(t, err2)
	if all := content(t, dir); !slices.Equal(all, append(slices.Clone(got), "z")) {
		t.Fatalf("operation %d: then %v", d.Fail, all)
	}
	return d.Count > d.Fail
}

// isMapped tells whether a file below dir is mapped. It knows on Linux alone.
func isMapped(dir string) bool {
	maps, err := os.ReadFile("/proc/self/maps")
	return err == nil && strings.Contains(string(maps), dir)
}

// TestCreateFaults: a creation that fails leaves nothing, or a collection.
func TestCreateFaults(t *testing.T) {
	for fail := 0; ; fail++ {
		dir := filepath.Join(t.TempDir(), "books")
		d := &containertest.Disk{Fail: fail}
		err := createOn(t.Context(), d, dir, options(nil))
		if err == nil {
			break
		}
		if !errors.Is(err, containertest.ErrFault) {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("operation %d: the folder remains", fail)
		}
		if isMapped(dir) {
			t.Fatalf("operation %d: files are mapped behind the end", fail)
		}
	}
	own := t.TempDir() // a folder that was there stays
	err := createOn(t.Context(), &containertest.Disk{Fail: 9}, own, options(nil))
	if _, gone := os.Stat(own); !errors.Is(err, containertest.ErrFault) || gone != nil {
		t.Errorf("%v, %v", err, gone)
	}
	dir := filepath.Join(t.TempDir(), "books") // a process that ends leaves a folder that Create takes again
	_ = createOn(t.Context(), &containertest.Disk{Fail: 9, Dead: true}, dir, options(nil))
	must(t, os.MkdirAll(filepath.Join(dir, "00000001.hdl.tmp1"), 0o700))
	must(t, Create(t.Context(), dir, options(nil)))
}

// hiding is a disk on which the path of the collection breaks after its manifest was replaced.
type hiding struct {
	container.OSDisk
	link, dir string
}

func (d *hiding) RemoveAll(path string) error {
	err := errors.Join(os.Remove(d.link), os.Symlink(d.dir, d.link), d.OSDisk.RemoveAll(path))
	if strings.HasPrefix(filepath.Base(path), layout.ManifestName) { // the last step of a replacement
		err = errors.Join(err, os.Remove(d.link), os.Symlink("absent", d.link))
	}
	return err
}

// TestUntidied: a change whose manifest is in place succeeds, though old files cannot be removed. The
// files that the manifest names stay.
func TestUntidied(t *testing.T) {
	dir, w := create(t, options(nil))
	must(t, w.Close())
	d := &hiding{link: filepath.Join(t.TempDir(), "link"), dir: dir}
	testneeds.Link(t, dir, d.link)
	w, err := openOn(d, d.link, Options{Creator: "test"})
	must(t, err)
	_, err = add(w, []document{{"a", "red"}})
	if got := content(t, dir); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("documents %v, error %v", got, err)
	}
	must(t, w.Close())
}

// TestKept: the files of the state before stay for one change, so that a reader that has just read the
// manifest finds them; then they go. It is so for changes of one writer, and of one writer each.
func TestKept(t *testing.T) {
	for _, again := range []bool{false, true} {
		dir, w := create(t, options(nil))
		exist := func(names map[string]bool) (n int) {
			for name := range names {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
					n++
				}
			}
			return n
		}
		var before *Manifest
		for i, change := range []func() error{
			func() error { _, err := add(w, []document{{"a", "red"}, {"b", "blue"}}); return err },
			func() error { _, err := add(w, []document{{"b", "green"}, {"c", "grey"}}); return err },
			func() error { _, err := w.Delete(t.Context(), each([]string{"c"})); return err },
			func() error { return w.Merge(t.Context()) },
			func() error { _, err := w.Delete(t.Context(), each([]string{"a"})); return err },
			func() error { return w.Merge(t.Context()) },
		} {
			now := w.Manifest()
			must(t, change())
			files := now.files()
			if got := exist(files); got != len(files) {
				t.Errorf("change %d: %d of %d files of the state before remain", i, got, len(files))
			}
			if before != nil {
				gone := before.files()
				for _, m := range []*Manifest{now, w.Manifest()} {
					for name := range m.files() {
						delete(gone, name)
					}
				}
				if got := exist(gone); got != 0 {
					t.Errorf("change %d: %d files of the state before the former one remain: %v", i, got, gone)
				}
			}
			if before = now; again {
				must(t, w.Close())
				var err error
				w, err = Open(dir, Options{Creator: "test"})
				must(t, err)
				before = nil // the next writer removes them at once
			}
		}
		must(t, w.Close())
	}
}

// TestCreateRace: of several creations in one folder at once one succeeds, and its collection stays.
func TestCreateRace(t *testing.T) {
	for range 10 {
		dir := filepath.Join(t.TempDir(), "books")
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = Create(t.Context(), dir, options(nil)) })
		}
		all.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else if !errors.Is(err, ErrLocked) && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
		}
		if _, err := Read(dir); made != 1 || err != nil {
			t.Fatalf("%d creations succeeded, then %v: %v", made, err, errs)
		}
	}
}

// TestDamaged: a flipped byte of a bitmap or a manifest, and a file that is absent, are errors.
func TestDamaged(t *testing.T) {
	dir, w := create(t, options(nil))
	_, err := add(w, []document{{"a", "red"}, {"b", "blue"}, {"a", "green"}})
	must(t, err)
	must(t, w.Close())
	m, err := Read(dir)
	must(t, err)
	s := m.Segments[0]
	data, err := os.ReadFile(filepath.Join(dir, s.Deleted.File.File))
	must(t, err)
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 4
		must(t, os.WriteFile(filepath.Join(dir, s.Deleted.File.File), bad, 0o600))
		if _, err := s.ReadDeleted(dir); !errors.Is(err, container.ErrCorrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	for n := range data {
		must(t, os.WriteFile(filepath.Join(dir, s.Deleted.File.File), data[:n], 0o600))
		if _, err := s.ReadDeleted(dir); !errors.Is(err, container.ErrCorrupt) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, s.Deleted.File.File), data, 0o600))
	if _, err := s.ReadDeleted(dir); err != nil {
		t.Fatal(err)
	}
	s.Docs = 0
	if _, err := s.ReadDeleted(dir); !errors.Is(err, container.ErrCorrupt) {
		t.Errorf("a deleted document that the segment does not have: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte("{"), 0o600))
	if _, err := Open(dir, Options{Creator: "test"}); !errors.Is(err, container.ErrCorrupt) {
		t.Errorf("a manifest that ends early: %v", err)
	}
}
