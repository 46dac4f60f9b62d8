package server

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/klauspost/compress/zstd"

	"heddle/engine/api"
	"heddle/engine/server/bodies"
	"heddle/engine/server/rows"
	"heddle/engine/table/values/arrow"
)

// TestRoutes checks the replies of all plain routes, and that they agree with the description.
func TestRoutes(t *testing.T) {
	r := run(t, Options{})
	spec := describeRoutes(t)
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/indexes/looms/search", `{"query":"red loom","k":2}`, `^\{"hits":\[\{"doc":"a","id":0,"score":0\.\d+\},\{"doc":"[bc]","id":[12],"score":0\.\d+\}\],"took_ms":[0-9.e-]+,"queued_ms":[0-9.e-]+\}\n$`},
		{"POST", "/v1/indexes/looms/search", `{"query":"red loom","mode":"and","explain":true}`, `^\{"hits":\[\{"doc":"a","id":0,"score":0\.\d+\}\],"took_ms":[0-9.e-]+,"queued_ms":[0-9.e-]+,"explanation":".+"\}\n$`},
		{"POST", "/v1/indexes/looms/search", `{"terms":["red","loom"],"weights":[2,0.5],"k":1,"scoring":{"variant":"atire","k1":0}}`, `^\{"hits":\[\{"doc":"a"`},
		{"POST", "/v1/indexes/looms/search", `{"query":"C++","literal":true,"timeout_ms":60000}`, `^\{"hits":\[\],"took_ms":`},
		{"POST", "/v1/indexes/looms/match", `{"query":"loom AND (red OR blue)"}`, `^\{"count":2,"documents":\[\{"doc":"a","id":0\},\{"doc":"b","id":1\}\],`},
		{"POST", "/v1/indexes/looms/match", `{"query":"loom","limit":1}`, `^\{"count":2,"documents":\[\{"doc":"a","id":0\}\],`},
		{"POST", "/v1/indexes/looms/match", `{"query":"loom","count":true}`, `^\{"count":2,"documents":\[\],`},
		{"POST", "/v1/indexes/looms/statistics", `{"terms":["loom","absent"]}`, `^\{"docs":3,"length":9,"terms":\["loom","absent"\],"df":\[2,0\],"fields":\[\]\}\n$`},
		{"POST", "/v1/tables/loans/count", `{"where":"days > 30"}`, `^\{"count":2,"took_ms":`},
		{"POST", "/v1/tables/loans/count", `{"where":"days > 30","explain":true}`, `^\{"count":2,.*"explanation":".+"\}\n$`},
		{"POST", "/v1/tables/loans/select", `{"where":"days > 30"}`, `^\{"count":2,"rows":\[0,2\],"took_ms":[0-9.e-]+\}\n$`},
		{"POST", "/v1/tables/loans/select", `{"where":"days > 30","limit":1}`, `^\{"count":2,"rows":\[0\],`},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"book, sum(days) AS total, avg(days)","group_by":"book"}`, `^\{"columns":\[\{"name":"book","type":"string","values":\["a","b"\],"missing":\[\]\},\{"name":"total","type":"decimal128","values":\["91","7"\],"missing":\[\]\},\{"name":"avg\(days\)","type":"float","values":\["45.5","7"\],"missing":\[\]\}\],"took_ms":[0-9.e-]+\}\n$`},
		{"POST", "/v1/tables/loans/select", `{"where":"days > 30","limit":0}`, `^\{"count":2,"rows":\[\],`},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"book, count(*)","group_by":"book","limit":0}`, `^\{"columns":\[\{"name":"book","type":"string","values":\[\],"missing":\[\]\},\{"name":"count\(\*\)","type":"uint","values":\[\],`},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"*","where":"book = 'a'","order_by":"days DESC","limit":1,"offset":1,"explain":true}`, `^\{"columns":\[\{"name":"days","type":"int","values":\["31"\],"missing":\[\]\},.*"explanation":".+values in pure Go.+"\}\n$`},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"max(days)","where":"FALSE"}`, `^\{"columns":\[\{"name":"max\(days\)","type":"int","values":\[""\],"missing":\[0\]\}\],`},
		{"GET", "/v1/indexes", ``, `^\{"indexes":\[\{"name":"looms","ready":true,"docs":3,"lists":6,"checksum":"[0-9a-f]{16}","resident":\[\{"processor":".+"\}\],"fields":\[\]\}\]\}\n$`},
		{"GET", "/v1/indexes/looms", ``, `^\{"name":"looms","ready":true,`},
		{"GET", "/v1/tables", ``, `^\{"tables":\[\{"name":"loans","ready":true,"rows":3,"columns":\[\{"name":"days","type":"int","bins":3,"missing":0\},\{"name":"book","type":"string"`},
		{"GET", "/v1/tables/loans", ``, `^\{"name":"loans",`},
		{"GET", "/v1/devices", ``, `^\{"devices":\[\{"name":".+","kind":"host",`},
		{"GET", "/livez", ``, `^ok\n$`},
		{"GET", "/readyz", ``, `^ok\n$`},
		{"GET", "/v1/indexes/looms/ready", ``, `^ok\n$`},
		{"GET", "/openapi.json", ``, `"openapi": "3.0.3"`},
	} {
		got := r.do(c.method, c.path, c.body, "Content-Type: application/json")
		if got.status != http.StatusOK || !regexp.MustCompile(c.want).MatchString(got.body) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, got.status, got.body)
		}
		if got.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", c.path)
		}
		if strings.HasPrefix(c.path, "/v1/") && !strings.HasSuffix(c.path, "/ready") {
			spec(c.method, c.path, c.body, got)
		}
	}
}

