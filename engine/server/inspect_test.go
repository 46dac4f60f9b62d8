package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/api"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/observe/meter"
	"heddle/engine/server/access"
	"heddle/engine/server/access/accesstest"
	"heddle/hostfallback"
)

// inspecting serves with a meter, like heddle serve.
func inspecting(t *testing.T, opt Options) *running {
	opt.Meter = new(meter.Meter)
	return runOn(t, engine.Options{Backend: "host", Observer: opt.Meter}, opt)
}

// host is the name of the processor.
var host = hostfallback.New(hostfallback.Options{}).Info().Device

// decoded sends a request and decodes the reply.
func decoded[T any](r *running, method, path, body string) (out T) {
	r.Helper()
	got := r.do(method, path, body)
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != http.StatusOK {
		r.Fatalf("%s %s %s: %d %s %v", method, path, body, got.status, got.body, err)
	}
	return out
}

func TestInspectSearch(t *testing.T) {
	r := inspecting(t, Options{})
	ranked := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", `{"query":"red thread absent","k":2}`)
	if ranked.Count != 2 || ranked.Hits[0].Doc != "c" || ranked.Hits[0].Score <= ranked.Hits[1].Score {
		t.Errorf("hits %v", ranked.Hits)
	}
	if l := ranked.Lists; len(l) != 2 || l[0].Term != "thread" || l[0].Documents != 1 || l[1].Term != "red" || l[0].Weight <= l[1].Weight || l[1].Bytes == 0 {
		t.Errorf("lists %v", l)
	}
	if fmt.Sprint(ranked.Unknown) != "[absent]" || ranked.Way.Kind != "rank or" || ranked.Way.Processor != host || ranked.Way.RanMs <= 0 {
		t.Errorf("unknown %v, way %v", ranked.Unknown, ranked.Way)
	}
	both := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", fmt.Sprintf(`{"query":"the loom","mode":"and","algorithm":"bs","processor":%q,"limit":1,"fresh":true}`, host))
	if both.Count != 2 || len(both.Hits) != 1 || both.Hits[0].Id != 0 || both.Expression != "loom AND the" || both.Algorithm != "bs" || both.Lists[1].Method == "" {
		t.Errorf("with an algorithm: %v", &both)
	}
	parsed := decoded[api.ParseQueryResponse](r, "POST", "/v1/indexes/looms/parse", `{"query":"loom NOT red"}`)
	if len(parsed.Lists) != 2 || parsed.Lists[0].Term != "loom" || parsed.Expression != "loom NOT red" {
		t.Errorf("parsed %v", &parsed)
	}
	for _, c := range []struct{ path, body, want string }{
		{"inspect", `{"query":"red","processor":"moon"}`, `processor "moon" does not have the index`},
		{"inspect", `{"query":"red","algorithm":"quick"}`, `unknown algorithm "quick"`},
		{"inspect", `{"query":"red","limit":1001}`, "limit 1001"},
		{"inspect", `{"query":"red","scoring":{"variant":"atire"}}`, "scoring needs k"},
		{"inspect", `{"query":"red","k":1001}`, "the limit k"},
		{"term", `{"term":"absent"}`, `no term "absent"`},
		{"terms", `{"limit":1001}`, "limit 1001"},
	} {
		if _, p := r.problem("POST", "/v1/indexes/looms/"+c.path, c.body); !strings.Contains(p.Detail, c.want) {
			t.Errorf("%s %s: %q, want %q", c.path, c.body, p.Detail, c.want)
		}
	}
	for _, index := range []string{"looms", "elsewhere"} { // the syntax needs no index
		if _, p := r.problem("POST", "/v1/indexes/"+index+"/parse", `{"query":"red AND"}`); p.Offset == nil || *p.Offset != 4 {
			t.Errorf("an error in the text: %+v", p)
		}
	}
	if _, p := r.problem("POST", "/v1/indexes/elsewhere/parse", `{"query":"red"}`); p.Code != "not_found" {
		t.Errorf("an unknown index: %+v", p)
	}
	decoded[api.ParseQueryResponse](r, "POST", "/v1/indexes/looms/parse", `{"query":"red AND","literal":true}`)
}

