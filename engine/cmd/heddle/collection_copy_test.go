package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCollectionFolders: the commands of index files take the folder of a collection, and their output is the output
// for the merged index.
func TestCollectionFolders(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "books")
	act(t, "", "collection", "create", dir, "--store", "text")
	act(t, "a\tthe red loom\nb\tthe blue loom\n", "collection", "add", dir, "--format", "text", "--no-merge", "-")
	act(t, "b\tgreen weft\nc\ta loom of red\n", "collection", "add", dir, "--format", "text", "--no-merge", "-")
	fresh := filepath.Join(root, "fresh.hdl")
	act(t, "a\tthe red loom\nb\tgreen weft\nc\ta loom of red\n", "index", "build", "-o", fresh, "--format", "text", "--store", "text", "-")
	for _, args := range [][]string{{"index", "dump"}, {"index", "dump", "--term", "loom"}, {"index", "dump", "--doc", "1"}, {"index", "export", "--format", "ciff"}, {"index", "export", "--format", "jsonl"}, {"index", "info", "--term", "loom"}} {
		of := func(path string) string { return act(t, "", append([]string{args[0], args[1], path}, args[2:]...)...) }
		if got, want := of(dir), of(fresh); got != want || want == "" {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	for _, args := range [][]string{{"info"}, {"verify"}} {
		got, want := act(t, "", "index", args[0], dir), act(t, "", "collection", args[0], dir)
		if got != want || want == "" {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	lines := act(t, "", "collection", "export", dir)
	if want := `{"id":"a","text":"the red loom"}` + "\n" + `{"id":"b","text":"green weft"}` + "\n" + `{"id":"c","text":"a loom of red"}` + "\n"; lines != want {
		t.Errorf("export: %q, want %q", lines, want)
	}
	out := filepath.Join(root, "books.jsonl")
	act(t, "", "collection", "export", dir, "-o", out)
	if data, err := os.ReadFile(out); err != nil || string(data) != lines {
		t.Errorf("%q, %v", data, err)
	}
	act(t, "", "collection", "export", dir, "--format", "pisa", "-o", filepath.Join(root, "books"))
	if entries, err := filepath.Glob(filepath.Join(root, ".heddle*")); err != nil || entries != nil {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestCollectionCopies backs a collection up, restores it, and finds a damaged file.
func TestCollectionCopies(t *testing.T) {
	root := t.TempDir()
	dir, to, again := filepath.Join(root, "books"), filepath.Join(root, "backup"), filepath.Join(root, "again")
	act(t, "", "collection", "create", dir, "--store", "source", "--text", "body", "--attribute", "year=int")
	act(t, `{"id":"a","body":"loom","year":1}`+"\n"+`{"id":"b","body":"weft","year":2}`, "collection", "add", dir, "--format", "jsonl", "-")
	if out := act(t, "", "collection", "backup", dir, to); !strings.Contains(out, "documents 2, files 4, written 3") || !strings.Contains(out, "hard links 3") {
		t.Errorf("backup: %q", out)
	}
	if out := act(t, `{"id":"a","year":7}`+"\n"+`{"id":"zz"}`, "collection", "update", dir, "-"); !strings.Contains(out, "updated 1, names without a document 1, documents 2") {
		t.Errorf("update: %q", out)
	}
	if out := act(t, "", "collection", "delete", dir, "--where", "year < 7"); !strings.Contains(out, "deleted 1, documents 1") {
		t.Errorf("delete: %q", out)
	}
	if out := act(t, "", "collection", "export", dir); out != `{"body":"loom","id":"a","year":7}`+"\n" {
		t.Errorf("export: %q", out)
	}
	if out := act(t, "", "collection", "restore", to, again, "--copy", "--json"); !strings.Contains(out, `"linked":0`) {
		t.Errorf("restore: %q", out)
	}
	if out := act(t, "", "search", again, "--query", "loom", "--no-header", "--backend", "host"); !strings.Contains(out, "a\n") {
		t.Errorf("search: %q", out)
	}
	act(t, "", "collection", "calibrate", again, "--time", "1ms", "--backend", "host")
	if _, err := os.Stat(filepath.Join(again, "00000003.hdl.cost")); err != nil {
		t.Error(err)
	}
	act(t, `{"id":"c","body":"heddle"}`, "collection", "add", again, "--no-merge", "--format", "jsonl", "-")
	act(t, "", "collection", "merge", again)
	act(t, `{"id":"d","body":"heddle"}`, "collection", "add", again, "--format", "jsonl", "-")
	if costs, err := filepath.Glob(filepath.Join(again, "*.cost")); err != nil || costs != nil {
		t.Errorf("costs of a segment that is gone: %v, %v", costs, err)
	}
	files, err := filepath.Glob(filepath.Join(to, "*.hdl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Truncate(files[0], 100); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, heddle(t, "collection", "restore", to, filepath.Join(root, "none")), exitCorrupt, ".hdl")
	wantFailure(t, heddle(t, "collection", "restore", to, again), exitFailure, "restore to another folder")
	wantFailure(t, heddle(t, "collection", "delete", dir), exitUsage, "--names or --where")
}
