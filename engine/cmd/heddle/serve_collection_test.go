//go:build !core

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestServeCollection: a server shows documents that are added to, replaced in and deleted from a
// collection, without a signal, also after a merge. Each loop goes on up to the time-out of the test.
func TestServeCollection(t *testing.T) {
	inTempDir(t)
	act(t, "", "collection", "create", "books")
	act(t, "a\theaven and earth\n", "collection", "add", "books", "--format", "text", "-")
	for _, flags := range [][]string{{"--index", "books=books"}, {"--dev", "."}} {
		s := serve(t, append(flags, "--admin", "127.0.0.1:0", "--root", ".", "--drain-delay", "0s", "--log-level", "info")...)
		if got := s.count("heaven"); got != `{"count":1,"documents":[]` {
			t.Errorf("%v: count: %s", flags, got)
		}
		act(t, "b\theaven\nc\theaven\n", "collection", "add", "books", "--format", "text", "-")
		for s.count("heaven") != `{"count":3,"documents":[]` {
		}
		if got := s.ask("/v1/indexes/books/search", `{"query":"earth"}`); !strings.Contains(got, `"a"`) {
			t.Errorf("%v: search: %s", flags, got)
		}
		act(t, "b\nc\n", "collection", "delete", "books", "--names", "-")
		for s.count("heaven") != `{"count":1,"documents":[]` {
		}
		act(t, "a\tearth\nd\tearth\n", "collection", "add", "books", "--format", "text", "-")
		act(t, "", "collection", "merge", "books")
		for s.count("heaven") != `{"count":0,"documents":[]` || s.count("earth") != `{"count":2,"documents":[]` {
		}
		for path, want := range map[string]string{
			`/details`: `"state":`,
			`/search {"query":"earth","facets":{"columns":["year"]}}`: "the documents have no attributes",
			`/search {"query":"earth","filter":{"where":"year = 1"}}`: "the documents have no attributes",
		} {
			path, body, post := strings.Cut(path, " ")
			if got := s.do(map[bool]string{false: "GET", true: "POST"}[post], "/v1/indexes/books"+path, body); !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, want %q", path, body, got, want)
			}
		}
		s.url = s.admin
		if got := s.ask("/v1/admin/indexes/books/load", `{"path":"other.hdl"}`); !strings.Contains(got, "the name books belongs to a collection") {
			t.Errorf("load under the name of a collection: %s", got)
		}
		if log := s.end(); !strings.Contains(log, "in service") || strings.Contains(log, "stays in service") {
			t.Errorf("%v: messages %s", flags, log)
		}
		act(t, "d\n", "collection", "delete", "books", "--names", "-")
		act(t, "a\theaven and earth\n", "collection", "add", "books", "--format", "text", "-")
	}
}

