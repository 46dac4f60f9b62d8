package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"github.com/rs/zerolog"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/server/access"
	"heddle/engine/server/problem"
)

// TestErrors checks the problem of each wrong request.
func TestErrors(t *testing.T) {
	r := run(t, Options{Limits: Limits{Body: 2000, Batch: 2, K: 5, Terms: 4, Documents: 2}})
	offset := func(n uint32) *uint32 { return &n }
	for _, c := range []struct {
		method, path, body string
		want               problem.Details
	}{
		{"POST", "/v1/indexes/looms/search", `{"query":"red AND"}`, problem.Details{Status: 400, Code: "invalid_query", Offset: offset(4)}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","mode":"xor"}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","terms":["red"]}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","scoring":{"variant":"tf"}}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","scoring":{"b":2}}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","statistics":{"docs":9,"terms":["red"]}}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","statistics":{"docs":9,"length":9,"terms":["red"],"df":[1,2]}}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","index":"other"}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red","total":1.5}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":7}`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/looms/search", `{"query":"red"`, problem.Details{Status: 400, Code: "invalid_option"}},
		{"POST", "/v1/indexes/other/search", `{"query":"red"}`, problem.Details{Status: 404, Code: "not_found"}},
		{"GET", "/v1/indexes/other", ``, problem.Details{Status: 404, Code: "not_found"}},
		{"GET", "/v1/indexes/other/ready", ``, problem.Details{Status: 404, Code: "not_found"}},
		{"POST", "/v1/tables/other/count", `{"where":"days > 1"}`, problem.Details{Status: 404, Code: "not_found"}},
		{"POST", "/v1/tables/loans/count", `{"where":"dys > 1"}`, problem.Details{Status: 400, Code: "invalid_query", Offset: offset(0)}},
		{"POST", "/v1/tables/loans/select", `{"where":"days >"}`, problem.Details{Status: 400, Code: "invalid_query", Offset: offset(6)}},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"book, sum(dys)","group_by":"book"}`, problem.Details{Status: 400, Code: "invalid_query", Offset: offset(10)}},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"*","where":"days >"}`, problem.Details{Status: 400, Code: "invalid_query", Offset: offset(6)}},
		{"POST", "/v1/tables/other/aggregate", `{"select":"*"}`, problem.Details{Status: 404, Code: "not_found"}},
		{"GET", "/v1/other", ``, problem.Details{Status: 404, Code: "not_found"}},
		{"GET", "/v1/indexes/looms/search", ``, problem.Details{Status: 405, Code: "not_found"}},
		{"POST", "/livez", ``, problem.Details{Status: 405, Code: "not_found"}},
		{"POST", "/v1/admin/drain", ``, problem.Details{Status: 404, Code: "not_found"}}, // another listener

		{"POST", "/v1/indexes/looms/search", `{"query":"red","k":6}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "k", Max: 5}},
		{"POST", "/v1/indexes/looms/search", `{"query":"a b c d e"}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "terms", Max: 4}},
		{"POST", "/v1/indexes/looms/search", `{"terms":["a","b","c","d","e"]}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "terms", Max: 4}},
		{"POST", "/v1/indexes/looms/search", `{"query":"` + strings.Repeat("a", 2000) + `"}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "body", Max: 2000}},
		{"POST", "/v1/indexes/looms/search/batch", strings.Repeat(" ", 2000) + "{}", problem.Details{Status: 413, Code: "invalid_option", Limit: "body", Max: 2000}},
		{"POST", "/v1/indexes/looms/search/batch", "{}\n{}\n{}\n", problem.Details{Status: 413, Code: "invalid_option", Limit: "batch", Max: 2}},
		{"POST", "/v1/indexes/looms/search/batch", `{"query":"the","match":true}` + "\n" + `{"query":"red","match":true}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "documents", Max: 2}},
		{"POST", "/v1/indexes/looms/match", `{"query":"the","limit":3}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "documents", Max: 2}},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"*"}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "documents", Max: 2}},
		{"POST", "/v1/tables/loans/aggregate", `{"select":"*","limit":3}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "documents", Max: 2}},
		{"POST", "/v1/tables/loans/select", `{"where":"days > 1"}`, problem.Details{Status: 413, Code: "invalid_option", Limit: "documents", Max: 2}},
	} {
		_, got := r.problem(c.method, c.path, c.body, "X-Request-Id: id-7")
		same := got.Status == c.want.Status && got.Code == c.want.Code && got.Limit == c.want.Limit && got.Max == c.want.Max && got.RequestID == "id-7"
		if !same || (got.Offset == nil) != (c.want.Offset == nil) || got.Offset != nil && *got.Offset != *c.want.Offset {
			t.Errorf("%s %s %.60s: %+v, want %+v", c.method, c.path, c.body, got, c.want)
		}
	}
	if got, _ := r.problem("POST", "/v1/indexes/looms/search", `{}`, "Sec-Fetch-Site: cross-site"); got.status != http.StatusForbidden {
		t.Errorf("a foreign web page: %d", got.status)
	}
	if got := r.do("GET", "/livez", "", "X-Request-Id: "+strings.Repeat("x", 200)); len(got.header.Get("X-Request-Id")) > 128 {
		t.Errorf("a long request id is repeated")
	}
	for _, option := range []connecthttp.Option{connecthttp.WithSendCompression("identity"), connecthttp.WithSendGzip()} { // before and after decompression
		client := api.NewIndexServiceClient(connect.NewClient(connecthttp.NewTransport(http.DefaultClient, r.url, option)))
		_, err := client.Search(t.Context(), &api.SearchRequest{Index: "looms", Query: strings.Repeat("a", 3000)})
		if d, ok := api.DetailOf(err); !ok || d.GetLimit() != "body" || d.GetMax() != 2000 {
			t.Errorf("a large message: %v, %v", err, d)
		}
	}
}

// TestSlowBody sends a request whose body does not arrive.
func TestSlowBody(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		r := runAt(t, newPipes(), engine.Options{Backend: "host"}, Options{})
		at := newPipes()
		r.opt.Stall = 100 * time.Millisecond
		h := r.httpServer(t.Context(), r.Handler(), false)
		go h.Serve(at)
		defer h.Close()
		for head, want := range map[string]string{
			"POST /v1/indexes/looms/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{": "HTTP/1.1 408 ",
			"POST /v1/indexes/looms/search HTTP/1.1\r\nHost":                                            "", // no reply, or 400
			"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Large: " + strings.Repeat("x", 1<<17):          "HTTP/1.1 431 ",
		} {
			c, err := at.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go fmt.Fprint(c, head) // the server does not read all of it
			reply := make([]byte, 13)
			n, _ := c.Read(reply) // the server closes the connection
			if got := string(reply[:n]); got != want && (want != "" || got != "HTTP/1.1 400 ") {
				t.Errorf("%.40s: reply %q, want %q", head, reply[:n], want)
			}
		}
	})
}

// TestSlowHeaders: a listener without a time-out of bodies ends a connection whose headers do not arrive.
func TestSlowHeaders(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		at := newPipes()
		everyone, err := access.Open(access.Files{})
		if err != nil {
			t.Fatal(err)
		}
		h := everyone.Server(http.NotFoundHandler(), false, 100*time.Millisecond, new(zerolog.Nop()))
		go h.Serve(at)
		defer h.Close()
		for _, head := range []string{"", "POST / HT", "POST / HTTP/1.1\r\nHost: localhost\r\n"} {
			c, err := at.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, head)
			began := time.Now()
			if _, err := io.ReadAll(c); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < 100*time.Millisecond || took > time.Second {
				t.Errorf("%q: the connection ends after %v", head, took)
			}
		}
	})
}

// TestTimeoutLimit: a request may ask for less time than the server gives, and not for more.
func TestTimeoutLimit(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		g := newGate()
		r := runAt(t, newPipes(), engine.Options{Backends: []plan.Backend{g}}, Options{Timeout: time.Second})
		defer close(g.closed) // a batch on a lane does not end with its callers
		for ask, want := range map[string]time.Duration{"": time.Second, `,"timeout_ms":0`: time.Second, `,"timeout_ms":100`: 100 * time.Millisecond, `,"timeout_ms":4294967295`: time.Second} {
			for path, body := range map[string]string{
				"indexes/looms/search": `{"query":"red"`, "indexes/looms/match": `{"query":"red"`,
				"tables/loans/count": `{"where":"days > 30"`, "tables/loans/select": `{"where":"days > 30"`, "tables/loans/aggregate": `{"where":"days > 30","select":"sum(days)"`,
			} {
				began := time.Now()
				_, p := r.problem("POST", "/v1/"+path, body+ask+"}")
				if took := time.Since(began); p.Code != "deadline" || took != want {
					t.Errorf("%s%s: %s after %v, want the deadline after %v", path, ask, p.Code, took, want)
				}
			}
		}
	})
}