func TestInspectTexts(t *testing.T) {
	r := inspecting(t, Options{})
	docs := r.path("looms.tsv")
	if err := os.WriteFile(docs, []byte("a\tthe \x1b[31mred loom\x07 <b>&\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := indexbuild.Build(t.Context(), r.path("looms.hdl"), []string{docs}, indexbuild.Options{Format: indexbuild.Text, Store: hdl.StoreText, Positions: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	phrase := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", `{"query":"+\"31mred lo*\"^2 absent -\"loom the\"","k":1}`)
	if len(phrase.Hits) != 1 || phrase.Expression != `"31mred lo*" NOT "loom the"` || len(phrase.Lists) != 3 || !strings.Contains(phrase.Algorithm, "phrases: 2 documents with all words, 4 positions read") {
		t.Errorf("a phrase: %v", &phrase)
	}
	got := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", `{"query":"loom the","k":1}`)
	text := ""
	for _, p := range got.Hits[0].Text {
		if p.Marked {
			text += "{" + p.Text + "}"
		} else {
			text += p.Text
		}
	}
	if text != "{the} \x1b[31mred {loom}\x07 <b>&" {
		t.Errorf("text %q", text)
	}
}

func TestInspectIndex(t *testing.T) {
	r := inspecting(t, Options{})
	d := decoded[api.IndexDetails](r, "GET", "/v1/indexes/looms/details", "")
	if d.Documents != 3 || d.Terms != 6 || d.Postings != 9 || d.File != "looms.hdl" || len(d.Sections) == 0 || len(d.Codecs) == 0 || d.Resident[0].Processor != host {
		t.Errorf("details %v", &d)
	}
	var all []string
	for after := ""; ; {
		page := decoded[api.ListTermsResponse](r, "POST", "/v1/indexes/looms/terms", fmt.Sprintf(`{"prefix":"t","limit":1,"after":%q}`, after))
		for _, x := range page.Terms {
			all = append(all, fmt.Sprint(x.Term, x.Documents))
			after = x.Term
		}
		if !page.More {
			break
		}
	}
	if fmt.Sprint(all) != "[the2 thread1]" {
		t.Errorf("terms %v", all)
	}
	x := decoded[api.TermDetails](r, "POST", "/v1/indexes/looms/term", `{"term":"loom"}`)
	if x.Documents != 2 || x.Occurrences != 2 || len(x.Costs) < 2 || x.Codec == "" || x.Reason == "" {
		t.Errorf("term %v", &x)
	}
}

func TestInspectTable(t *testing.T) {
	r := inspecting(t, Options{})
	d := decoded[api.TableDetails](r, "GET", "/v1/tables/loans/details", "")
	if d.Rows != 3 || len(d.Columns) != 2 || d.Columns[0].Type != "int" || len(d.Columns[0].Bins) != 3 {
		t.Fatalf("details %v", &d)
	}
	for _, c := range d.Columns {
		for _, b := range c.Bins { // the predicate of a bin selects its rows
			got := decoded[api.InspectSelectResponse](r, "POST", "/v1/tables/loans/inspect", fmt.Sprintf(`{"where":%q}`, b.Where))
			if got.Count != b.Rows || uint64(len(got.Rows)) != b.Rows {
				t.Errorf("%s: %d rows %v, want %d", b.Where, got.Count, got.Rows, b.Rows)
			}
		}
	}
	whole := uint64(0)
	for _, b := range d.Columns[0].Bins {
		whole += b.Rows
	}
	if whole != d.Rows {
		t.Errorf("the ranges of days have %d rows, and the table has %d", whole, d.Rows)
	}
	if p := decoded[api.ParsePredicateResponse](r, "POST", "/v1/tables/loans/parse", `{"where":"NOT (days>7) -- short"}`); p.Where != "NOT days > 7" {
		t.Errorf("canonical form %q", p.Where)
	}
	if _, p := r.problem("POST", "/v1/tables/loans/parse", `{"where":"days > 7 AND day = 1"}`); p.Offset == nil || *p.Offset != 13 {
		t.Errorf("an error in the predicate: %+v", p)
	}
	if _, p := r.problem("POST", "/v1/tables/elsewhere/parse", `{"where":"days >"}`); p.Offset == nil || *p.Offset != 6 {
		t.Errorf("an error in the predicate: %+v", p)
	}
	got := decoded[api.InspectSelectResponse](r, "POST", "/v1/tables/loans/inspect", `{"where":"days > 7 -- long","group_by":"book","limit":1}`)
	if got.Count != 2 || fmt.Sprint(got.Rows, got.Groups) != "[0] [2 0]" || got.Tests[0].Column != "days" || got.Way.Processor != host || got.Vectors == 0 {
		t.Errorf("groups: %v", &got)
	}
	var steps []string
	for _, step := range got.Plan.Steps[1].Steps {
		steps = append(steps, step.Name)
	}
	if names := strings.Join(steps, ", "); got.Plan.Name != "select" || got.Plan.Detail != "days > 7" || got.Plan.Steps[1].Name != host || names != "algorithm, vectors, bit slices" {
		t.Errorf("plan of %s: %s, %v", names, got.Plan.Name, got.Plan)
	}
	if all := decoded[api.InspectSelectResponse](r, "POST", "/v1/tables/loans/inspect", "{}"); all.Count != 3 {
		t.Errorf("without a predicate: %v", &all)
	}
	for body, want := range map[string]string{`{"group_by":"x"}`: `no column is named "x"`, `{"limit":10001}`: "limit 10001", `{"where":"x = 1"}`: "x"} {
		if _, p := r.problem("POST", "/v1/tables/loans/inspect", body); !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %q, want %q", body, p.Detail, want)
		}
	}
}

