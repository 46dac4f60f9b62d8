package collection

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/plan/testneeds"
)

// backup copies a collection and checks the copy.
func backup(t *testing.T, dir, to string, opt CopyOptions) Copied {
	t.Helper()
	done, err := Backup(t.Context(), dir, to, opt)
	must(t, err)
	m, err := Verify(t.Context(), to)
	must(t, err)
	if m.Epoch != done.Epoch || m.Live() != done.Documents || !slices.Equal(content(t, dir), content(t, to)) {
		t.Fatalf("%+v, %+v", done, m)
	}
	return done
}

// TestBackup: a backup has the documents of the collection, a second one writes only new files, and a restored
// collection changes without an effect on the backup.
func TestBackup(t *testing.T) {
	for _, opt := range []CopyOptions{{}, {Copy: true}} {
		root := t.TempDir()
		dir, to, again := filepath.Join(root, "books"), filepath.Join(root, "backup"), filepath.Join(root, "again")
		w := withYears(t, dir)
		first := backup(t, dir, to, opt)
		if first.Written != first.Files-1 || (first.Linked == first.Written) == opt.Copy {
			t.Errorf("%+v", first)
		}
		must(t, jsonLines(w, []document{{"x", "pink"}, {"a", "white"}}))
		second := backup(t, dir, to, opt)
		if second.Written >= second.Files-1 || second.Written < 4 || second.Bytes >= first.Bytes {
			t.Errorf("%+v after %+v", second, first)
		}
		if third := backup(t, dir, to, opt); third.Written != 0 {
			t.Errorf("without a change: %+v", third)
		}
		want := content(t, dir)
		_, err := Restore(t.Context(), to, again, opt)
		must(t, err)
		must(t, w.Close())
		must(t, os.RemoveAll(dir))
		restored, err := Open(again, Options{Creator: "test"})
		must(t, err)
		defer restored.Close()
		must(t, jsonLines(restored, []document{{"y", "blue"}}))
		must(t, restored.Merge(t.Context()))
		must(t, jsonLines(restored, []document{{"z", "blue"}})) // the merged files go
		if _, err := Verify(t.Context(), to); err != nil || !slices.Equal(content(t, to), want) || !slices.Equal(content(t, again), append(want, "y", "z")) {
			t.Errorf("%v: %v, %v", err, content(t, to), content(t, again))
		}
		tidy(t, restored)
	}
}

