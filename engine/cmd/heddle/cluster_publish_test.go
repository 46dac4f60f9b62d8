//go:build unix && !core

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// other writes the folder of another index with the name books, and returns it.
func (f *fleet) other(name string, docs int) string {
	f.Helper()
	var text strings.Builder
	for i := range docs {
		fmt.Fprintf(&text, "%s-%d\tred w%d\n", name, i, i%7)
	}
	writeFile(f.T, name+".tsv", text.String())
	must(f.T, "index", "build", "-o", name+".hdl", name+".tsv")
	must(f.T, "cluster", "split", "-o", name, "--shards", "2", name+".hdl")
	rename(f.T, name, "books")
	return name
}

// rename changes the name in the manifest of a split.
func rename(t *testing.T, dir, name string) {
	t.Helper()
	m, err := layout.ReadManifest(dir)
	if err == nil {
		m.Name = name
		err = m.Write(filepath.Join(dir, layout.ManifestName))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// countRed asks a server for the number of documents with a word of all documents.
func countRed(s *serving) string {
	s.Helper()
	return s.ask("/v1/indexes/books/match", `{"query":"red","count":true}`)
}

// TestReadYourPublish: when publish and remove have ended, all servers answer from the new map, and no query
// fails meanwhile. The answers of a server never go back.
func TestReadYourPublish(t *testing.T) {
	testneeds.Waits(t)
	testneeds.Host(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2")
	servers := []*serving{f.front, serve(t, f.flags("--drain-delay", "0s")...)}
	stop := f.readers(servers, []epochOf{{"d", 600}, {"more-", 700}})
	f.must("publish", f.other("more", 700))
	for _, s := range servers {
		if got := countRed(s); !strings.Contains(got, `"count":700`) {
			t.Errorf("after the publish: %s", got)
		}
	}
	stop()
	f.must("remove", "books")
	for _, s := range servers {
		if got := countRed(s); !strings.Contains(got, `"status":404`) {
			t.Errorf("after the removal: %s", got)
		}
	}
}

// TestLateServer: a publish names a server that stands still. The server follows when it goes on.
func TestLateServer(t *testing.T) {
	testneeds.Long(t)
	testneeds.Host(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, ""), "n1", "n2")
	second := serve(t, f.flags("--drain-delay", "0s")...)
	stop := f.readers([]*serving{f.front, second}, []epochOf{{"d", 600}, {"more-", 700}})
	dir, began, more := f.other("more", 700), make(chan struct{}, 100), make(chan struct{})
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-more
		http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
	}))
	defer source.Close()
	published := make(chan result, 1)
	go func() { published <- f.run("publish", dir, "--from", source.URL) }()
	<-began
	for f.state().Collections["books"].Intent == nil { // the command has asked the servers by then
	}
	second.signal(syscall.SIGSTOP)
	close(more)
	r := <-published
	second.signal(syscall.SIGCONT)
	wantFailure(t, r, exitFailure, "the change is in force", fmt.Sprintf("pid %d does not answer", second.cmd.Process.Pid))
	if got := countRed(f.front); !strings.Contains(got, `"count":700`) {
		t.Errorf("after the publish: %s", got)
	}
	for !strings.Contains(countRed(second), `"count":700`) { // up to the time-out of the test
	}
	f.must("publish", dir, "--from", source.URL)
	stop()
}

// epochOf is a content of the index: the start of its names and its number of documents.
type epochOf struct {
	prefix string
	docs   int
}

// gives reports whether the names of an answer with 30 documents all belong to a content.
func (e epochOf) gives(answer string) bool {
	all := nameOf.FindAllStringSubmatch(answer, -1)
	return len(all) == 30 && !slices.ContainsFunc(all, func(m []string) bool { return m[1] != e.prefix })
}

var nameOf = regexp.MustCompile(`"doc":"(d|[a-z0-9]+-)\d+"`)

// readers ask each server until stop. No query fails, each answer comes from one content as a whole, and the
// contents of a server follow each other.
func (f *fleet) readers(servers []*serving, contents []epochOf) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	for _, s := range servers {
		go func() {
			defer func() { done <- struct{}{} }()
			for at := 0; ; {
				select {
				case <-ended:
					return
				default:
				}
				time.Sleep(5 * time.Millisecond)
				resp, err := http.Post(s.url+"/v1/indexes/books/search", "application/json", strings.NewReader(`{"query":"red w3 nowhere","k":30}`))
				var text []byte
				if err == nil {
					text, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				for at < len(contents) && !contents[at].gives(string(text)) {
					at++
				}
				if at == len(contents) {
					f.Errorf("%s: %s, %v", s.url, text, err)
					return
				}
			}
		}()
	}
	return func() {
		close(ended)
		for range servers {
			<-done
		}
	}
}

// TestControlQuorum: two of three NATS servers die, which leaves no majority for the map, and later all three at
// once. Queries go on, a change waits or says why it cannot, and the map is complete when the servers return.
func TestControlQuorum(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	f := newFleet(t, newControls(t, 3, ""), "n1", "n2")
	stop := f.readers([]*serving{f.front}, []epochOf{{"d", 600}, {"more-", 700}})
	before := f.state()
	for _, c := range f.controls[1:] {
		c.kill()
	}
	dir := f.other("more", 700)
	wantFailure(t, f.run("publish", dir, "--timeout", "3s"), exitFailure, "control nodes")
	if got := countRed(f.front); !strings.Contains(got, `"count":600`) {
		t.Errorf("without a majority: %s", got)
	}
	for _, c := range f.controls[1:] {
		c.start()
	}
	published := f.run("publish", dir)
	for published.code != 0 && t.Context().Err() == nil { // an election is under way
		published = f.run("publish", dir)
	}
	if got := countRed(f.front); !strings.Contains(got, `"count":700`) {
		t.Errorf("after the publish: %s", got)
	}
	want := f.state()
	for want == nil && t.Context().Err() == nil { // a control node may still start
		want = f.state()
	}
	for _, c := range f.controls {
		c.kill()
	}
	if got := countRed(f.front); !strings.Contains(got, `"count":700`) {
		t.Errorf("without NATS: %s", got)
	}
	for _, c := range f.controls {
		c.start()
	}
	after := f.state()
	for (after == nil || len(after.Alive) != 2) && t.Context().Err() == nil {
		after = f.state()
	}
	stop()
	if want == nil || after == nil {
		t.Fatal("no state")
	}
	if after.Cluster != before.Cluster || !reflect.DeepEqual(after.Collections["books"].Current, want.Collections["books"].Current) {
		t.Errorf("the state is %+v, want %+v", after.Collections["books"], want.Collections["books"])
	}
}
