package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/observe"
	heddleprometheus "heddle/engine/observe/prometheus"
	"heddle/engine/observe/tracing"
	"heddle/engine/server/monitor"
)

// lines is a log that tests read.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// with returns the lines that have all parts.
func (l *lines) with(parts ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for line := range strings.Lines(l.text.String()) {
		for _, p := range parts {
			if !strings.Contains(line, p) {
				continue next
			}
		}
		found = append(found, line)
	}
	return found
}

// TestMonitor sends requests by each protocol, and reads the metrics, the access log, the log of
// slow queries and the spans.
func TestMonitor(t *testing.T) {
	var out lines
	log := zerolog.New(&out)
	slow := monitor.NewSlowQueries(log, time.Nanosecond)
	metrics := heddleprometheus.New()
	spans := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	r := runOn(t, engine.Options{Backend: "host", Observer: observe.All(metrics, slow, tracing.New(tracer))},
		Options{AccessLog: 1, Tracer: tracer, Log: &log, Collectors: []prometheus.Collector{metrics}, Limits: Limits{K: 5}})
	url, admin, done := r.listen(t.Context())
	r.url = url
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	r.do("POST", search, `{"query":"red loom"}`, "X-Request-Id: id-1", "Traceparent: 00-"+trace+"-"+parent+"-01")
	r.do("POST", search, `{"query":"red","k":6}`)
	r.do("POST", "/v1/indexes/looms/search/batch", `{"query":"red"}`+"\n"+`{"query":"loom"}`)
	r.do("POST", "/v1/tables/loans/count", `{"where":"days > 30"}`, "X-Request-Id: id-2")
	r.do("GET", "/absent", "")
	r.do("POST", "/v1/indexes/looms/search/batch", `{"query":"red"}`+"\n"+`{"query":"\"red loom\""}`+"\n"+`{"query":`)
	r.do("POST", "/v1/indexes/absent/search", `{"query":"red"}`)
	r.do("POST", "/v1/indexes/absent/search/batch", `{"query":"red","mode":"none"}`)
	r.do("POST", "/v1/tables/loans/select", `{"where":"days >"}`)
	if err := dial(t, url).Invoke(t.Context(), api.TableServiceCountBatchProcedure, &api.CountBatchRequest{Table: "loans", Where: []string{"days > 30", "days >", "hours > 1"}}, &api.CountBatchResponse{}); err != nil {
		t.Error(err)
	}
	if err := dial(t, url).Invoke(t.Context(), api.IndexServiceSearchBatchProcedure, &api.SearchBatchRequest{Index: "looms", Queries: []string{"red", `"red loom"`, "loom"}}, &api.SearchBatchResponse{}); err != nil {
		t.Error(err)
	}
	if err := dial(t, url).Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Index: "other", Query: "red"}, &api.SearchResponse{}); err == nil {
		t.Error("an unknown index is found")
	}

	if got := out.with(`"request_id":"id-1"`, `"message":"request"`, `"method":"POST"`, `"path":"`+search+`"`, `"status":200`, `"caller":"127.0.0.1"`, `"trace_id":"`+trace+`"`); len(got) != 1 {
		t.Errorf("access log: %s", out.text.String())
	}
	if got := out.with(`"message":"request"`); len(got) != 12 {
		t.Errorf("%d lines of 12 requests: %s", len(got), got)
	}
	for _, part := range [][]string{{`"request_id":"id-1"`, `"query":"red loom"`, `"trace_id":"` + trace + `"`}, {`"request_id":"id-2"`, `"query":"days > 30"`}} {
		if got := out.with(append(part, `"message":"slow query"`, `"name":"`, `"explanation":"`)...); len(got) != 1 {
			t.Errorf("slow query %s: %s", part, out.text.String())
		}
	}
	slow.Set(0)
	r.do("POST", search, `{"query":"blue"}`)
	if got := out.with(`"query":"blue"`); len(got) != 0 {
		t.Errorf("a log of slow queries that is off: %s", got)
	}

	spanOf := map[string]sdktrace.ReadOnlySpan{}
	for _, s := range spans.Ended() {
		if s.SpanContext().TraceID().String() == trace {
			spanOf[s.Name()] = s
		}
	}
	outer, inner := spanOf["POST /v1/indexes/{index}/search"], spanOf["query rank or"]
	if outer == nil || inner == nil || outer.Parent().SpanID().String() != parent || inner.Parent().SpanID() != outer.SpanContext().SpanID() {
		t.Errorf("spans %v", spanOf)
	}

	r.url = admin
	got := r.do("GET", "/metrics", "")
	if problems, err := testutil.GatherAndLint(r.registry); err != nil || len(problems) > 0 {
		t.Errorf("names of metrics: %v, %v", problems, err)
	}
	for _, name := range []string{"heddle_http_requests_total", "heddle_http_request_duration_seconds", "heddle_rpc_requests_total", "heddle_rpc_request_duration_seconds", "heddle_queries_total", "heddle_server_ready", "go_goroutines", "process_open_fds"} {
		if !strings.Contains(got.body, "# TYPE "+name+" ") {
			t.Errorf("no metric %s", name)
		}
	}
	for _, line := range []string{
		`heddle_http_requests_total{route="POST /v1/indexes/{index}/search",status="200"} 2`,
		`heddle_http_requests_total{route="POST /v1/indexes/{index}/search",status="413"} 1`,
		`heddle_http_requests_total{route="POST /v1/indexes/{index}/search/batch",status="200"} 2`,
		`heddle_http_requests_total{route="other",status="404"} 1`,
		`heddle_rpc_requests_total{code="ok",procedure="/heddle.v1.IndexService/Search",protocol="rest"} 2`,
		`heddle_rpc_requests_total{code="not_found",procedure="/heddle.v1.IndexService/Search",protocol="grpc"} 1`,
		`heddle_server_refused_total{limit="k"} 1`,
		`heddle_server_ready 1`,
		`heddle_server_reloads_total{kind="index",outcome="ok"} 1`,
		`heddle_server_queries_total{name="looms"} 11`,
		`heddle_server_query_errors_total{name="looms"} 4`, // k beyond the limit, two lines, one query of the flat batch
		`heddle_server_queries_total{name="loans"} 5`,
		`heddle_server_query_errors_total{name="loans"} 3`,
	} {
		if !strings.Contains(got.body, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if _, took, _ := strings.Cut(got.body, `heddle_server_query_seconds_total{name="looms"} `); took == "" || took[0] == '-' || strings.HasPrefix(took, "0\n") {
		t.Errorf("the time of queries is %.20s", took)
	}
	if unknown := regexp.MustCompile(`name="(absent|other)"`).FindString(got.body); unknown != "" {
		t.Errorf("an unknown index has the counter %s", unknown)
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
		if got := r.do("GET", path, ""); got.status != http.StatusOK || len(got.body) == 0 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	r.url = url
	if got := r.do("GET", "/metrics", ""); got.status != http.StatusNotFound {
		t.Errorf("/metrics of the service: %d", got.status)
	}
	r.Drain()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := New(r.engine.Load(), Options{Collectors: []prometheus.Collector{metrics, metrics}}); engine.CodeOf(err) != engine.InvalidOption {
		t.Errorf("a collector twice: %v", err)
	}
}

// TestPanic: a panic ends one connection, and the log and the metrics have it.
func TestPanic(t *testing.T) {
	var out lines
	log := zerolog.New(&out)
	r := run(t, Options{Log: &log})
	r.opt.Settings = func() []*api.Setting { panic("broken") }
	_, admin, done := r.listen(t.Context())
	if resp, err := http.Get(admin + "/v1/admin/config"); err == nil {
		resp.Body.Close()
		t.Errorf("status %d", resp.StatusCode)
	}
	r.url = admin
	r.do("GET", "/livez", "")
	if got := out.with(`"panic":"broken"`, `"message":"request failed"`); len(got) != 1 {
		t.Errorf("log: %s", out.text.String())
	}
	var line struct {
		Status int
		Level  string
	}
	if got := out.with(`"message":"request"`); len(got) != 1 || json.Unmarshal([]byte(got[0]), &line) != nil || line.Status != http.StatusInternalServerError || line.Level != "warn" {
		t.Errorf("access log of a failure: %s", got)
	}
	r.Drain()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestSampledLog writes a part of the requests.
func TestSampledLog(t *testing.T) {
	var out lines
	log := zerolog.New(&out)
	r := run(t, Options{Log: &log, AccessLog: 0.5})
	for range 100 {
		r.do("GET", "/livez", "")
	}
	if n := len(out.with(`"message":"request"`)); n < 10 || n > 90 { // beyond: less than 1 in 10^15 runs
		t.Errorf("%d of 100 requests", n)
	}
}

// left is the writer of a client that has left.
type left struct{ *httptest.ResponseRecorder }

func (left) Write([]byte) (int, error) { return 0, errors.New("the client has left") }

// TestLeft: a client leaves in the first part of a batch. The queries of the other parts count as errors.
func TestLeft(t *testing.T) {
	r := run(t, Options{})
	const queries, part = 300, mostPart / (lineBytes + 1000*hitBytes)
	body := strings.Repeat(`{"query":"red","k":1000}`+"\n", queries)
	r.Handler().ServeHTTP(left{httptest.NewRecorder()}, httptest.NewRequest("POST", "http://localhost/v1/indexes/looms/search/batch", strings.NewReader(body)))
	w := httptest.NewRecorder()
	r.AdminHandler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	for name, count := range map[string]int{"queries": queries, "query_errors": queries - part} {
		if want := fmt.Sprintf("heddle_server_%s_total{name=\"looms\"} %d\n", name, count); !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in %s", want, w.Body)
		}
	}
}