// TestBackupNumbers: a writer uses no number of a file that an earlier state had, so a backup of that state stays a target.
func TestBackupNumbers(t *testing.T) {
	dir, w := create(t, options(nil))
	to := filepath.Join(filepath.Dir(dir), "backup")
	for _, name := range []string{"a", "b", "c", "d"} { // two numbers each, and one state
		must(t, second(add(w, []document{{name, "red"}})))
	}
	must(t, w.Merge(t.Context()))
	must(t, second(add(w, []document{{"e", "loom"}})))
	backup(t, dir, to, CopyOptions{})
	must(t, second(w.Delete(t.Context(), each([]string{"e"}))))
	must(t, w.Maintain(t.Context())) // the segment with the greatest number goes
	must(t, w.Close())
	w, err := Open(dir, Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	must(t, second(w.Delete(t.Context(), each([]string{"a"}))))
	must(t, second(add(w, []document{{"f", "loom"}})))
	backup(t, dir, to, CopyOptions{})
}

// TestBackupWithin: a collection takes no backup and no restored collection into its own folder, by a link either.
func TestBackupWithin(t *testing.T) {
	root := t.TempDir()
	dir, link := filepath.Join(root, "books"), filepath.Join(root, "link")
	must(t, withYears(t, dir).Close())
	testneeds.Link(t, dir, link)
	for _, to := range []string{filepath.Join(dir, "backup"), filepath.Join(link, "backup"), filepath.Join(dir, "..", "books", "x")} {
		for _, from := range []string{dir, link} {
			if _, err := Backup(t.Context(), from, to, CopyOptions{}); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("a backup of %s to %s: %v", from, to, err)
			}
			if _, err := Restore(t.Context(), from, to, CopyOptions{}); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s restored to %s: %v", from, to, err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() }) {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	backup(t, dir, filepath.Join(root, "books.backup"), CopyOptions{}) // a name that begins so is outside
}

// TestBackupChanged: a backup that was changed by itself has documents of its own, and is refused as a target, as a
// restored collection is.
func TestBackupChanged(t *testing.T) {
	root := t.TempDir()
	dir, to, restored := filepath.Join(root, "books"), filepath.Join(root, "backup"), filepath.Join(root, "restored")
	must(t, withYears(t, dir).Close())
	backup(t, dir, to, CopyOptions{})
	must(t, second(Restore(t.Context(), to, restored, CopyOptions{})))
	w, err := Open(to, Options{Creator: "test"})
	must(t, err)
	must(t, jsonLines(w, []document{{"own", "red"}}))
	must(t, w.Close())
	for _, at := range []string{to, restored, dir} {
		want := content(t, at)
		if _, err := Backup(t.Context(), dir, at, CopyOptions{}); !errors.Is(err, fs.ErrExist) || !slices.Equal(content(t, at), want) {
			t.Errorf("%s: %v, %v", at, err, content(t, at))
		}
	}
}

// TestBackupErrors: a folder with other files, a backup of another collection, and a collection where a backup is to
// be restored are refused, and stay as they are. A damaged file is found.
func TestBackupErrors(t *testing.T) {
	root := t.TempDir()
	dir, to := filepath.Join(root, "books"), filepath.Join(root, "backup")
	w := withYears(t, dir)
	other := filepath.Join(root, "other")
	must(t, os.Mkdir(other, 0o700))
	must(t, os.WriteFile(filepath.Join(other, "x"), nil, 0o600))
	backup(t, dir, to, CopyOptions{Copy: true})
	poems := filepath.Join(root, "poems")
	must(t, withYears(t, poems).Close())
	anew := filepath.Join(root, "anew", "books")
	must(t, os.Mkdir(filepath.Dir(anew), 0o700))
	x := withYears(t, anew)
	must(t, jsonLines(x, []document{{"a", "another document"}}))
	must(t, x.Merge(t.Context()))
	must(t, x.Close())
	for _, err := range []error{
		second(Backup(t.Context(), dir, other, CopyOptions{})),
		second(Backup(t.Context(), poems, to, CopyOptions{})),
		second(Restore(t.Context(), to, poems, CopyOptions{})),
		second(Restore(t.Context(), to, dir, CopyOptions{})),
	} {
		if !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
	}
	if _, err := Backup(t.Context(), dir, dir, CopyOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("into itself: %v", err)
	}
	lock, err := take(to)
	must(t, err)
	if _, err := Backup(t.Context(), dir, to, CopyOptions{}); !errors.Is(err, ErrLocked) {
		t.Errorf("beside another backup: %v", err)
	}
	must(t, lock.Close())
	must(t, w.Close())
	if _, err := Backup(t.Context(), other, filepath.Join(root, "none"), CopyOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no collection: %v", err)
	}
	m, err := Read(to)
	must(t, err)
	for _, f := range m.described() {
		path := filepath.Join(to, f.File)
		data, err := os.ReadFile(path)
		must(t, err)
		damaged := slices.Clone(data)
		damaged[len(damaged)/2] ^= 1
		must(t, os.WriteFile(path, damaged, 0o600))
		fresh := filepath.Join(root, "fresh")
		if _, err := Restore(t.Context(), to, fresh, CopyOptions{}); !errors.Is(err, container.ErrCorrupt) {
			t.Errorf("%s: %v", f.File, err)
		}
		if _, err := os.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: an incomplete collection is left", f.File)
		}
		must(t, os.WriteFile(path, data, 0o600))
	}
	_, err = Verify(t.Context(), to)
	must(t, err)
}

func second[T any](_ T, err error) error { return err }

// TestBackupFaults lets each operation of a second backup fail, alone or with all later ones as if the process had
// ended: the backup has its former state or the new one, and the next backup goes on.
func TestBackupFaults(t *testing.T) {
	root := t.TempDir()
	dir, to := filepath.Join(root, "books"), filepath.Join(root, "backup")
	w := withYears(t, dir)
	backup(t, dir, to, CopyOptions{})
	before := content(t, to)
	must(t, jsonLines(w, []document{{"x", "pink"}, {"a", "white"}}))
	must(t, w.Merge(t.Context()))
	must(t, w.Close())
	after := content(t, dir)
	for _, opt := range []CopyOptions{{}, {Copy: true}} {
		for _, dead := range []bool{false, true} {
			for fail := 0; ; fail++ {
				now := filepath.Join(t.TempDir(), "backup")
				must(t, os.CopyFS(now, os.DirFS(to)))
				d := &containertest.Disk{Fail: fail, Dead: dead}
				_, err := copyOn(t.Context(), d, dir, now, opt, true)
				if err != nil && !errors.Is(err, containertest.ErrFault) {
					t.Fatal(err)
				}
				if got := content(t, now); !slices.Equal(got, after) && (err == nil || !slices.Equal(got, before)) {
					t.Fatalf("operation %d, error %v: %v", fail, err, got)
				}
				_, err = Verify(t.Context(), now)
				must(t, err)
				backup(t, dir, now, opt)
				entries, err := os.ReadDir(now)
				must(t, err)
				m, err := Read(now)
				must(t, err)
				if len(entries) != len(m.described())+2 { // manifest and lock
					t.Fatalf("operation %d: %v", fail, entries)
				}
				if d.Count <= d.Fail {
					break
				}
			}
		}
	}
}

// TestRestoreCut cuts the power behind each operation of Restore: afterwards the folder can be restored again, or
// is whole.
func TestRestoreCut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	must(t, withYears(t, dir).Close())
	want := content(t, dir)
	root, made := t.TempDir(), false
	p := containertest.NewPower(t, root, func(at string) {
		at = filepath.Join(at, "again")
		if _, err := Read(at); !made && errors.Is(err, os.ErrNotExist) {
			_, err := Restore(t.Context(), dir, at, CopyOptions{Copy: true}) // Wine removes no link to a file that is open
			must(t, err)
		}
		if _, err := Verify(t.Context(), at); err != nil || !slices.Equal(content(t, at), want) {
			t.Fatal(err)
		}
	})
	_, err := restoreOn(t.Context(), p, dir, filepath.Join(root, "again"), CopyOptions{Copy: true})
	must(t, err)
	made = true
	p.Renewed()
}

