package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// listen serves r on a new address, and on another one for administration.
func (r *running) listen(ctx context.Context) (url, admin string, done chan error) {
	r.Helper()
	var at [2]net.Listener
	for i := range at {
		var err error
		if at[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			r.Fatal(err)
		}
	}
	done = make(chan error, 1)
	go func() { done <- r.Serve(ctx, at[0], at[1]) }()
	return "http://" + at[0].Addr().String(), "http://" + at[1].Addr().String(), done
}

// TestDrain ends a server under load. Clients that stop when it is not ready see no failure, and
// a request that runs at the end gets its answer.
func TestDrain(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		g := newGate()
		close(g.closed)
		r := runAt(t, newPipes(), engine.Options{Backends: []plan.Backend{g}}, Options{DrainDelay: time.Second})
		ctx, stop := context.WithCancel(t.Context())
		done := r.listenAt(ctx, newPipes())
		var clients sync.WaitGroup
		var answers atomic.Int64
		for range 4 {
			clients.Go(func() {
				for r.do("GET", "/readyz", "").status == http.StatusOK {
					if got := r.do("POST", "/v1/indexes/looms/search", `{"query":"red"}`); got.status != http.StatusOK {
						t.Errorf("%d %s", got.status, got.body)
					}
					answers.Add(1)
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		for answers.Load() < 20 {
			time.Sleep(time.Millisecond)
		}
		stop()
		clients.Wait()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := r.client.Get(r.url + "/livez"); err == nil {
			t.Error("the server accepts connections after it has ended")
		}
	})
}

// TestDrainByRoute ends a server by its route while a query runs.
func TestDrainByRoute(t *testing.T) {
	g := newGate()
	r := runOn(t, engine.Options{Backends: []plan.Backend{g}}, Options{})
	url, admin, done := r.listen(t.Context())
	r.url = url
	running := make(chan reply, 1)
	go func() { running <- r.do("POST", "/v1/indexes/looms/search", `{"query":"red"}`) }()
	<-g.entered
	r.url = admin
	if got := r.do("POST", "/v1/admin/drain", ""); got.status != http.StatusOK || got.body != "{}\n" {
		t.Errorf("%d %s", got.status, got.body)
	}
	select {
	case err := <-done:
		t.Fatalf("the server ended before its request: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if err := r.Ready(); engine.CodeOf(err) != engine.Closed {
		t.Errorf("ready: %v", err)
	}
	close(g.closed)
	if got := <-running; got.status != http.StatusOK {
		t.Errorf("the running request: %d %s", got.status, got.body)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestReload replaces files while clients ask, by several calls at once, and damages one.
func TestReload(t *testing.T) {
	r := run(t, Options{})
	ctx, stop := context.WithCancel(t.Context())
	url, admin, done := r.listen(ctx)
	r.url = url
	client := api.NewAdminServiceClient(connect.NewClient(connecthttp.NewTransport(http.DefaultClient, admin)))
	count := func() string {
		got := r.do("POST", "/v1/indexes/looms/match", `{"query":"loom"}`)
		body, _, _ := strings.Cut(got.body, `,"took_ms"`)
		return body
	}
	const few = "d\ta loom\n"
	const many, one = `{"count":2,"documents":[{"doc":"a","id":0},{"doc":"b","id":1}]`, `{"count":1,"documents":[{"doc":"d","id":0}]`
	ended := make(chan struct{})
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if got := count(); got != many && got != one {
					t.Errorf("during a reload: %s", got)
					return
				}
			}
		})
	}
	before, err := client.ReloadIndex(t.Context(), &api.ReloadIndexRequest{Index: "looms"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{few, looms, few} {
		r.buildIndex(text)
		var reloads sync.WaitGroup
		for range 2 {
			reloads.Go(func() {
				if err := r.Reload(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		reloads.Wait()
	}
	close(ended)
	clients.Wait()
	if got := count(); got != one {
		t.Errorf("after the reloads: %s", got)
	}
	after, err := client.ReloadIndex(t.Context(), &api.ReloadIndexRequest{Index: "looms"})
	if err != nil || after.GetChecksum() == before.GetChecksum() {
		t.Errorf("checksum %s, before %s, %v", after.GetChecksum(), before.GetChecksum(), err)
	}
	if err := os.WriteFile(r.path("damaged"), damaged(t, r.path("looms.hdl")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.path("damaged"), r.path("looms.hdl")); err != nil {
		t.Fatal(err)
	}
	_, err = client.ReloadIndex(t.Context(), &api.ReloadIndexRequest{Index: "looms"})
	if d, ok := api.DetailOf(err); !ok || d.GetCode() != "corrupt" || !strings.Contains(d.GetMessage(), "index looms") {
		t.Errorf("a damaged file: %v", err)
	}
	if got := count(); got != one {
		t.Errorf("beside a damaged file: %s", got)
	}
	r.url = admin
	if got, p := r.problem("POST", "/v1/admin/indexes/looms/reload", ""); got.status != http.StatusInternalServerError || p.Code != "corrupt" {
		t.Errorf("a damaged file, REST: %d %+v", got.status, p)
	}
	r.buildTable(loans + "90,c\n")
	if got := r.do("POST", "/v1/admin/tables/loans/reload", ""); got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"checksum":"`) {
		t.Errorf("a table: %d %s", got.status, got.body)
	}
	if got, _ := r.problem("POST", "/v1/admin/tables/other/reload", ""); got.status != http.StatusNotFound {
		t.Errorf("an unknown table: %d", got.status)
	}
	if r.url = url; !strings.HasPrefix(r.do("POST", "/v1/tables/loans/count", `{"where":"days > 30"}`).body, `{"count":3,`) {
		t.Error("the table is the old one")
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestNotLoaded asks a server whose files are not in service.
func TestNotLoaded(t *testing.T) {
	r := run(t, Options{})
	s, err := New(r.engine.Load(), Options{Indexes: map[string]string{"looms": r.path("looms.hdl"), "absent": r.path("absent.hdl")}, Tables: map[string]string{"loans": r.path("loans.hdb")}})
	if err != nil {
		t.Fatal(err)
	}
	r.Server = s
	ctx, stop := context.WithCancel(t.Context())
	var done chan error
	r.url, _, done = r.listen(ctx)
	for path, want := range map[string]int{"/livez": 200, "/v1/indexes": 200, "/v1/tables/loans": 200} {
		if got := r.do("GET", path, ""); got.status != want || strings.Contains(got.body, `"ready":true`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/readyz", "/v1/indexes/looms/ready"} {
		if got, p := r.problem("GET", path, ""); got.status != http.StatusServiceUnavailable || p.Code != "closed" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got, _ := r.problem("POST", "/v1/tables/loans/count", `{"where":"days > 30"}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("count: %d %s", got.status, got.body)
	}
	if err := s.Load(t.Context()); engine.CodeOf(err) != engine.NotFound || !strings.Contains(err.Error(), "index absent") {
		t.Errorf("load: %v", err)
	}
	if got, p := r.problem("GET", "/readyz", ""); got.status != http.StatusServiceUnavailable || !strings.Contains(p.Detail, "absent") {
		t.Errorf("/readyz: %d %+v", got.status, p)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestOptions checks wrong options.
func TestOptions(t *testing.T) {
	for _, opt := range []Options{
		{Indexes: map[string]string{"a/b": "x"}},
		{Tables: map[string]string{"": "x"}},
		{Tables: map[string]string{"..": "x"}},
		{Limits: Limits{K: -1}},
		{Stall: -time.Second},
		{DrainDelay: -1},
	} {
		if _, err := New(nil, opt); engine.CodeOf(err) != engine.InvalidOption {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

// TestServeFails gives Serve a listener that is closed.
func TestServeFails(t *testing.T) {
	s, err := New(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := s.Serve(t.Context(), l, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestLargeAnswer leaves in the middle of a large answer, and reads one to its end.
func TestLargeAnswer(t *testing.T) {
	r := run(t, Options{})
	r.loadRows(200_000)
	resp, err := http.Post(r.url+"/v1/tables/loans/select", "application/json", strings.NewReader(`{"where":"days > 30"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 100); err != nil {
		t.Error(err)
	}
	resp.Body.Close() // the connection ends, since a large rest is unread
	if got := r.do("POST", "/v1/tables/loans/select", `{"where":"days > 30"}`, "Accept: application/octet-stream"); len(got.body) != 800_000 {
		t.Errorf("%d bytes", len(got.body))
	}
}

// TestBeforeEngine serves before the processors are open: probes answer, and nothing is ready.
func TestBeforeEngine(t *testing.T) {
	r := run(t, Options{})
	e := r.engine.Load()
	early, err := New(nil, Options{Indexes: map[string]string{"looms": r.path("looms.hdl")}})
	if err != nil {
		t.Fatal(err)
	}
	r.Server = early
	ctx, stop := context.WithCancel(t.Context())
	url, _, done := r.listen(ctx)
	r.url = url
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/livez", "", 200}, {"GET", "/readyz", "", 503}, {"GET", "/v1/devices", "", 503}, {"GET", "/v1/indexes", "", 200},
		{"POST", "/v1/indexes/looms/search", `{"query":"red"}`, 503},
	} {
		if got := r.do(c.method, c.path, c.body); got.status != c.want {
			t.Errorf("%s: %d %s, want %d", c.path, got.status, got.body, c.want)
		}
	}
	if err := r.Load(t.Context()); engine.CodeOf(err) != engine.Closed {
		t.Errorf("load without processors: %v", err)
	}
	r.Use(e)
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/readyz": 200, "/v1/devices": 200} {
		if got := r.do("GET", path, ""); got.status != want {
			t.Errorf("%s: %d %s, want %d", path, got.status, got.body, want)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
