package feed

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster"
	"heddle/engine/collection"
	"heddle/engine/collection/attributes"
	"heddle/engine/collection/view"
	"heddle/engine/index/build"
)

// fixture is a collection with a feed and a coordinator.
type fixture struct {
	*Feed
	dir string
	c   *cluster.Coordinator
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB) *fixture {
	t.Helper()
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	must(t, err)
	t.Cleanup(func() { e.Close() })
	dir := filepath.Join(t.TempDir(), "news")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions(), attributes.Column{Name: "year", Type: "int"}))
	set := view.New()
	t.Cleanup(func() { set.Close() })
	f := &fixture{dir: dir, c: set.Coordinator(cluster.Options{})}
	f.Feed = New(Options{Dirs: map[string]string{"news": dir}, Creator: "test",
		Load: func(ctx context.Context, name string) error {
			_, err := set.Load(ctx, e, name, dir)
			return err
		},
		Merged: func(_ string, err error) {
			if err != nil {
				t.Error(err)
			}
		}})
	t.Cleanup(func() { f.Close() })
	return f
}

// count counts the documents with a word.
func (f *fixture) count(t testing.TB, word string) uint64 {
	t.Helper()
	h, _, err := f.c.Search(t.Context(), "news", engine.Query{Text: word, CountOnly: true, Filter: &engine.Filter{Where: "year >= 0"}}, api.Ask{})
	must(t, err)
	return h.Count
}

// TestAdd: additions of many callers at the same time are in the answers when they return, and a wrong
// one fails alone. Merges in the background keep the number of segments small.
func TestAdd(t *testing.T) {
	f := open(t)
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for i := range 6 {
				word := fmt.Sprintf("w%dx%d", caller, i)
				r, err := f.Add(t.Context(), "news", fmt.Appendf(nil, "{\"id\":\"%s\",\"text\":\"%s all\",\"year\":%d}\n\n{\"id\":\"%s-2\",\"text\":\"all\",\"year\":1}", word, word, i, word))
				if err != nil || r.GetAdded() != 2 || f.count(t, word) != 1 {
					t.Errorf("%s: %v, %v", word, r, err)
				}
				if _, err := f.Add(t.Context(), "news", []byte("{\"id\":\"x\",\"text\":\"wrong\",\"year\":1}\n{\"id\":\"y\",\"text\":\"x\",\"year\":\"soon\"}")); engine.CodeOf(err) != engine.InvalidOption || !strings.Contains(err.Error(), "-:2:") {
					t.Errorf("a wrong value: %v", err)
				}
			}
		})
	}
	callers.Wait()
	if n := f.count(t, "all"); n != 96 || f.count(t, "wrong") != 0 {
		t.Errorf("%d documents", n)
	}
	r, err := f.Delete(t.Context(), "news", []string{"w0x0", "w0x0-2", "nobody"})
	if err != nil || r.GetDeleted() != 2 || r.GetMissing() != 1 || r.GetDocuments() != 94 || f.count(t, "all") != 94 {
		t.Errorf("delete: %v, %v", r, err)
	}
	if r, err = f.Merge(t.Context(), "news"); err != nil || f.count(t, "all") != 94 {
		t.Errorf("merge: %v, %v", r, err)
	}
	must(t, f.Close())
	if m, err := collection.Read(f.dir); err != nil || m.Live() != 94 || len(m.Segments) != 1 {
		t.Errorf("%v, %v", m, err)
	}
}

// TestErrors: a collection that another process changes, and an unknown one, cannot be changed. A line
// ends in LF alone, also after a CR.
func TestErrors(t *testing.T) {
	f := open(t)
	if _, err := f.Add(t.Context(), "none", nil); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("unknown: %v", err)
	}
	w, err := collection.Open(f.dir, collection.Options{Creator: "other"})
	must(t, err)
	line := []byte(`{"id":"a","text":"x"}`)
	if _, err := f.Add(t.Context(), "news", line); engine.CodeOf(err) != engine.Closed {
		t.Errorf("locked: %v", err)
	}
	must(t, w.Close())
	if _, err := f.Add(t.Context(), "news", line); err != nil {
		t.Error(err)
	}
	for _, line := range []string{`{"text":"x"}`, `{"id":"","text":"x"}`} {
		if _, err := f.Add(t.Context(), "news", []byte(line)); engine.CodeOf(err) != engine.InvalidOption {
			t.Errorf("no name: %v", err)
		}
	}
	for lines, want := range map[string]uint64{"{\"id\":\"a\",\r\"text\":\"x\"}": 1, "{\"id\":\"a\",\"text\":\"x\"}\r\n\r\n \n{\"id\":\"b\",\"text\":\"x\"}\r\n": 2} {
		if r, err := f.Add(t.Context(), "news", []byte(lines)); err != nil || r.GetAdded() != want {
			t.Errorf("%q: %v, %v, want %d", lines, r, err, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Add(ended, "news", line); err != nil && engine.CodeOf(err) != engine.Canceled {
		t.Errorf("a client that has left: %v", err)
	}
}
