package collection

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// TestFaults lets each operation on the disk fail during each kind of change, alone, or together with
// all later operations as if the process had ended. Then the collection has the state from before
// the change or the state after it, and after it if the change has succeeded. The next writer goes
// on and removes what was left.
func TestFaults(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7 // all kinds of operations occur several times
	}
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
				for fail := 0; fault(t, dir, &containertest.Disk{Fail: fail, Dead: dead}, change.run, namesOf(start), namesOf(change.want)); fail += step {
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
	w, err := openOn(d, dir, "test")
	if err == nil {
		err = run(w)
		must(t, w.lock.Close()) // the process has ended: no other clean-up
		for _, s := range w.segments {
			s.close()
		}
	}
	if err != nil && !errors.Is(err, containertest.ErrFault) {
		t.Fatalf("operation %d: %v", d.Fail, err)
	}
	got := content(t, dir)
	if !slices.Equal(got, after) && (err == nil || !slices.Equal(got, before)) {
		t.Fatalf("operation %d, error %v: documents %v, want %v or %v", d.Fail, err, got, before, after)
	}
	next, err2 := Open(dir, "test")
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
	}
	dir := filepath.Join(t.TempDir(), "books") // a process that ends leaves a folder that Create takes again
	_ = createOn(t.Context(), &containertest.Disk{Fail: 9, Dead: true}, dir, options(nil))
	must(t, os.MkdirAll(filepath.Join(dir, "00000001.hdl.tmp1"), 0o700))
	must(t, Create(t.Context(), dir, options(nil)))
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
		if _, err := readDeleted(dir, s.Deleted); !errors.Is(err, container.ErrCorrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	for n := range data {
		must(t, os.WriteFile(filepath.Join(dir, s.Deleted.File.File), data[:n], 0o600))
		if _, err := readDeleted(dir, s.Deleted); !errors.Is(err, container.ErrCorrupt) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte("{"), 0o600))
	if _, err := Open(dir, "test"); !errors.Is(err, container.ErrCorrupt) {
		t.Errorf("a manifest that ends early: %v", err)
	}
}