// TestBackupBeside makes backups while a writer changes the collection: each has one state.
func TestBackupBeside(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "books")
	w := withYears(t, dir)
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range 15 {
			err := jsonLines(w, []document{{"x", "pink"}, {string(rune('e' + i)), "white"}})
			if err == nil && i%3 == 2 {
				err = w.Merge(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	defer writing.Wait()
	for range 8 {
		_, err := Backup(t.Context(), dir, filepath.Join(root, "backup"), CopyOptions{})
		must(t, err)
		_, err = Verify(t.Context(), filepath.Join(root, "backup"))
		must(t, err)
	}
	writing.Wait()
	must(t, w.Close())
	backup(t, dir, filepath.Join(root, "backup"), CopyOptions{})
}

// TestWriteIndex: the index of a collection is the index that a merge writes.
func TestWriteIndex(t *testing.T) {
	dir, w := create(t, options(nil))
	docs := model(nil).add([]document{{"a", "red loom"}, {"b", "blue"}}).add([]document{{"c", "weft"}, {"a", "grey"}})
	_, err := add(w, []document{{"a", "red loom"}, {"b", "blue"}})
	must(t, err)
	_, err = add(w, []document{{"c", "weft"}, {"a", "grey"}})
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.hdl")
	must(t, WriteIndex(t.Context(), dir, path, "test"))
	must(t, w.Merge(t.Context()))
	fresh(t, dir, docs)
	got, err := os.ReadFile(path)
	must(t, err)
	want, err := os.ReadFile(filepath.Join(dir, w.Manifest().Segments[0].File))
	must(t, err)
	if !slices.Equal(got, want) {
		t.Error("the files differ")
	}
}