// TestServeDocuments changes a collection by the routes of administration.
func TestServeDocuments(t *testing.T) {
	inTempDir(t)
	act(t, "", "collection", "create", "books", "--attribute", "year=int")
	s := serve(t, "--index", "books=books", "--admin", "127.0.0.1:0", "--drain-delay", "0s")
	query := s.url
	change := func(path, body, want string) {
		t.Helper()
		s.url = s.admin
		if got := s.do("POST", "/v1/admin/indexes/books/"+path, body); !strings.Contains(got, want) {
			t.Errorf("%s %s: %s, want %s", path, body, got, want)
		}
		s.url = query
	}
	lines := "{\"id\":\"a\",\"text\":\"heaven\",\"year\":1900}\n{\"id\":\"b\",\"text\":\"heaven\",\"year\":2000}\n"
	change("documents", `{"lines":"`+base64.StdEncoding.EncodeToString([]byte(lines))+`"}`, `"added":2,"deleted":0,"missing":0,"documents":2`)
	reply, err := http.Post(s.url+"/v1/indexes/books/search", "application/json", strings.NewReader(`{"query":"heaven","filter":{"where":"year > 1950"},"facets":{"columns":["year"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reply.Body); err != nil || !strings.Contains(string(got), `[{"doc":"b"`) || !strings.Contains(string(got), `"matches":1`) {
		t.Error(string(got), err)
	}
	reply.Body.Close()
	reply, err = http.Post(s.admin+"/v1/admin/indexes/books/documents", "application/x-ndjson", strings.NewReader(`{"id":"c","text":"heaven"}`))
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatal(reply, err)
	}
	reply.Body.Close()
	change("documents/delete", `{"names":["a","nobody"]}`, `"deleted":1,"missing":1,"documents":2`)
	change("merge", `{}`, `"documents":2`)
	if got := s.count("heaven"); got != `{"count":2,"documents":[]` {
		t.Error(got)
	}
	change("documents", `{"lines":"eHg="}`, `-:1: `)
	s.url = s.admin
	if got := s.do("POST", "/v1/admin/indexes/none/documents", `{}`); !strings.Contains(got, "not_found") {
		t.Error(got)
	}
	s.url = query
	s.end()
	act(t, "", "collection", "merge", "books") // the lock is free
}

// TestServeCollectionRoutes: administration makes, backs up and removes collections below its folder alone, and an
// upload ends after too many wrong lines.
func TestServeCollectionRoutes(t *testing.T) {
	inTempDir(t)
	act(t, "", "collection", "create", "outside")
	for _, dir := range []string{"root", "root/taken"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	testneeds.Link(t, "../outside", "root/link")
	s := serve(t, "--index", "outside=outside", "--index", "linked=root/link", "--admin", "127.0.0.1:0", "--root", "root", "--drain-delay", "0s")
	query := s.url
	s.url = s.admin
	check := func(path, body, want string) {
		t.Helper()
		if got := s.do("POST", "/v1/admin/indexes/"+path, body); !strings.Contains(got, want) {
			t.Errorf("%s %.80s: %s, want %s", path, body, got, want)
		}
	}
	check("outside/drop", "{}", "not below the folder of administration")
	check("linked/drop", "{}", "not below the folder of administration")
	check("outside/create", "{}", "in service already")
	check("taken/create", "{}", "folder taken exists")
	check("link/create", "{}", "not a folder")
	check("%2e%2e/create", "{}", "want letters")
	check("none/drop", "{}", `no collection is named \"none\"`)
	check("books/create", `{"stem":"klingon"}`, "klingon")
	check("books/create", `{"attributes":[{"name":"year","type":"x"}]}`, "invalid_option")
	check("books/create", `{"store":"text"}`, `"documents":0`)
	for _, path := range []string{"../x", "/tmp/x", ".", "", "link", "link/x", "none/x", "books", "books/x", `a\u0000b`} {
		check("books/backup", `{"path":"`+path+`"}`, `"status":40`)
	}
	check("books/backup", `{"path":"taken"}`, `"epoch":1`)
	check("books/documents/update", `{"lines":"e30="}`, "unsupported")
	check("books/documents/delete", `{"names":["a"],"where":"x"}`, "exclude each other")
	check("books/upload", strings.Repeat("x\n", 101), `"stopped":"upload: too many wrong lines`)
	check("books/upload", "\n"+`{"id":"a","text":"heaven"}`+"\r\nwrong\n"+`{"text":"no name"}`+"\n"+`{"id":"b","text":"heaven"}`, `"lines":5,"added":2,"documents":2,`)
	check("books/upload", "wrong", `{"lines":1,"added":0,"errors":[`)
	var packed bytes.Buffer
	pack := gzip.NewWriter(&packed)
	pack.Write([]byte(`{"id":"b","text":"heaven"}`))
	pack.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.admin+"/v1/admin/indexes/books/upload", &packed)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Encoding", "gzip")
	if resp, err := http.DefaultClient.Do(req); err != nil {
		t.Error(err)
	} else if text, err := io.ReadAll(resp.Body); err != nil || resp.Body.Close() != nil || !strings.HasPrefix(string(text), `{"lines":1,"added":1,"documents":2,`) {
		t.Errorf("a compressed upload: %s, %v", text, err)
	}
	s.url = query
	if got := s.do("POST", "/v1/indexes/books/match", `{"query":"heaven","count":true}`); !strings.Contains(got, `"count":2`) {
		t.Error(got)
	}
	s.url = s.admin
	if got := s.do("GET", "/metrics", ""); !strings.Contains(got, `heddle_server_queries_total{name="books"} 1`) || !strings.Contains(got, `heddle_build_info{revision="`) || strings.Contains(got, `name="none"`) {
		t.Errorf("metrics: %s", got)
	}
	check("books/drop", "{}", "{}")
	if _, err := os.Stat("root/books"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	s.end()
}
