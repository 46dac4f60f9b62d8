package index_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/index"
	"heddle/engine/index/build"
)

// An index of documents from Go.
func ExampleNewWriter() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := index.NewWriter(ctx, filepath.Join(dir, "looms.hdl"), build.Options{Store: "source", MemoryLimit: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // without an effect after Close
	for _, d := range []index.Document{{Name: "a", Text: "red loom"}, {Name: "b", Text: "blue loom", Members: map[string]any{"year": 1804}}} {
		if err := w.Add(d); err != nil {
			log.Fatal(err)
		}
	}
	sum, err := w.Close()
	if err != nil {
		log.Fatal(err)
	}

	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	x, err := e.OpenIndex(ctx, filepath.Join(dir, "looms.hdl"), engine.IndexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	hits, err := x.Search(ctx, engine.Query{Text: "blue", K: 1, Fields: &engine.Fields{Members: []string{"year"}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Documents, "documents,", hits.Documents[0].Name, string(hits.Documents[0].Members))
	// Output: 2 documents, b {"year":1804}
}

// TestWriter: a writer makes the file that a build of the same lines makes, also with little memory.
func TestWriter(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for _, memory := range []uint64{0, 1 << 17} {
		path := filepath.Join(dir, "w.hdl")
		w, err := index.NewWriter(t.Context(), path, build.Options{Store: "source", MemoryLimit: memory})
		if err != nil {
			t.Fatal(err)
		}
		lines.Reset()
		for i := range 400 {
			d := index.Document{Name: fmt.Sprint("d", i), Text: strings.Repeat(fmt.Sprintf("loom w%d \ufffd ", i), 20), Members: map[string]any{"title": "x"}}
			line, err := d.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
			if err := w.Add(d); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(path); memory == 0 && err == nil {
			t.Error("the file is there before Close")
		}
		sum, err := w.Close()
		if err != nil || sum.Documents != 400 || memory > 0 && sum.Runs == 0 {
			t.Fatalf("%+v, %v", sum, err)
		}
		if _, err := w.Close(); err == nil || w.Add(index.Document{}) == nil {
			t.Error("a closed writer takes documents")
		}
		in := filepath.Join(dir, "in.jsonl")
		if err := os.WriteFile(in, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := build.Build(t.Context(), filepath.Join(dir, "b.hdl"), []string{in}, build.Options{Format: build.JSONL, Store: "source", ID: "id"}); err != nil {
			t.Fatal(err)
		}
		a, err1 := os.ReadFile(path)
		b, err2 := os.ReadFile(filepath.Join(dir, "b.hdl"))
		if err1 != nil || err2 != nil || string(a) != string(b) {
			t.Errorf("memory %d: the files differ: %d and %d bytes, %v, %v", memory, len(a), len(b), err1, err2)
		}
	}
}

// TestWriterErrors: errors name documents, and a writer that fails, is aborted or whose context ends leaves the former file.
func TestWriterErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.hdl")
	open := func(ctx context.Context) *index.Writer {
		t.Helper()
		w, err := index.NewWriter(ctx, path, build.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open(t.Context())
	if err := w.Add(index.Document{Name: "bad", Members: map[string]any{"f": func() {}}}); err == nil || !strings.Contains(err.Error(), `document "bad"`) {
		t.Errorf("a value without JSON: %v", err)
	}
	for _, d := range []index.Document{{Name: "\xff"}, {Name: "a", Text: "loom \xc3"}, {Name: "a", Members: map[string]any{"tags": []string{"\\", "\xe2\x82"}}}} {
		if err := w.Add(d); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("document %q: a text is no UTF-8", d.Name)) {
			t.Errorf("%q: %v", d, err)
		}
	}
	if err := w.Add(index.Document{Name: "good", Text: "loom \ufffd \\ufffd"}); err != nil {
		t.Error(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	former, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w = open(t.Context())
	for i := range 5 {
		d := index.Document{Name: fmt.Sprint("d", i), Text: "loom"}
		if i == 3 {
			d.Members = map[string]any{"title": 7}
		}
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err == nil || !strings.Contains(err.Error(), `document 3, "d3"`) {
		t.Errorf("a wrong title: %v", err)
	}
	w = open(t.Context())
	_ = w.Add(index.Document{Name: "x", Text: "x"})
	w.Abort()
	ctx, cancel := context.WithCancel(t.Context())
	w = open(ctx)
	cancel()
	for range 1 << 20 {
		if err = w.Add(index.Document{Name: "x", Text: "x"}); err != nil {
			break
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ends: %v", err)
	}
	w.Abort()
	entries, err := os.ReadDir(dir)
	if now, wrong := os.ReadFile(path); err != nil || len(entries) != 1 || wrong != nil || string(now) != string(former) {
		t.Errorf("%v, %v: the former file is gone or changed, or files are left", entries, err)
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.WriteFile(foreign, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := index.NewWriter(t.Context(), foreign, build.Options{}); err == nil {
		t.Error("a file of another program is replaced")
	}
}
