package states

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/collection"
	"heddle/engine/file/container"
	"heddle/engine/index/build"
)

// opened is the files of a segment in the tests.
type opened struct {
	name   string
	closed int
}

func (o *opened) Close() error { o.closed++; return nil }

// TestLife: states share the files of a segment. Files close once, after the last state with them and its last
// query. Deleted documents are read once per change.
func TestLife(t *testing.T) {
	dir, described := filepath.Join(t.TempDir(), "x"), 0
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions()))
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	set := New(func(_ *opened, _ *collection.Segment, deleted *roaring.Bitmap) (uint64, error) {
		described++
		return deleted.GetCardinality(), nil
	})
	all := map[string]*opened{}
	load := func() uint64 {
		t.Helper()
		_, err := set.Load(t.Context(), func(_ context.Context, _ string, m *collection.Manifest, number int) (*opened, error) {
			name := m.Segments[number].File
			if all[name] != nil {
				return nil, fmt.Errorf("%s was open already", name)
			}
			all[name] = &opened{name: name}
			return all[name], nil
		}, "x", dir)
		must(t, err)
		return set.Layout("x").Epoch
	}
	add := func(lines string) {
		t.Helper()
		_, err := w.Add(t.Context(), []string{"-"}, build.Options{Format: build.Text, Stdin: strings.NewReader(lines)})
		must(t, err)
	}
	add("a\tw\nb\tw")
	first := load()
	if again := load(); again != first {
		t.Errorf("epochs %d and %d of one state", first, again)
	}
	files, live, release, ok := set.Use("x", first, 0)
	if !ok || live != 0 {
		t.Fatalf("%v, %d deleted", ok, live)
	}
	_, err = w.Delete(t.Context(), func(yield func(string, error) bool) { yield("a", nil) })
	must(t, err)
	second := load()
	if same, live, release, ok := set.Use("x", second, 0); !ok || same != files || live != 1 || described != 1 {
		t.Errorf("the second state has %v, %d deleted, described %d times", same, live, described)
	} else {
		release()
	}
	add("c\tw")
	must(t, w.Merge(t.Context()))
	load()
	add("d\tw")
	last := load()
	for _, epoch := range []uint64{first, second} {
		if _, _, _, ok := set.Use("x", epoch, 0); ok {
			t.Errorf("state %d is in use after two further ones", epoch)
		}
	}
	if _, _, _, ok := set.Use("x", last, 9); ok {
		t.Error("segment 9")
	}
	if files.closed != 0 {
		t.Error("files are closed under a query")
	}
	if release(); files.closed != 1 {
		t.Errorf("closed %d times after the last query", files.closed)
	}
	must(t, set.Close())
	for name, f := range all {
		if f.closed != 1 {
			t.Errorf("%s closed %d times", name, f.closed)
		}
	}
	if set.Layout("x") != nil || len(set.Names()) != 0 {
		t.Error("after Close")
	}
}

// TestFailure: a load that fails leaves no files open.
func TestFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions()))
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	for _, line := range []string{"a\tw", "b\tw"} {
		_, err := w.Add(t.Context(), []string{"-"}, build.Options{Format: build.Text, Stdin: strings.NewReader(line)})
		must(t, err)
	}
	set := New(func(*opened, *collection.Segment, *roaring.Bitmap) (int, error) { return 0, nil })
	one := new(opened)
	_, err = set.Load(t.Context(), func(_ context.Context, _ string, _ *collection.Manifest, number int) (*opened, error) {
		if number == 1 {
			return nil, container.ErrCorrupt
		}
		return one, nil
	}, "x", dir)
	if !errors.Is(err, container.ErrCorrupt) || one.closed != 1 || set.Layout("x") != nil {
		t.Errorf("%v, closed %d times", err, one.closed)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