// TestStatus compares the counters with the queries that were sent.
func TestStatus(t *testing.T) {
	r := inspecting(t, Options{})
	resp, err := http.Get(r.url + "/v1/events?interval_ms=100")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	const sent = 20
	for i := range sent {
		r.do("POST", "/v1/indexes/looms/match", fmt.Sprintf(`{"query":"red","count":true,"limit":%d}`, i+1))
	}
	counted := uint64(0)
	for lines := bufio.NewScanner(resp.Body); counted < sent && lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e api.Status
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		host := e.Processors[0]
		if counted += host.Queries + e.Answers.Hits; host.Queries > 0 && (host.P50Ms <= 0 || host.P99Ms < host.P50Ms || host.QueriesPerSecond <= 0) {
			t.Errorf("event %v", &e)
		}
	}
	if counted != sent {
		t.Errorf("events have %d queries, want %d", counted, sent)
	}
	s := decoded[api.Status](r, "GET", "/v1/status", "")
	if n := s.Processors[0].Queries + s.Answers.Hits; n != sent || s.Mode == "" || s.Queue.Capacity == 0 {
		t.Errorf("%d queries since the start: %v", n, &s)
	}
	if _, p := r.problem("GET", "/v1/events?interval_ms=99", ""); !strings.Contains(p.Detail, "want 100 to 60000") {
		t.Errorf("interval: %q", p.Detail)
	}
	r.Drain()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); { // up to the end of the stream
	}
}

// TestPastStatus: a client that comes later has the events before.
func TestPastStatus(t *testing.T) {
	r := inspecting(t, Options{})
	url, _, done := r.listen(t.Context())
	r.do("POST", "/v1/indexes/looms/match", `{"query":"red","count":true}`)
	events := func(past string) (all []*api.Status) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		req, err := http.NewRequestWithContext(ctx, "GET", url+"/v1/events?interval_ms=100"+past, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			e := new(api.Status)
			if err := json.Unmarshal([]byte(data), e); err != nil {
				t.Fatal(err)
			}
			if all = append(all, e); e.IntervalMs < 500 { // the first event of this client
				return all
			}
		}
		t.Fatal("the stream has ended")
		return nil
	}
	queries := func(all []*api.Status) (n uint64) {
		for _, e := range all {
			n += e.Processors[0].Queries + e.Answers.Hits
		}
		return n
	}
	for queries(events("&past_s=900")) != 1 { // within a second
	}
	if all := events(""); len(all) != 1 || queries(all) != 0 {
		t.Errorf("without past_s: %v", all)
	}
	if all := events("&past_s=900"); all[0].TimeMs > all[len(all)-1].TimeMs {
		t.Errorf("the oldest event is not the first: %v", all)
	}
	r.url = url
	if _, p := r.problem("GET", "/v1/events?past_s=901", ""); !strings.Contains(p.Detail, "past_s") || !strings.Contains(p.Detail, "want 0 to 900") {
		t.Errorf("too much past: %q", p.Detail)
	}
	r.Drain()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestMachine(t *testing.T) {
	r := inspecting(t, Options{
		Machine: func(context.Context) (*api.Machine, error) {
			return &api.Machine{Places: []*api.Place{{Kind: "opencl", Device: "moon"}, {Kind: "host", Device: host, Reason: "reserve of the device"}}}, nil
		},
		Cluster: func(context.Context) (*api.Cluster, error) { return &api.Cluster{Present: true}, nil },
	})
	m := decoded[api.Machine](r, "GET", "/v1/machine", "")
	d := decoded[api.ListDevicesResponse](r, "GET", "/v1/devices", "")
	if m.Places[0].Open || !m.Places[1].Open || m.Places[1].Reason != d.Devices[0].Reason {
		t.Errorf("places %v", m.Places)
	}
	if c := decoded[api.Cluster](r, "GET", "/v1/cluster", ""); !c.Present {
		t.Error("the cluster is absent")
	}
	r = inspecting(t, Options{})
	if c := decoded[api.Cluster](r, "GET", "/v1/cluster", ""); c.Present {
		t.Error("a cluster is present")
	}
	if _, p := r.problem("GET", "/v1/machine", ""); p.Code != "unsupported" {
		t.Errorf("without a search for devices: %+v", p)
	}
}

func TestConsoleAccess(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "pages") })
	file := filepath.Join(t.TempDir(), "tokens")
	_, line := accesstest.Token(t, "reader", access.Read)
	accesstest.Replace(t, file, line)
	guard, err := access.Open(access.Files{Tokens: file})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, Options{Console: pages, Access: guard})
	if got := r.do("GET", "/console/", ""); got.body != "pages" {
		t.Errorf("without a token: %d %s", got.status, got.body)
	}
	if got := r.do("GET", "/", ""); got.body != "pages" { // it leads to the console
		t.Errorf("root: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/v1/status", "/v1/events", "/v1/machine", "/v1/cluster", "/v1/indexes/looms/details"} {
		if got := r.do("GET", path, ""); got.status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", path, got.status)
		}
	}
	if got := run(t, Options{}).do("GET", "/console/", ""); got.status != http.StatusNotFound {
		t.Errorf("without a console: %d", got.status)
	}
}
