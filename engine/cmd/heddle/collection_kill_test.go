package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/collection"
)

// TestCollectionChanger is the process of TestCollectionKills: it updates a document, deletes documents by a filter,
// backs up and restores, and prints each step that was acknowledged.
func TestCollectionChanger(t *testing.T) {
	root := os.Getenv("HEDDLE_TEST_CHANGER")
	if root == "" {
		t.Skip("TestCollectionKills starts it as a process")
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.OpenCollection(t.Context(), filepath.Join(root, "books"), engine.CollectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	_, _ = fmt.Sscan(os.Getenv("HEDDLE_TEST_FIRST"), &first)
	for i := first; ; i++ {
		step := func(name string, err error) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fmt.Println("acknowledged", name, i)
		}
		_, err := c.UpdateLines(t.Context(), strings.NewReader(fmt.Sprintf(`{"id":"a","year":%d}`, i)))
		step("update", err)
		_, err = c.AddLines(t.Context(), strings.NewReader(fmt.Sprintf(`{"id":"x%d","text":"loom","year":-1}`, i)))
		if err == nil {
			_, err = c.DeleteMatches(t.Context(), engine.Query{Filter: &engine.Filter{Where: "year < 0"}})
		}
		step("delete", err)
		_, err = c.Backup(t.Context(), filepath.Join(root, "backup"))
		step("backup", err)
		to := filepath.Join(root, "restored")
		gone := to + ".gone" // a removal that is killed leaves a part
		if err := errors.Join(os.RemoveAll(gone), os.Rename(to, gone)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		_, err = collection.Restore(t.Context(), filepath.Join(root, "backup"), to, collection.CopyOptions{})
		step("restore", err)
	}
}

// years are the years of the documents of a collection, whose files are whole.
func years(t *testing.T, dir string) map[string]int {
	t.Helper()
	if _, err := collection.Verify(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	if _, err := collection.WriteDocuments(t.Context(), dir, &lines); err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for line := range strings.Lines(lines.String()) {
		var d struct {
			ID   string
			Year int
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		all[d.ID] = d.Year
	}
	return all
}

// TestCollectionKills kills a process between and during updates, deletions by filter, backups and restores. Each step
// that was acknowledged is on the disk, and each collection, backup and restored collection is whole.
func TestCollectionKills(t *testing.T) {
	root := t.TempDir()
	books := filepath.Join(root, "books")
	act(t, "", "collection", "create", books, "--store", "source", "--attribute", "year=int")
	act(t, `{"id":"a","text":"loom","year":0}`+"\n", "collection", "add", books, "-")
	last := map[string]int{"update": 0, "delete": -1, "backup": -1}
	for round := range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCollectionChanger$")
		cmd.Env = append(os.Environ(), "HEDDLE_TEST_CHANGER="+root, fmt.Sprint("HEDDLE_TEST_FIRST=", last["update"]+1))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, printed := bufio.NewScanner(out), ""
		for n := 0; n < 5+round; { // the kill meets another step each time
			if !lines.Scan() {
				t.Fatalf("the process has ended:\n%s", printed)
			}
			printed += lines.Text() + "\n"
			var step string
			var i int
			if _, err := fmt.Sscanf(lines.Text(), "acknowledged %s %d", &step, &i); err == nil {
				last[step] = i
				n++
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		now := years(t, books)
		if now["a"] < last["update"] {
			t.Fatalf("round %d: the document has year %d, %d was acknowledged", round, now["a"], last["update"])
		}
		for name := range now {
			var i int
			if n, _ := fmt.Sscanf(name, "x%d", &i); n == 1 && i <= last["delete"] {
				t.Fatalf("round %d: %s was deleted", round, name)
			}
		}
		if got := years(t, filepath.Join(root, "backup")); got["a"] < last["backup"] {
			t.Fatalf("round %d: the backup has year %d, %d was acknowledged", round, got["a"], last["backup"])
		}
		if to := filepath.Join(root, "restored"); collection.Is(to) {
			years(t, to)
		}
		last["update"] = now["a"]
	}
}

// numbered yields JSON lines of about 8 KiB with the documents from a number on, until the context ends.
func numbered(ctx context.Context, first, n int) io.Reader {
	in, out := io.Pipe()
	context.AfterFunc(ctx, func() { out.CloseWithError(ctx.Err()) })
	go func() {
		for i := range n {
			if _, err := fmt.Fprintf(out, `{"id":"n%d","text":%q,"year":%d}`+"\n", first+i, strings.Repeat("loom ", 1600), first+i); err != nil {
				return
			}
		}
		out.Close()
	}()
	return in
}

// TestAdditionKills kills a server between and during streamed uploads, and commands that add documents. The collection
// has all documents that were acknowledged, then a part of a running upload from its start, or all or none of a
// running command. The next changes leave no file of the processes.
func TestAdditionKills(t *testing.T) {
	inTempDir(t)
	act(t, "", "collection", "create", "books", "--attribute", "year=int")
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	next := 0
	check := func(most int) {
		t.Helper()
		if _, err := collection.Verify(t.Context(), "books"); err != nil {
			t.Fatal(err)
		}
		c, err := e.OpenCollection(t.Context(), "books", engine.CollectionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hits, err := c.Search(t.Context(), engine.Query{Text: "loom", Names: true, Filter: &engine.Filter{Where: "year >= 0"}})
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
		n := len(hits.Names)
		if n < next || n > next+most {
			t.Fatalf("%d documents, %d were acknowledged, %d were sent", n, next, most)
		}
		for i, name := range hits.Names {
			if name != fmt.Sprint("n", i) {
				t.Fatalf("document %d of %d is %s", i, n, name)
			}
		}
		next = n
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for round := range 2 {
		s := serve(t, "--index", "books=books", "--admin", "127.0.0.1:0")
		ctx, end := context.WithCancel(t.Context())
		for sent, last := 0, round; sent <= last; sent++ {
			lines := 700 // above one part
			if sent == last {
				lines = 1 << 20
				time.AfterFunc(time.Duration(150+100*round)*time.Millisecond, func() { _ = s.cmd.Process.Kill() })
			}
			resp, err := client.Post(s.admin+"/v1/admin/indexes/books/upload", "application/x-ndjson", numbered(ctx, next, lines))
			if sent == last {
				if err == nil {
					t.Fatalf("the server took a stream without an end: %s", resp.Status)
				}
				break
			}
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%v, %v", resp, err)
			}
			resp.Body.Close()
			next += lines
		}
		end()
		_ = s.cmd.Wait()
		check(1 << 20)
	}
	for round := range 3 {
		ctx, end := context.WithCancel(t.Context())
		const lines = 600
		cmd := process(t.Context(), "collection", "add", "books", "--format", "jsonl", "--no-progress", "-")
		cmd.Stdin = numbered(ctx, next, lines)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(20+40*round)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		done := cmd.Wait()
		kill.Stop()
		end()
		before := next
		if check(lines); next != before && next != before+lines || done == nil && next == before {
			t.Fatalf("%d of %d documents, the command: %v", next-before, lines, done)
		}
	}
	act(t, "", "collection", "merge", "books")
	act(t, `{"id":"z","text":"loom","year":0}`+"\n", "collection", "add", "books", "--no-merge", "-")
	m, err := collection.Read("books")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"lock": true, "manifest.json": true}
	for _, s := range m.Segments {
		known[s.File], known[s.Keys.File], known[s.Attributes.File] = true, true, true
	}
	entries, err := os.ReadDir("books")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("%s is left", e.Name())
		}
	}
}