// describeRoutes validates the description, and returns a function that compares an exchange
// with it.
func describeRoutes(t *testing.T) func(method, path, body string, got reply) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path, body string, got reply) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		route, variables, err := router.FindRoute(req)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		in := &openapi3filter.RequestValidationInput{Request: req, PathParams: variables, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
		if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
			t.Errorf("request of %s: %v", path, err)
		}
		out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: got.status, Header: got.header}
		if err := openapi3filter.ValidateResponse(t.Context(), out.SetBodyBytes([]byte(got.body))); err != nil {
			t.Errorf("reply of %s: %v", path, err)
		}
	}
}

// TestRowForms selects rows in each form.
func TestRowForms(t *testing.T) {
	r := run(t, Options{})
	ask := func(accept string) reply {
		return r.do("POST", "/v1/tables/loans/select", `{"where":"book = 'a'"}`, "Accept: "+accept)
	}
	for accept, want := range map[string]string{"": bodies.JSON, "*/*": bodies.JSON, "text/html, application/x-ndjson;q=0.5": bodies.Lines, "application/octet-stream": rows.RawType, "application/x-roaring": rows.RoaringType, arrow.Type: arrow.Type} {
		if got := ask(accept); got.status != http.StatusOK || got.header.Get("Content-Type") != want {
			t.Errorf("Accept %q: %d %s", accept, got.status, got.header.Get("Content-Type"))
		}
	}
	if got := ask(bodies.Lines).body; got != "0\n2\n" {
		t.Errorf("lines %q", got)
	}
	if got := ask(rows.RawType).body; got != string(binary.LittleEndian.AppendUint32(make([]byte, 4), 2)) {
		t.Errorf("raw %q", got)
	}
	if got := ask(arrow.Type).body; !strings.HasPrefix(got, "\xff\xff\xff\xff") || !strings.Contains(got, "row\x00") || !strings.HasSuffix(got, "\x00\x00\x00\x00\x02\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00") {
		t.Errorf("Arrow stream %q", got)
	}
	for body, want := range map[string]string{
		`{"where":"book = 'a'"}`: "0\t0\n2\t2\n", `{"where":"book = 'a'","limit":1}`: "0\t0\n", `{"where":"NOT book IS NULL","limit":2}`: "0\t1\n", `{"where":"book = 'nonesuch'"}`: "",
	} {
		if got := r.do("POST", "/v1/tables/loans/select", body, "Accept: "+rows.RangesType); got.body != want || got.status != http.StatusOK {
			t.Errorf("ranges of %s: %d %q, want %q", body, got.status, got.body, want)
		}
	}
	set := roaring.New()
	if _, err := set.ReadFrom(bytes.NewReader([]byte(ask(rows.RoaringType).body))); err != nil || fmt.Sprint(set.ToArray()) != "[0 2]" {
		t.Errorf("Roaring bitmap of %v, %v", set.ToArray(), err)
	}
	if got, p := r.problem("POST", "/v1/tables/loans/select", `{"where":"book = 'a'"}`, "Accept: text/html"); got.status != http.StatusNotAcceptable || !strings.Contains(p.Detail, rows.RoaringType) {
		t.Errorf("Accept text/html: %d %s", got.status, p.Detail)
	}
}

