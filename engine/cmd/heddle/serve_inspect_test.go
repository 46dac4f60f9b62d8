//go:build !core

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"heddle/engine/api"
)

// TestServeInspectCollection: the inspection of a collection with several segments and deleted documents has the hits,
// texts, lists, weights and terms of an index file of its documents.
func TestServeInspectCollection(t *testing.T) {
	inTempDir(t)
	act(t, "", "collection", "create", "books", "--store", "source", "--attribute", "year=int")
	add := func(lines string) { act(t, lines, "collection", "add", "books", "--no-merge", "-") }
	add(`{"id":"a","text":"The <red> loom","year":1785}` + "\n" + `{"id":"x","text":"loom gone","year":1}` + "\n")
	add(`{"id":"b","text":"a blue loom & warp","year":1804}` + "\n")
	add(`{"id":"c","text":"red thread","year":1820}` + "\n")
	act(t, "x\n", "collection", "delete", "books", "--names", "-")
	writeFile(t, "docs.jsonl", act(t, "", "collection", "export", "books"))
	must(t, "index", "build", "-o", "file.hdl", "--store", "source", "--attributes", "file.hdb", "docs.jsonl")
	s := serve(t, "--index", "books=books", "--index", "file=file.hdl", "--table", "file=file.hdb", "--drain-delay", "0s")
	both := func(path, body string, to func() any) (books, file any) {
		t.Helper()
		books, file = to(), to()
		for name, out := range map[string]any{"books": books, "file": file} {
			method := "POST"
			if body == "" {
				method = "GET"
			}
			request, err := http.NewRequestWithContext(t.Context(), method, s.url+"/v1/indexes/"+name+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			reply, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			err = json.NewDecoder(reply.Body).Decode(out)
			if _ = reply.Body.Close(); err != nil || reply.StatusCode != http.StatusOK {
				t.Fatalf("%s %s %s: %s, %v", name, path, body, reply.Status, err)
			}
		}
		return books, file
	}
	for _, body := range []string{`{"query":"red loom","k":2}`, `{"query":"+loom -warp","limit":5}`, `{"query":"loom th* nowhere","k":9,"filter":{"where":"year < 1810"},"facets":{"columns":["year"]}}`,
		`{"query":"gone","k":1}`, `{"query":"loom","mode":"and","limit":1}`} {
		x, y := both("/inspect", body, func() any { return new(api.InspectSearchResponse) })
		books, file := x.(*api.InspectSearchResponse), y.(*api.InspectSearchResponse)
		if !strings.Contains(books.Explanation, "shard") || books.Way.GetTookMs() <= 0 {
			t.Errorf("%s: explanation %q, way %v", body, books.Explanation, books.Way)
		}
		for _, h := range books.Hits { // deleted documents have numbers
			h.Id = 0
		}
		for _, h := range file.Hits {
			h.Id = 0
		}
		for i, l := range file.Lists {
			if i < len(books.Lists) {
				books.Lists[i].Bytes, books.Lists[i].Codec, books.Lists[i].Method = l.Bytes, l.Codec, l.Method
			}
		}
		if !reflect.DeepEqual(books.Hits, file.Hits) || books.Count != file.Count || !reflect.DeepEqual(books.Lists, file.Lists) || !reflect.DeepEqual(books.Unknown, file.Unknown) ||
			books.Expression == "" || !reflect.DeepEqual(books.Facets, file.Facets) {
			t.Errorf("%s:\n%v, want\n%v", body, books, file)
		}
	}
	x, y := both("/terms", `{"prefix":"","limit":4,"after":"a"}`, func() any { return new(api.ListTermsResponse) })
	books, file := x.(*api.ListTermsResponse), y.(*api.ListTermsResponse)
	terms := func(r *api.ListTermsResponse) (all []string) {
		for _, l := range r.Terms {
			all = append(all, l.Term)
		}
		return all
	}
	if got := strings.Join(terms(books), " "); got != "blue loom red" || !books.More || strings.Join(terms(file), " ") != "blue loom red the" { // "gone" is in no document
		t.Errorf("terms %s, of the file %v", got, terms(file))
	}
	x, y = both("/term", `{"term":"loom"}`, func() any { return new(api.TermDetails) })
	if a, b := x.(*api.TermDetails), y.(*api.TermDetails); a.Documents != 2 || b.Documents != 2 || len(a.Costs) != len(b.Costs) || a.Codec == "" {
		t.Errorf("term %v, want %v", a, b)
	}
	x, y = both("/details", "", func() any { return new(api.IndexDetails) })
	if a, b := x.(*api.IndexDetails), y.(*api.IndexDetails); a.Documents != 3 || a.Segments != 3 || a.State != 5 || a.MeanLength != b.MeanLength || a.File != "books" || !a.Texts || b.Segments != 0 {
		t.Errorf("details %v, want %v", a, b)
	}
	if got := s.do("POST", "/v1/indexes/books/term", `{"term":"gone"}`); !strings.Contains(got, "no term") {
		t.Error(got)
	}
	if got := s.do("POST", "/v1/indexes/books/inspect", `{"query":"loom","processor":"x"}`); !strings.Contains(got, "for an index file") {
		t.Error(got)
	}
	if err := os.RemoveAll("empty"); err != nil {
		t.Fatal(err)
	}
	act(t, "", "collection", "create", "empty")
	s.end()
	s = serve(t, "--index", "empty=empty", "--drain-delay", "0s")
	for path, want := range map[string]string{"/details": `"segments":`, "/inspect {\"query\":\"loom\",\"k\":1}": `"unknown":["loom"]`, "/terms {}": "{", "/parse {\"query\":\"loom\"}": `"unknown":["loom"]`} {
		path, body, post := strings.Cut(path, " ")
		if got := s.do(map[bool]string{false: "GET", true: "POST"}[post], "/v1/indexes/empty"+path, body); !strings.Contains(got, want) || strings.Contains(got, "code") && path != "/details" {
			t.Errorf("empty%s: %s", path, got)
		}
	}
}
