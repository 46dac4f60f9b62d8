package collection

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/index/merge"
)

// tester is a *testing.T or *rapid.T.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// must fails the test for an error.
func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// document is a document of the model.
type document struct{ name, text string }

func (d document) String() string { return d.name + "\t" + d.text }

func lines(docs []document) string {
	var b strings.Builder
	for _, d := range docs {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

// documents draws some documents, whose names may repeat.
func documents(least, most int) *rapid.Generator[[]document] {
	word := rapid.SampledFrom([]string{"loom", "thread", "weft", "warp", "pattern", "heddle", "ß", "a"})
	one := rapid.Custom(func(t *rapid.T) document {
		return document{fmt.Sprint("n", rapid.IntRange(0, 40).Draw(t, "name")), strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), " ")}
	})
	return rapid.SliceOfN(one, least, most)
}

// model is the documents of a collection in their order.
type model []document

// add adds documents, each in place of one with the same name.
func (m model) add(docs []document) model {
	for _, d := range docs {
		m = append(m.delete([]string{d.name}), d)
	}
	return m
}

// delete deletes documents by name.
func (m model) delete(names []string) model {
	return slices.DeleteFunc(slices.Clone(m), func(d document) bool { return slices.Contains(names, d.name) })
}

// content returns the names of the documents of a collection, and how often each has its words.
func content(t tester, dir string) (names []string) {
	t.Helper()
	m, err := Read(dir)
	must(t, err)
	for _, s := range m.Segments {
		f, err := hdl.Open(filepath.Join(dir, s.File))
		must(t, err)
		b, err := s.ReadDeleted(dir)
		must(t, err)
		if uint64(f.Docs()) != s.Docs || b.GetCardinality() != s.Docs-s.Live() {
			t.Fatalf("%s: %d documents, %d deleted, manifest %+v", s.File, f.Docs(), b.GetCardinality(), s)
		}
		for d, name := range f.Names(0) {
			if !b.Contains(d) {
				names = append(names, name)
			}
		}
		must(t, f.Close())
	}
	return names
}

func namesOf(m model) (names []string) {
	for _, d := range m {
		names = append(names, d.name)
	}
	return names
}

// options are the options of collections and fresh builds.
func options(docs []document) build.Options {
	opt := build.DefaultOptions()
	opt.Format, opt.Stdin, opt.Creator = build.Text, strings.NewReader(lines(docs)), "test"
	return opt
}

func add(w *Writer, docs []document) (Added, error) {
	return w.Add(context.Background(), []string{"-"}, options(docs))
}

// each yields names for Delete.
func each(names []string) func(func(string, error) bool) {
	return func(yield func(string, error) bool) {
		for _, n := range names {
			if !yield(n, nil) {
				return
			}
		}
	}
}

// create makes and opens a collection.
func create(t testing.TB, opt build.Options) (string, *Writer) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "books")
	must(t, Create(t.Context(), dir, opt))
	w, err := Open(dir, Options{Creator: "test"})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	return dir, w
}

// fresh checks that the only segment of a collection equals a build of documents, byte for byte.
func fresh(t tester, dir string, docs model) {
	t.Helper()
	m, err := Read(dir)
	must(t, err)
	if len(m.Segments) != 1 || m.Segments[0].Deleted != nil {
		t.Fatalf("not merged: %+v", m.Segments)
	}
	want := filepath.Join(dir, "fresh")
	defer os.Remove(want)
	_, err = build.Build(context.Background(), want, []string{"-"}, options(docs))
	must(t, err)
	a, err := os.ReadFile(filepath.Join(dir, m.Segments[0].File))
	must(t, err)
	b, err := os.ReadFile(want)
	must(t, err)
	if !bytes.Equal(a, b) {
		x, err := hdl.Open(want)
		must(t, err)
		y, err := hdl.Open(filepath.Join(dir, m.Segments[0].File))
		must(t, err)
		t.Fatalf("the merged index differs from a fresh one: %+v, %+v: %v", x.Meta(), y.Meta(), merge.Alike(ptr(x.Meta()), ptr(y.Meta())))
	}
}

func ptr[T any](v T) *T { return &v }

// tidy checks that a folder has the files of the manifest, of the one before it, and no others.
func tidy(t tester, w *Writer) {
	t.Helper()
	entries, err := os.ReadDir(w.dir)
	must(t, err)
	known := w.now.files()
	for _, e := range entries {
		if n := e.Name(); !known[n] && !w.before[n] && n != lockName && n != "manifest.json" {
			t.Fatalf("%s is left; known are %v", n, known)
		}
	}
}
