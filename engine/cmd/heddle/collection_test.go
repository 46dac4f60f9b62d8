package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/collection"
	"heddle/engine/index/build"
)

// act runs a command of the collection and returns its output. It must succeed.
func act(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	a := &App{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs}
	if code := a.Run(t.Context(), args); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// TestCollection adds, replaces, deletes, searches and merges documents.
func TestCollection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	act(t, "", "collection", "create", dir, "--store", "text")
	act(t, "a\tthe red loom\nb\tthe blue loom\n", "collection", "add", dir, "--format", "text", "-")
	act(t, "b\tgreen weft\nc\ta loom of red\n", "collection", "add", dir, "--format", "text", "-")
	if out := act(t, "a\nzz\n", "collection", "delete", dir, "--names", "-"); !strings.Contains(out, "deleted 1, names without a document 1, documents 2") {
		t.Errorf("delete: %q", out)
	}
	search := func() string {
		t.Helper()
		return act(t, "", "search", dir, "--query", "loom red weft", "--no-header", "--backend", "host")
	}
	before := search()
	if !strings.Contains(before, "c\n") || !strings.Contains(before, "*weft*") || strings.Contains(before, "blue") {
		t.Errorf("search: %q", before)
	}
	act(t, "", "collection", "merge", dir)
	if after := search(); after != before {
		t.Errorf("after the merge: %q, before %q", after, before)
	}
	var state report.Collection
	if err := json.Unmarshal([]byte(act(t, "", "collection", "info", dir, "--json")), &state); err != nil {
		t.Fatal(err)
	}
	if state.Documents != 2 || state.Deleted != 0 || len(state.Segments) != 1 || state.Settings.Store != "text" {
		t.Errorf("info: %+v", state)
	}
	fresh := filepath.Join(t.TempDir(), "fresh.hdl")
	act(t, "b\tgreen weft\nc\ta loom of red\n", "index", "build", "-o", fresh, "--format", "text", "--store", "text", "-")
	a, err1 := os.ReadFile(fresh)
	b, err2 := os.ReadFile(filepath.Join(dir, state.Segments[0].File))
	if err1 != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("the merged index differs from a fresh one: %v, %v", err1, err2)
	}
	act(t, `{"id":"x\ny","text":"line"}`+"\n", "collection", "add", dir, "--format", "jsonl", "-")
	if out := act(t, "x\ny\x00zz", "collection", "delete", dir, "--null", "--names", "-"); !strings.Contains(out, "deleted 1, names without a document 1, documents 2") {
		t.Errorf("delete --null: %q", out)
	}
	out := act(t, `{"id":"q","text":"weft","lead":"loom"}`+"\nwrong\n", "collection", "add", dir, "--format", "jsonl", "--invalid", "skip", "--max-invalid", "1", "--json", "-")
	if !strings.Contains(out, `"added":1,`) || !strings.Contains(out, `"skipped":1,"first":"`) || !strings.Contains(out, `"left_out":[{"member":"lead","documents":1}]`) {
		t.Errorf("add --json: %s", out)
	}
}

// TestUnmerged: add --no-merge leaves up to 10 segments, and joins them where there are more.
func TestUnmerged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	act(t, "", "collection", "create", dir)
	most := 0
	for i := range 12 {
		act(t, fmt.Sprintf("d%d\tloom\n", i), "collection", "add", dir, "--format", "text", "--no-merge", "-")
		m, err := collection.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(m.Segments))
	}
	if most != 10 {
		t.Errorf("up to %d segments, want 10", most)
	}
}

// TestCollectionExplain: an explanation names the query, the segments and unknown terms, and is part of
// the object in jsonl.
func TestCollectionExplain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	act(t, "", "collection", "create", dir)
	for _, line := range []string{"a\tthe red loom\n", "b\tblue loom\n"} {
		act(t, line, "collection", "add", dir, "--format", "text", "--no-merge", "-")
	}
	var out, errs strings.Builder
	a := &App{Stdout: &out, Stderr: &errs}
	args := []string{"search", dir, "--query", "loom nowhere", "--no-header", "--explain", "--backend", "host"}
	if code := a.Run(t.Context(), args); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{"query 1: loom nowhere\nshard 0:\n", "\nshard 1:\n", "\nin no document: nowhere\n"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("explanation %q, want %q", errs.String(), want)
		}
	}
	out.Reset()
	errs.Reset()
	if code := a.Run(t.Context(), []string{"search", dir, "--query", "nowhere", "--no-header"}); code != 0 || errs.String() != "query 1: in no document: nowhere\n" {
		t.Errorf("exit code %d: %q", code, errs.String())
	}
	errs.Reset()
	if code := a.Run(t.Context(), append(args, "--format", "jsonl")); code != 0 || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var o struct{ Explanation string }
	if err := json.Unmarshal([]byte(out.String()), &o); err != nil || !strings.HasPrefix(o.Explanation, "shard 0:\n") || !strings.Contains(o.Explanation, "in no document: nowhere\n") {
		t.Errorf("%q: %v", out.String(), err)
	}
}

// TestCollectionWriter is the process of TestCollectionKill: it adds documents one at a time and
// prints the name of each after it was acknowledged.
func TestCollectionWriter(t *testing.T) {
	dir := os.Getenv("HEDDLE_TEST_COLLECTION")
	if dir == "" {
		t.Skip("TestCollectionKill starts it as a process")
	}
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for i := w.Manifest().Live(); ; i++ {
		opt := build.Options{Format: build.Text, Stdin: strings.NewReader(fmt.Sprintf("d%d\tloom\n", i))}
		if _, err := w.Add(context.Background(), []string{"-"}, opt); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("acknowledged d%d\n", i)
		if err := w.Maintain(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCollectionKill kills a writer between and during its changes. Each document that was acknowledged
// is there, and the next writer goes on.
func TestCollectionKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	act(t, "", "collection", "create", dir)
	most := 0
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCollectionWriter$")
		cmd.Env = append(os.Environ(), "HEDDLE_TEST_COLLECTION="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 5 + 7*round { // the kill meets another step each time
			if !lines.Scan() {
				t.Fatal("the writer has ended")
			}
			if n, ok := strings.CutPrefix(lines.Text(), "acknowledged d"); ok {
				_, _ = fmt.Sscan(n, &most)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		m, err := collection.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if m.Live() < uint64(most)+1 {
			t.Fatalf("%d documents, d%d was acknowledged", m.Live(), most)
		}
		w, err := collection.Open(dir, collection.Options{Creator: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
