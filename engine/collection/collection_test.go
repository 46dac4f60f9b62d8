package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/index/build"
)

// TestModel: after random changes a collection has the documents of the model in their order. A merge
// gives the bytes of a fresh build. A writer that is opened again goes on.
func TestModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, w := create(t, options(nil))
		defer func() { w.Close() }()
		var want model
		r.Repeat(map[string]func(*rapid.T){
			"add": func(r *rapid.T) {
				docs := documents(1, 12).Draw(r, "documents")
				before := len(want) + len(docs)
				want = want.add(docs)
				a, err := add(w, docs)
				must(r, err)
				if a.Documents != uint64(len(docs)) || a.Replaced != uint64(before-len(want)) {
					r.Fatalf("added %d, replaced %d; want %d, %d", a.Documents, a.Replaced, len(docs), before-len(want))
				}
			},
			"delete": func(r *rapid.T) {
				names := rapid.SliceOfN(rapid.SampledFrom([]string{"n0", "n1", "n2", "n3", "n5", "n8", "n13", "n21", "none"}), 0, 6).Draw(r, "names")
				left := want.delete(names)
				got, err := w.Delete(t.Context(), each(names))
				must(r, err)
				if got.Deleted != uint64(len(want)-len(left)) || got.Deleted+got.Missing != uint64(len(names)) {
					r.Fatalf("%+v of %v", got, names)
				}
				want = left
			},
			"merge": func(r *rapid.T) {
				must(r, w.Merge(t.Context()))
				if len(want) > 0 {
					fresh(r, dir, want)
				}
			},
			"maintain": func(r *rapid.T) { must(r, w.Maintain(t.Context())) },
			"open": func(r *rapid.T) {
				must(r, w.Close())
				var err error
				w, err = Open(dir, Options{Creator: "test"})
				must(r, err)
			},
			"": func(r *rapid.T) {
				if got := content(r, dir); !slices.Equal(got, namesOf(want)) {
					r.Fatalf("documents %v, want %v", got, namesOf(want))
				}
				if m := w.Manifest(); m.Live() != uint64(len(want)) {
					r.Fatalf("%d documents, want %d", m.Live(), len(want))
				}
				tidy(r, w)
			},
		})
	})
}

// TestDuring: documents that are replaced and added while a merge runs have the same state after it.
func TestDuring(t *testing.T) {
	dir, w := create(t, options(nil))
	var want model
	put := func(docs ...document) {
		t.Helper()
		want = want.add(docs)
		_, err := add(w, docs)
		must(t, err)
	}
	put(document{"a", "red"}, document{"b", "blue"}, document{"c", "green"})
	put(document{"d", "grey"}, document{"a", "black"}, document{"e", "white"})
	from := w.segments[:2:2]
	parts, err := w.parts(from) // the state at the begin of a merge
	must(t, err)
	want = want.delete([]string{"c", "e"})
	_, err = w.Delete(t.Context(), each([]string{"c", "e"}))
	must(t, err)
	put(document{"d", "pink"}, document{"f", "brown"})
	must(t, w.mergeParts(t.Context(), w.number(), from, parts))
	if got := content(t, dir); !slices.Equal(got, namesOf(want)) || len(w.Manifest().Segments) != 2 {
		t.Fatalf("documents %v, want %v", got, namesOf(want))
	}
	must(t, w.Merge(t.Context()))
	fresh(t, dir, want)
}