// TestValueForms aggregates rows in each form.
func TestValueForms(t *testing.T) {
	r := run(t, Options{})
	for accept, want := range map[string]string{
		bodies.Lines:        `{"book":"a","count(*)":2}` + "\n" + `{"book":"b","count(*)":1}` + "\n",
		"text/csv":          "book,count(*)\na,2\nb,1\n",
		"text/html, text/*": "book,count(*)\na,2\nb,1\n",
	} {
		if got := r.do("POST", "/v1/tables/loans/aggregate", `{"select":"book, count(*)","group_by":"book"}`, "Accept: "+accept); got.status != http.StatusOK || got.body != want {
			t.Errorf("Accept %q: %d %q", accept, got.status, got.body)
		}
	}
	for accept, first := range map[string]string{arrow.Type: "\xff\xff\xff\xff", "application/vnd.apache.parquet": "PAR1"} {
		got := r.do("POST", "/v1/tables/loans/aggregate", `{"select":"book"}`, "Accept: "+accept)
		if got.status != http.StatusOK || got.header.Get("Content-Type") != accept || !strings.HasPrefix(got.body, first) {
			t.Errorf("Accept %s: %d %s %.20q", accept, got.status, got.header.Get("Content-Type"), got.body)
		}
	}
	if got, p := r.problem("POST", "/v1/tables/loans/aggregate", `{"select":"*"}`, "Accept: "+rows.RawType); got.status != http.StatusNotAcceptable || !strings.Contains(p.Detail, "text/csv") {
		t.Errorf("Accept %s: %d %s", rows.RawType, got.status, p.Detail)
	}
}

