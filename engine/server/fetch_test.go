package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/collection/attributes"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// books are documents with attributes.
const books = `{"id":"a/1","title":"Loom & weft","body":"the red loom of <b>iron</b>","year":1999,"by":[{"name":"x"},{"name":"y"}]}
{"id":"b","title":"Blue","body":"a blue loom","year":2004}
{"id":"c","title":"Thread","body":"a red thread"}
`

// serveBooks serves an index of books that stores a part of documents, with its attribute table.
func serveBooks(t *testing.T, store string) *running {
	t.Helper()
	return serveBooksBeside(t, store, books)
}

// serveBooksBeside serves an index of books, and the attributes of lines as a table of the same name.
func serveBooksBeside(t *testing.T, store, lines string) *running {
	t.Helper()
	r := &running{TB: t, dir: t.TempDir(), client: http.DefaultClient}
	if err := os.WriteFile(r.path("books.jsonl"), []byte(books), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("lines.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := build.DefaultOptions()
	opt.Store = store
	if _, err := build.Build(t.Context(), r.path("books.hdl"), []string{r.path("books.jsonl")}, opt); err != nil {
		t.Fatal(err)
	}
	if _, err := attributes.Build(t.Context(), r.path("books.hdb"), []string{r.path("lines.jsonl")}, attributes.Options{Declared: []attributes.Column{{Name: "year", Type: "int"}}}); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Server, err = New(e, Options{Indexes: map[string]string{"books": r.path("books.hdl")}, Tables: map[string]string{"books": r.path("books.hdb")}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(r.Handler())
	r.url = web.URL
	t.Cleanup(func() {
		web.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestFetch returns the parts of documents that a search, a line of a batch and a name ask for.
func TestFetch(t *testing.T) {
	r := serveBooks(t, hdl.StoreSource)
	const first, second = `"fields":{"title":"Loom & weft","by.name":["x","y"]},`, `"fields":{"title":"Blue"},`
	ask := `"fields":["title","by.name"],"snippet":{"size":50,"mark":["[","]"]},"attributes":["year"]`
	for _, test := range []struct{ method, path, body, want string }{
		{"POST", "/v1/indexes/books/search", `{"query":"loom",` + ask + `}`, first + `"snippet":"[Loom] &amp; weft\nthe red [loom] of &lt;b&gt;iron&lt;/b&gt;","attributes":{"year":1999}}`},
		{"POST", "/v1/indexes/books/search", `{"query":"loom",` + ask + `}`, second + `"snippet":"Blue\na blue [loom]","attributes":{"year":2004}}`},
		{"POST", "/v1/indexes/books/search", `{"query":"thread","source":true,"attributes":["*"]}`, `"source":{"id":"c","title":"Thread","body":"a red thread"},"attributes":{"year":null}}`},
		{"POST", "/v1/indexes/books/search/batch", `{"query":"blue",` + ask + `}`, second + `"attributes":{"year":2004},"snippet":"[Blue]\na [blue] loom"}`},
		{"GET", "/v1/indexes/books/documents/a%2F1", "", `{"name":"a/1","id":0,"source":{"id":"a/1","title":"Loom & weft"`},
		{"GET", "/v1/indexes/books/documents/a%2F1", "", `"attributes":{"year":1999}}`},
		{"GET", "/v1/indexes/books/documents?limit=2", "", `{"documents":[{"doc":"a/1","id":0},{"doc":"b","id":1}],"next":2}`},
		{"GET", "/v1/indexes/books/documents?from=2", "", `{"documents":[{"doc":"c","id":2}]}`},
	} {
		if got := r.do(test.method, test.path, test.body); got.status != 200 || !strings.Contains(got.body, test.want) {
			t.Errorf("%s %s: %d %s\nwant %s", test.path, test.body, got.status, got.body, test.want)
		}
	}
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v1/indexes/books/documents/d", "", 404, `index \"books\" has no document named \"d\"`},
		{"GET", "/v1/indexes/books/documents?x=1", "", 400, "unknown parameter"},
		{"GET", "/v1/indexes/books/documents?from=-1", "", 400, "from: want a whole number"},
		{"POST", "/v1/indexes/books/search", `{"query":"loom","snippet":{"escape":"xml"}}`, 400, "snippet.escape: want html or none"},
		{"POST", "/v1/indexes/books/search", `{"query":"loom","snippet":{"mark":["x"]}}`, 400, "snippet.mark: want two texts"},
		{"POST", "/v1/indexes/books/search", `{"query":"loom","snippet":{"size":1000000}}`, 400, "snippet.size is 1000000, want 1 to 100000"},
		{"POST", "/v1/indexes/books/search", `{"query":"loom","fields":[""]}`, 400, "fields[0] names no member"},
		{"POST", "/v1/indexes/books/search", `{"query":"loom","fields":["title","year","title"]}`, 400, `fields[2]: \"title\" comes twice`},
		{"POST", "/v1/indexes/books/search", `{"query":"loom","attributes":["lang"]}`, 400, "lang"},
		{"GET", "/v1/indexes/books/documents/%FF", "", 400, "which is not UTF-8"},
	} {
		if got := r.do(test.method, test.path, test.body); got.status != test.status || !strings.Contains(got.body, test.want) {
			t.Errorf("%s %s: %d %s\nwant %d %s", test.path, test.body, got.status, got.body, test.status, test.want)
		}
	}
}

// TestFetchBatch: a query for a column that the index lacks has an error, and the other queries of the batch have
// answers.
func TestFetchBatch(t *testing.T) {
	r := serveBooks(t, hdl.StoreSource)
	got := r.do("POST", "/v1/indexes/books/search/batch", `{"query":"blue"}`+"\n"+`{"id":2,"query":"blue","attributes":["lang"]}`+"\n"+`{"id":3,"query":"blue","fields":["title"]}`)
	lines := strings.Split(got.body, "\n")
	if got.status != 200 || len(lines) != 4 || !strings.HasPrefix(lines[0], `{"hits":[{"doc":"b"`) || !strings.HasPrefix(lines[1], `{"id":2,"error":{"code":"invalid_query"`) || !strings.HasPrefix(lines[2], `{"id":3,"hits":[{"doc":"b"`) {
		t.Errorf("%+v", got)
	}
	got = r.do("POST", api.IndexServiceSearchBatchProcedure, `{"index":"books","queries":["blue","none"],"k":1,"attributes":["lang"]}`, "Content-Type: application/json")
	if got.status != 200 || !strings.Contains(got.body, `"errors":[{"error":{"code":"invalid_query"`) {
		t.Errorf("%+v", got)
	}
}

// TestFetchTexts: an index of texts has sources and snippets, but no members.
func TestFetchTexts(t *testing.T) {
	r := serveBooks(t, hdl.StoreText)
	if got := r.do("POST", "/v1/indexes/books/search", `{"query":"blue","source":true,"snippet":{"escape":"none"}}`); !strings.Contains(got.body, `"source":"Blue\na blue loom","snippet":"<b>Blue</b>\na <b>blue</b> loom"`) {
		t.Errorf("%+v", got)
	}
	if got := r.do("POST", "/v1/indexes/books/search", `{"query":"blue","fields":["title"]}`); got.status != 400 || !strings.Contains(got.body, "stores texts, which have no members") {
		t.Errorf("%+v", got)
	}
	r = serveBooksBeside(t, hdl.StoreNone, "{\"year\":1}\n") // a table of other rows
	if got := r.do("GET", "/v1/indexes/books/documents/b", ""); got.body != `{"name":"b","id":1}`+"\n" {
		t.Errorf("%+v", got)
	}
	r = serveBooks(t, hdl.StoreNone)
	if got := r.do("POST", "/v1/indexes/books/search", `{"query":"blue","source":true}`); got.status != 400 || !strings.Contains(got.body, "source: the index stores no documents: build the index, or create the collection, with --store text") {
		t.Errorf("%+v", got)
	}
	if got := r.do("GET", "/v1/indexes/books/documents/b", ""); got.body != `{"name":"b","id":1,"attributes":{"year":2004}}`+"\n" {
		t.Errorf("%+v", got)
	}
}