// TestRefused: wrong calls are errors that name the reason and leave the collection as it is.
func TestRefused(t *testing.T) {
	dir, w := create(t, options(nil))
	_, err := add(w, []document{{"a", "red"}})
	must(t, err)
	state := w.Manifest()
	if _, err := Open(dir, Options{Creator: "test"}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	for want, call := range map[string]func() error{
		"1 have no name": func() error {
			opt := options(nil)
			opt.Stdin = strings.NewReader("a\tred\n\tblue\n")
			_, err := w.Add(t.Context(), []string{"-"}, opt)
			return err
		},
		"other settings": func() error {
			opt := options(nil)
			opt.Format, opt.Stdin = build.JSONL, strings.NewReader(`{"id":"v","vector":{"x":1}}`)
			_, err := w.Add(t.Context(), []string{"-"}, opt)
			return err
		},
		"inverted lists": func() error {
			opt := options(nil)
			opt.Format = build.PISA
			base, one := filepath.Join(t.TempDir(), "x"), "\x01\x00\x00\x00"
			for suffix, numbers := range map[string]string{"docs": one + one + one + "\x00\x00\x00\x00", "freqs": one + one, "sizes": one + one} {
				must(t, os.WriteFile(base+"."+suffix, []byte(numbers), 0o600))
			}
			_, err := w.Add(t.Context(), []string{base}, opt)
			return err
		},
		"absent: ": func() error { // and the words of the system
			_, err := w.Add(t.Context(), []string{filepath.Join(dir, "absent")}, options(nil))
			return err
		},
		"it has files": func() error { return Create(t.Context(), dir, options(nil)) },
		"impacts": func() error {
			opt := options(nil)
			opt.Impacts = 8
			return Create(t.Context(), filepath.Join(t.TempDir(), "x"), opt)
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		tidy(t, w)
	}
	if w.Manifest() != state {
		t.Error("the state has changed")
	}
	other := t.TempDir()
	if _, err := Open(other, Options{Creator: "test"}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), other+" is not a collection") {
		t.Errorf("a folder without a manifest: %v", err)
	}
	if left, err := os.ReadDir(other); err != nil || len(left) > 0 {
		t.Errorf("Open left %v in it, %v", left, err)
	}
}

// TestCanceled: the end of the context ends each call and leaves no file.
func TestCanceled(t *testing.T) {
	_, w := create(t, options(nil))
	for _, docs := range [][]document{{{"a", "red"}}, {{"b", "blue"}}} {
		_, err := add(w, docs)
		must(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Add(ctx, []string{"-"}, options([]document{{"c", "green"}})); !errors.Is(err, context.Canceled) {
		t.Errorf("Add: %v", err)
	}
	if _, err := w.Delete(ctx, each([]string{"a"})); !errors.Is(err, context.Canceled) {
		t.Errorf("Delete: %v", err)
	}
	if err := w.Merge(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Merge: %v", err)
	}
	tidy(t, w)
}

// TestForeign: files of other programs stay.
func TestForeign(t *testing.T) {
	dir, w := create(t, options(nil))
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("x"), 0o600))
	for range 3 {
		_, err := add(w, []document{{"a", "red"}})
		must(t, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error(err)
	}
}

// TestBeside: documents can be added and deleted while merges run; no change removes the files of
// another one that is under way.
func TestBeside(t *testing.T) {
	dir, w := create(t, options(nil))
	var want model
	stop := make(chan struct{})
	merged := make(chan error, 1)
	go func() {
		for {
			if err := w.Merge(t.Context()); err != nil {
				merged <- err
				return
			}
			select {
			case <-stop:
				merged <- nil
				return
			default:
			}
		}
	}()
	for i := range 60 {
		docs := []document{{fmt.Sprint("n", i%7), "red"}, {fmt.Sprint("m", i), "blue"}}
		want = want.add(docs)
		_, err := add(w, docs)
		must(t, err)
		gone := []string{fmt.Sprint("m", i-3)}
		want = want.delete(gone)
		_, err = w.Delete(t.Context(), each(gone))
		must(t, err)
		must(t, w.Maintain(t.Context()))
	}
	close(stop)
	must(t, <-merged)
	if got := content(t, dir); !slices.Equal(got, namesOf(want)) {
		t.Errorf("documents %v, want %v", got, namesOf(want))
	}
	tidy(t, w)
}