// TestLines sends a batch of lines, some of them invalid.
func TestLines(t *testing.T) {
	r := run(t, Options{})
	body := `{"id":"one","query":"red loom","k":1}
{"id":2,"query":"loom","count":true}

{"query":"loom","match":true}
{"id":4,"query":"title:loom"}
{"id":5,"quary":"loom"}
{"id":[6],"query":"loom"}
{"id":7,"query":"red","k":1,"mode":"and"}
{"id":8,"query":"loom red","k":1,"total":true}
{"id":9,"query":"loom red","k":1,"total":2}
{"query":"loom red","k":0}
{"query":"loom","count":true,"total":true}`
	got := r.do("POST", "/v1/indexes/looms/search/batch?timeout_ms=60000", body)
	want := []string{
		`^{"id":"one","hits":\[{"doc":"a","id":0,"score":0\.\d+}\]}$`,
		`^{"id":2,"count":2}$`,
		`^{"count":2,"hits":\[{"doc":"a","id":0},{"doc":"b","id":1}\]}$`,
		`^{"id":4,"error":{"code":"invalid_query","message":".*","offset":\d+}}$`,
		`^{"error":{"code":"invalid_option","message":"read request: line 6: body: unknown member \\"quary\\"","op":"read request"}}$`,
		`^{"error":{"code":"invalid_option","message":"read request: line 7: id: want a string or a number",.*}}$`,
		`^{"id":7,"hits":\[{"doc":"[ac]","id":\d,"score":0\.\d+}\]}$`,
		`^{"id":8,"hits":\[{"doc":"a","id":0,"score":0\.\d+}\],"total":{"value":3,"exact":true}}$`,
		`^{"id":9,"hits":\[{"doc":"a","id":0,"score":0\.\d+}\],"total":{"value":2,"exact":false}}$`,
		`^{"hits":\[\],"total":{"value":3,"exact":true}}$`,
		`^{"error":{"code":"invalid_option","message":"read request: line 12: k, total, weights, .*}}$`,
	}
	lines := strings.Split(strings.TrimSuffix(got.body, "\n"), "\n")
	if len(lines) != len(want) || got.status != http.StatusOK || got.header.Get("Content-Type") != bodies.Lines {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for i, line := range lines {
		if !regexp.MustCompile(want[i]).MatchString(line) {
			t.Errorf("line %d: %s, want %s", i+1, line, want[i])
		}
	}
	if got := r.do("POST", "/v1/indexes/looms/search/batch", ""); got.status != http.StatusOK || got.body != "" {
		t.Errorf("an empty batch: %d %q", got.status, got.body)
	}
	long := strings.Repeat(" ", 100_000)
	if got := r.do("POST", "/v1/indexes/looms/search/batch", `{"query":"loom",`+long+`"count":true}`+"\n"); got.body != `{"count":2}`+"\n" {
		t.Errorf("a long line: %q", got.body)
	}
	for path, want := range map[string]int{"/v1/indexes/looms/search/batch?timeout_ms=-1": 400, "/v1/indexes/other/search/batch": 404} {
		if got, _ := r.problem("POST", path, body); got.status != want {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// FuzzLines checks that any body gets a line for each query, or a problem.
func FuzzLines(f *testing.F) {
	f.Add(`{"id":1,"query":"red loom","k":1}` + "\n" + `{"query":"comp* -(a OR"}`)
	f.Add("{}\n\nnull\n[]\n")
	s, err := New(nil, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		req, err := http.NewRequest("POST", "/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		b, ids, err := s.readLines(req, 0)
		if err != nil {
			return
		}
		lines := 0
		for line := range strings.Lines(body) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		if len(b.queries) != len(ids) || len(ids) > lines {
			t.Errorf("%d queries and %d ids of %d lines", len(b.queries), len(ids), lines)
		}
	})
}

// TestCompression reads small and large replies with each encoding.
func TestCompression(t *testing.T) {
	r := run(t, Options{})
	r.loadRows(5000)
	ask := func(where, accept, encoding string) reply {
		return r.do("POST", "/v1/tables/loans/select", `{"where":"`+where+`"}`, "Accept: "+accept, "Accept-Encoding: "+encoding)
	}
	decode := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(in io.Reader) (io.Reader, error) { return gzip.NewReader(in) },
		"zstd": func(in io.Reader) (io.Reader, error) { return zstd.NewReader(in) },
	}
	for _, accept := range []string{bodies.JSON, bodies.Lines, rows.RawType, rows.RoaringType} {
		plain := ask("days > 30", accept, "identity")
		for name, reader := range decode {
			got := ask("days > 30", accept, name)
			if accept == rows.RawType || accept == rows.RoaringType {
				if got.header.Get("Content-Encoding") != "" || got.body != plain.body {
					t.Errorf("%s is compressed", accept)
				}
				continue
			}
			in, err := reader(strings.NewReader(got.body))
			if err != nil || got.header.Get("Content-Encoding") != name || got.header.Get("Vary") != "Accept-Encoding" {
				t.Fatalf("%s %s: %v, %v", accept, name, got.header, err)
			}
			text, err := io.ReadAll(in)
			if a, b := untimed(string(text)), untimed(plain.body); err != nil || a != b || len(got.body) > len(text)/2 {
				t.Errorf("%s %s: %d bytes of %d, %v", accept, name, len(got.body), len(text), err)
			}
			if small := ask("days > 31", accept, name); small.header.Get("Content-Encoding") != "" || small.status != http.StatusOK {
				t.Errorf("%s %s: a small reply: %d %v", accept, name, small.status, small.header)
			}
		}
	}
}

// untimed removes the time of an answer.
func untimed(text string) string {
	before, _, _ := strings.Cut(text, `,"took_ms"`)
	return before
}
