package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/plan"
	"heddle/engine/server/problem"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
	"heddle/hostfallback"
)

// The documents of the index "looms", and the rows of the table "loans".
const (
	looms = "a\tthe red loom\nb\tthe blue loom\nc\ta red thread\n"
	loans = "days,book\n31,a\n7,b\n60,a\n"
)

// running is a server with the index "looms" and the table "loans".
type running struct {
	testing.TB
	*Server
	dir, url string
	client   *http.Client
}

// run serves on an engine in pure Go.
func run(t testing.TB, opt Options) *running {
	t.Helper()
	return runOn(t, engine.Options{Backend: "host"}, opt)
}

func runOn(t testing.TB, on engine.Options, opt Options) *running {
	t.Helper()
	return runAt(t, nil, on, opt)
}

// runAt serves at pipes, or at a port if they are nil.
func runAt(t testing.TB, at *pipes, on engine.Options, opt Options) *running {
	t.Helper()
	r := &running{TB: t, dir: t.TempDir(), client: http.DefaultClient}
	if at != nil {
		t.Cleanup(func() { time.Sleep(time.Second) }) // the server ends some connections half a second after its reply
	}
	r.buildIndex(looms)
	r.buildTable(loans)
	e, err := engine.New(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	opt.Indexes, opt.Tables = map[string]string{"looms": r.path("looms.hdl")}, map[string]string{"loans": r.path("loans.hdb")}
	if r.Server, err = New(e, opt); err != nil {
		t.Fatal(err)
	}
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(r.Handler())
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	if at != nil {
		web.Listener.Close()
		web.Listener = at
		r.client = &http.Client{Transport: at.transport()}
		t.Cleanup(r.client.CloseIdleConnections)
	}
	web.Start()
	r.url = web.URL
	t.Cleanup(func() {
		web.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *running) path(name string) string { return filepath.Join(r.dir, name) }

// buildIndex replaces the file of the index.
func (r *running) buildIndex(text string) {
	r.Helper()
	docs := r.path("looms.tsv")
	if err := os.WriteFile(docs, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
	if _, err := indexbuild.Build(r.Context(), r.path("looms.hdl"), []string{docs}, indexbuild.Options{Format: indexbuild.Text}); err != nil {
		r.Fatal(err)
	}
}

// buildTable replaces the file of the table.
func (r *running) buildTable(text string) {
	r.Helper()
	src, err := csv.Open(r.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text)})
	if err != nil {
		r.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(r.Context(), src, r.path("loans.hdb"), tablebuild.Options{}); err != nil {
		r.Fatal(err)
	}
}

// loadRows replaces the table by n equal rows, in which days is 31.
func (r *running) loadRows(n int) {
	r.Helper()
	r.buildTable("days,book\n" + strings.Repeat("31,a\n", n))
	if err := r.Reload(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// reply is a reply with its complete body.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request with header fields "Name: value".
func (r *running) do(method, path, body string, header ...string) reply {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(all)}
}

// problem sends a request that fails, and checks the form of the error.
func (r *running) problem(method, path, body string, header ...string) (reply, problem.Details) {
	r.Helper()
	got := r.do(method, path, body, header...)
	var p problem.Details
	d := json.NewDecoder(strings.NewReader(got.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || got.header.Get("Content-Type") != "application/problem+json" {
		r.Fatalf("%s %s: %d %s %q: %v", method, path, got.status, got.header.Get("Content-Type"), got.body, err)
	}
	if p.Status != got.status || p.Type != "about:blank" || p.Title == "" || p.Detail == "" || p.Code == "" {
		r.Errorf("%s %s: status %d, problem %+v", method, path, got.status, p)
	}
	return got, p
}

// gate is a backend in pure Go whose batches wait up to the end of their context while it is
// closed.
type gate struct {
	plan.Backend
	closed  chan struct{} // nil: open
	entered chan struct{} // receives a value for each batch that waits
	left    chan struct{} // receives a value for each batch whose context has ended
}

func newGate() *gate {
	return &gate{Backend: hostfallback.New(hostfallback.Options{Threads: 2}), closed: make(chan struct{}), entered: make(chan struct{}, 100), left: make(chan struct{}, 100)}
}

func (g *gate) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	s, err := g.Backend.Load(ctx, src)
	return &gateStore{s, g}, err
}

type gateStore struct {
	plan.Store
	g *gate
}

func (g *gate) wait(ctx context.Context) error {
	g.entered <- struct{}{}
	select {
	case <-g.closed:
		return nil
	case <-ctx.Done():
		g.left <- struct{}{}
		return ctx.Err()
	}
}

func (s *gateStore) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := s.g.wait(ctx); err != nil {
		return err
	}
	return s.Store.Match(ctx, b, out)
}

func (s *gateStore) Rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	if err := s.g.wait(ctx); err != nil {
		return err
	}
	return s.Store.Rank(ctx, b, out)
}

func (g *gate) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	s, err := g.Backend.LoadTable(ctx, t)
	return &gateTable{s, g}, err
}

type gateTable struct {
	plan.TableStore
	g *gate
}

func (t *gateTable) Select(ctx context.Context, b *plan.SelectBatch, out *plan.Rows) error {
	if err := t.g.wait(ctx); err != nil {
		return err
	}
	return t.TableStore.Select(ctx, b, out)
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// damaged returns a file with some bytes changed.
func damaged(t *testing.T, path string) []byte {
	t.Helper()
	text := mustRead(t, path)
	for i := 64; i < 72; i++ { // in the header, which is checked first
		text[i] ^= 0xff
	}
	return text
}
