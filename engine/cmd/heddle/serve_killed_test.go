//go:build !core

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/collection"
	"heddle/engine/index/hdl"
	"heddle/engine/plan/testneeds"
)

// writers are clients that change the collection of a server that is killed. Each has its own names.
type writers struct {
	t    *testing.T
	mu   sync.Mutex
	docs map[string]string   // lines by name, of acknowledged additions without acknowledged deletions
	open map[string][]string // names of each addition without a reply
	gone []string            // names of deletions without a reply
	sent atomic.Int64
}

// post sends a change. It reports false if the server has ended.
func post(url, body, kind string) bool {
	resp, err := http.Post(url, kind, strings.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// add adds three documents.
func (w *writers) add(admin string) bool {
	n := w.sent.Add(1)
	var names []string
	lines := map[string]string{}
	text := ""
	for i := range 3 {
		name := fmt.Sprintf("n%d-%d", n, i)
		names = append(names, name)
		lines[name] = fmt.Sprintf(`{"id":%q,"text":"all w%d","year":%d}`, name, n%7, n)
		text += lines[name] + "\n"
	}
	ok := post(admin+"/v1/admin/indexes/books/documents", text, "application/x-ndjson")
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ok {
		w.open[text] = names
		return false
	}
	for name, line := range lines {
		w.docs[name] = line
	}
	return true
}

// erase deletes an acknowledged document.
func (w *writers) erase(admin string) bool {
	w.mu.Lock()
	name := ""
	for name = range w.docs {
		break
	}
	delete(w.docs, name)
	w.mu.Unlock()
	ok := post(admin+"/v1/admin/indexes/books/documents/delete", fmt.Sprintf(`{"names":[%q]}`, name), "application/json")
	if !ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gone = append(w.gone, name)
	}
	return ok
}

// check compares the names of all documents with the acknowledged changes. Changes without a reply are
// there as a whole or not at all.
func (w *writers) check(names []string) {
	w.t.Helper()
	has := map[string]bool{}
	for _, n := range names {
		has[n] = true
	}
	for text, all := range w.open {
		found := 0
		for _, n := range all {
			if has[n] {
				found++
			}
		}
		if found != 0 && found != len(all) {
			w.t.Errorf("%d of the documents %v", found, all)
		}
		if found > 0 {
			for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
				w.docs[all[i]] = line
			}
		}
	}
	clear(w.open)
	for _, n := range w.gone {
		if has[n] {
			var i, j int
			_, _ = fmt.Sscanf(n, "n%d-%d", &i, &j)
			w.docs[n] = fmt.Sprintf(`{"id":%q,"text":"all w%d","year":%d}`, n, i%7, i)
		}
	}
	w.gone = nil
	for n := range w.docs {
		if !has[n] {
			w.t.Errorf("document %s was acknowledged, and is lost", n)
		}
		delete(has, n)
	}
	if len(has) > 0 {
		w.t.Errorf("documents %v were deleted, or never added", has)
	}
}

// names asks a server for all documents.
func (w *writers) names(s *serving) (names []string) {
	w.t.Helper()
	var got struct {
		Documents []struct{ Doc string }
	}
	text := s.ask("/v1/indexes/books/match", `{"query":"all"}`)
	if err := json.Unmarshal([]byte(text+"}"), &got); err != nil {
		w.t.Fatalf("%v: %s", err, text)
	}
	for _, d := range got.Documents {
		names = append(names, d.Doc)
	}
	return names
}

// TestServeKilled kills a server again and again while clients add, delete and merge documents by its
// routes. No acknowledged change is lost, none is there in part, and no other process can write
// meanwhile. In the end the merged collection is the fresh build of its documents, byte for byte.
func TestServeKilled(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	act(t, "", "collection", "create", "books", "--attribute", "year=int")
	w := &writers{t: t, docs: map[string]string{}, open: map[string][]string{}}
	r := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		s := serve(t, "--index", "books=books", "--admin", "127.0.0.1:0")
		w.check(w.names(s))
		var clients sync.WaitGroup
		var acknowledged atomic.Int64
		last := 3 + int64(r.IntN(20))
		for i := range 4 {
			clients.Go(func() {
				for n := 0; ; n++ {
					change := w.add
					switch {
					case i == 0 && n%3 == 1:
						change = func(admin string) bool { return post(admin+"/v1/admin/indexes/books/merge", "{}", "application/json") }
					case i == 1 && n%3 == 2:
						change = w.erase
					}
					if !change(s.admin) {
						return
					}
					if acknowledged.Add(1) == last {
						if err := s.cmd.Process.Kill(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		clients.Wait()
		_ = s.cmd.Wait()
	}
	s := serve(t, "--index", "books=books", "--admin", "127.0.0.1:0", "--drain-delay", "0s")
	w.check(w.names(s))
	if !w.add(s.admin) {
		t.Error("the last addition failed")
	}
	if got := heddle(t, "collection", "merge", "books"); got.code != exitFailure || !strings.Contains(got.stderr, collection.ErrLocked.Error()) {
		t.Errorf("a second writer: %+v", got)
	}
	s.end()
	act(t, "", "collection", "merge", "books")
	w.fresh()
}

// fresh compares the only segment of the collection with a build of its documents.
func (w *writers) fresh() {
	t := w.t
	m, err := collection.Read("books")
	if err != nil || len(m.Segments) != 1 {
		t.Fatal(m, err)
	}
	f, err := hdl.Open(filepath.Join("books", m.Segments[0].File))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var lines bytes.Buffer
	for _, name := range f.Names(0) {
		names = append(names, strings.Clone(name))
		lines.WriteString(w.docs[name] + "\n")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	w.check(names)
	act(t, lines.String(), "collection", "create", "one", "--attribute", "year=int")
	act(t, lines.String(), "collection", "add", "one", "--no-progress", "-")
	one, err := collection.Read("one")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "x.jsonl", lines.String())
	act(t, "", "index", "build", "-o", "x.hdl", "--format", "jsonl", "--no-progress", "x.jsonl")
	for merged, fresh := range map[string]string{m.Segments[0].File: "x.hdl", m.Segments[0].Attributes.File: filepath.Join("one", one.Segments[0].Attributes.File)} {
		a, err := os.ReadFile(filepath.Join("books", merged))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(fresh); err != nil || !slices.Equal(a, b) {
			t.Errorf("%s: %d bytes, the fresh build has %d, %v", merged, len(a), len(b), err)
		}
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
