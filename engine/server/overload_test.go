package server

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/bench/benchtest"
	load "heddle/engine/bench/load"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// TestWork: while queries wait, a request with little time is refused in every protocol, and one
// with more time is answered.
func TestWork(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		at := newPipes()
		r := runAt(t, at, engine.Options{Backend: "host"}, Options{})
		enter := func(queries int) (leave func()) {
			slot, refused := r.gate.Enter("127.0.0.1", queries, time.Hour)
			if refused != nil {
				t.Fatalf("%+v", refused)
			}
			return func() { r.gate.Leave(slot, true) }
		}
		for range 10 { // 100,000 queries per second
			leave := enter(1000)
			time.Sleep(10 * time.Millisecond)
			leave()
		}
		defer enter(3000)() // they take 30 milliseconds
		const lines = "/v1/indexes/looms/search/batch"
		for path, body := range map[string]string{search: `{"query":"red","timeout_ms":20}`, lines + "?timeout_ms=20": `{"query":"red"}`} {
			got, p := r.problem("POST", path, body)
			if got.status != http.StatusTooManyRequests || p.Code != "overloaded" || p.Limit != "work" || p.Max == 0 || got.header.Get("Retry-After") == "" || !strings.Contains(p.Detail, "to answer before the request") {
				t.Errorf("%s: %+v", path, p)
			}
		}
		ask := &api.SearchRequest{Index: "looms", Query: "red", TimeoutMs: 20}
		conn := dial(t, r.url, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return at.dial(ctx, "", "") }))
		if err := conn.Invoke(t.Context(), api.IndexServiceSearchProcedure, ask, &api.SearchResponse{}); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("gRPC: %v", err)
		}
		for path, body := range map[string]string{search: `{"query":"red","timeout_ms":100}`, lines + "?timeout_ms=100": `{"query":"red"}`} {
			if got := r.do("POST", path, body); got.status != http.StatusOK {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
	})
}

// slow is a backend in pure Go that ranks one query after the other, each in perQuery.
type slow struct {
	plan.Backend
	one chan struct{} // holds a value while a batch runs: virtual time passes while others wait
}

const perQuery = 200 * time.Microsecond

func (s slow) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	store, err := s.Backend.Load(ctx, src)
	return slowStore{store, s.one}, err
}

type slowStore struct {
	plan.Store
	one chan struct{}
}

func (s slowStore) Rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	s.one <- struct{}{}
	defer func() { <-s.one }()
	time.Sleep(time.Duration(len(b.Offsets)-1) * perQuery)
	return s.Store.Rank(ctx, b, out)
}

// TestOverload puts twice the load on a server that it can bear. Each answer is right, or a
// refusal with a code; few queries run in vain; and the server is as before one second later.
func TestOverload(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		backend := slow{hostfallback.New(hostfallback.Options{Threads: 1}), make(chan struct{}, 1)}
		r := runAt(t, newPipes(), engine.Options{Backends: []plan.Backend{backend}}, Options{})
		client, err := api.NewClient(r.url, api.ClientOptions{HTTP: r.client, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		put := func(rate float64, length, timeout time.Duration) (l *load.Level) {
			t.Helper()
			w := &load.Work{Index: "looms", Kind: load.Search, Topics: []string{"red", "loom", "blue thread", "the"}, K: 3, Batch: 50}
			_, err := load.Run(t.Context(), client, w, load.Options{Rate: rate, Length: length, Timeout: timeout, Verify: true, Wait: benchtest.SleepUntil, Report: func(x *load.Level) error { l = x; return nil }})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		goroutines := runtime.NumGoroutine()
		const capacity = float64(time.Second / perQuery)
		length := 10 * time.Second
		if testing.Short() {
			length = 3 * time.Second
		}
		l := put(2*capacity, length, time.Second)
		t.Logf("%.0f of %.0f queries per second answered, %v", l.Throughput, capacity, l.Errors)
		for code := range l.Errors {
			if !slices.Contains([]string{"overloaded", "deadline", "client_late"}, code) {
				t.Errorf("%d queries failed: %s", l.Errors[code], code)
			}
		}
		if l.Errors["overloaded"] < l.Queries/4 || l.Answered < 4*l.Queries/10 {
			t.Errorf("%d of %d queries answered, %v", l.Answered, l.Queries, l.Errors)
		}
		time.Sleep(time.Second)
		if n := r.gate.Queries(); n != 0 {
			t.Errorf("%d queries run after the load", n)
		}
		if n := runtime.NumGoroutine(); n > goroutines+3*200+50 { // 200 connections have at most three each
			t.Errorf("%d goroutines, before the load %d", n, goroutines)
		}
		if l := put(0.2*capacity, time.Second, time.Minute); l.Answered != l.Queries {
			t.Errorf("after the load: %d of %d queries answered, %v", l.Answered, l.Queries, l.Errors)
		}
	})
}
