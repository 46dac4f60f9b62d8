package server

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"heddle/engine"
	"heddle/engine/api"
	load "heddle/engine/bench/remote"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// TestWork: while queries wait, a request with little time is refused in every protocol, and one
// with more time is answered.
func TestWork(t *testing.T) {
	r := run(t, Options{})
	enter := func(queries int) (leave func()) {
		slot, refused := r.gate.Enter("127.0.0.1", queries, time.Hour)
		if refused != nil {
			t.Fatalf("%+v", refused)
		}
		return func() { r.gate.Leave(slot, true) }
	}
	for range 10 { // at most 100,000 queries per second
		leave := enter(1000)
		time.Sleep(10 * time.Millisecond)
		leave()
	}
	defer enter(3000)() // they take 30 milliseconds or more
	const lines = "/v1/indexes/looms/search/batch"
	for path, body := range map[string]string{search: `{"query":"red","timeout_ms":20}`, lines + "?timeout_ms=20": `{"query":"red"}`} {
		got, p := r.problem("POST", path, body)
		if got.status != http.StatusTooManyRequests || p.Code != "overloaded" || p.Limit != "work" || p.Max == 0 || got.header.Get("Retry-After") == "" || !strings.Contains(p.Detail, "to answer before the request") {
			t.Errorf("%s: %+v", path, p)
		}
	}
	ask := &api.SearchRequest{Index: "looms", Query: "red", TimeoutMs: 20}
	conn := dial(t, r.url)
	if err := conn.Invoke(t.Context(), api.IndexServiceSearchProcedure, ask, &api.SearchResponse{}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("gRPC: %v", err)
	}
	for path, body := range map[string]string{search: `{"query":"red"}`, lines: `{"query":"red"}`} {
		if got := r.do("POST", path, body); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// slow is a backend in pure Go that ranks one query after the other, each in perQuery or more.
type slow struct {
	plan.Backend
	one *sync.Mutex
}

const perQuery = 200 * time.Microsecond

func (s slow) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	store, err := s.Backend.Load(ctx, src)
	return slowStore{store, s.one}, err
}

type slowStore struct {
	plan.Store
	one *sync.Mutex
}

func (s slowStore) Rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	s.one.Lock()
	defer s.one.Unlock()
	time.Sleep(time.Duration(len(b.Offsets)-1) * perQuery)
	return s.Store.Rank(ctx, b, out)
}

// TestOverload puts twice the load on a server that it can bear. Each answer is right, or a
// refusal with a code; few queries run in vain; and the server is as before one second later.
func TestOverload(t *testing.T) {
	testneeds.Long(t)
	r := runOn(t, engine.Options{Backends: []plan.Backend{slow{hostfallback.New(hostfallback.Options{Threads: 1}), new(sync.Mutex)}}}, Options{})
	client, err := load.Connection{Connections: 200}.Client(r.url)
	if err != nil {
		t.Fatal(err)
	}
	put := func(rate float64, length, timeout time.Duration) (l *load.Level) {
		t.Helper()
		w := &load.Work{Index: "looms", Kind: load.Search, Topics: []string{"red", "loom", "blue thread", "the"}, K: 3, Batch: 50}
		_, err := load.Run(t.Context(), client, w, load.Options{Rate: rate, Length: length, Timeout: timeout, Verify: true, Report: func(x *load.Level) error { l = x; return nil }})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	goroutines := runtime.NumGoroutine()
	const capacity = float64(time.Second / perQuery)
	l := put(2*capacity, 10*time.Second, time.Second)
	t.Logf("%.0f of %.0f queries per second answered, %v", l.Throughput, capacity, l.Errors)
	for code := range l.Errors {
		if !slices.Contains([]string{"overloaded", "deadline", "client_late"}, code) {
			t.Errorf("%d queries failed: %s", l.Errors[code], code)
		}
	}
	if l.Errors["overloaded"] < l.Queries/4 || l.Answered < l.Errors["deadline"] {
		t.Errorf("%d of %d queries answered, %v", l.Answered, l.Queries, l.Errors)
	}
	time.Sleep(time.Second)
	if n := r.gate.Queries(); n != 0 {
		t.Errorf("%d queries run after the load", n)
	}
	if n := runtime.NumGoroutine(); n > goroutines+3*200+50 { // of 200 connections
		t.Errorf("%d goroutines, before the load %d", n, goroutines)
	}
	if l := put(0.2*capacity, time.Second, time.Minute); l.Answered != l.Queries {
		t.Errorf("after the load: %d of %d queries answered, %v", l.Answered, l.Queries, l.Errors)
	}
}
