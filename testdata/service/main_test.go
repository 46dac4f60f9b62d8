package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/engine"
	indexbuild "heddle/engine/index/build"
	heddleprometheus "heddle/engine/observe/prometheus"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// served is a running service with an index and a table.
type served struct {
	*testing.T
	index, url string
}

func serve(t *testing.T, timeout time.Duration) *served {
	t.Helper()
	dir := t.TempDir()
	s := &served{T: t, index: filepath.Join(dir, "looms.hdl")}
	s.build("a\tthe red loom\nb\tthe blue loom\nc\ta red thread\n")
	metrics := heddleprometheus.New()
	e, err := engine.New(t.Context(), engine.Options{Timeout: timeout, Observer: metrics})
	if err != nil {
		t.Fatal(err)
	}
	metrics.Watch(e.Stats)
	x, err := e.OpenIndex(t.Context(), s.index, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler(x, makeTable(t, e, dir), s.index, metrics))
	s.url = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// build replaces the index by an index of text.
func (s *served) build(text string) {
	s.Helper()
	docs := filepath.Join(filepath.Dir(s.index), "looms.tsv")
	if err := os.WriteFile(docs, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
	if _, err := indexbuild.Build(s.Context(), s.index, []string{docs}, indexbuild.Options{Format: indexbuild.Text}); err != nil {
		s.Fatal(err)
	}
}

func (s *served) do(method, path string) (status int, body string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Error(err)
		return
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Error(err)
	}
	return resp.StatusCode, string(all)
}

func (s *served) search(query string) []string {
	s.Helper()
	status, body := s.do("GET", "/search?q="+url.QueryEscape(query))
	var got struct {
		Count     int
		Documents []string
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.Count != len(got.Documents) {
		s.Errorf("%q: status %d, %q, %v", query, status, body, err)
	}
	return got.Documents
}

func TestSearch(t *testing.T) {
	s := serve(t, time.Minute)
	for query, want := range map[string][]string{
		"loom":       {"a", "b"},
		"Red loom":   {"a"},
		"red":        {"a", "c"},
		"green loom": {},
		"":           {},
	} {
		if got := s.search(query); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	for where, want := range map[string]string{"days > 30": "1\n", "days > 30 OR book = 'b'": "2\n", "dys > 30": `unknown column "dys" (nearest: "days")`} {
		status, got := s.do("GET", "/count?where="+url.QueryEscape(where))
		if !strings.Contains(got, want) || (status == http.StatusOK) != (len(want) == 2) {
			t.Errorf("%q: status %d, %q, want %q", where, status, got, want)
		}
	}
	if status, _ := s.do("GET", "/other"); status != http.StatusNotFound {
		t.Errorf("/other: status %d", status)
	}
	if _, got := s.do("GET", "/metrics"); !strings.Contains(got, "heddle_queries_total{") || !strings.Contains(got, "heddle_processor_up{") {
		t.Errorf("metrics:\n%s", got)
	}
}

// TestReload replaces the index while clients send queries. Documents and names of each
// answer belong to the same index.
func TestReload(t *testing.T) {
	s := serve(t, time.Minute)
	texts := []string{"d\ta loom\ne\tgreen\nf\ta loom\ng\ta loom too\n", "a\tthe red loom\nb\tthe blue loom\nc\ta red thread\n"}
	want := [][]string{{"d", "f", "g"}, {"a", "b"}}
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got := s.search("loom"); !slices.Equal(got, want[0]) && !slices.Equal(got, want[1]) {
					t.Errorf("%v, want one of %v", got, want)
					return
				}
			}
		})
	}
	for i := range 10 {
		s.build(texts[i%2])
		if status, body := s.do("POST", "/reload"); status != http.StatusOK {
			t.Errorf("status %d: %s", status, body)
		}
		if got := s.search("loom"); !slices.Equal(got, want[i%2]) {
			t.Errorf("after a reload: %v, want %v", got, want[i%2])
		}
	}
	close(done)
	clients.Wait()
	if err := os.Remove(s.index); err != nil {
		t.Fatal(err)
	}
	if status, _ := s.do("POST", "/reload"); status != http.StatusInternalServerError {
		t.Errorf("without a file: status %d", status)
	}
	if got := s.search("loom"); !slices.Equal(got, want[1]) {
		t.Errorf("after a reload that failed: %v", got)
	}
}

// TestErrors checks the HTTP status of errors.
func TestErrors(t *testing.T) {
	if status, body := serve(t, time.Nanosecond).do("GET", "/search?q=loom"); status != http.StatusGatewayTimeout {
		t.Errorf("late: status %d, %q", status, body)
	}
	for err, want := range map[error]int{
		fmt.Errorf("so: %w", &engine.Error{Code: engine.Overloaded, Err: errors.New("full")}): http.StatusTooManyRequests,
		&engine.Error{Code: engine.Deadline, Err: errors.New("late")}:                         http.StatusGatewayTimeout,
		errors.New("another"): http.StatusInternalServerError,
	} {
		w := httptest.NewRecorder()
		if fail(w, err); w.Code != want {
			t.Errorf("%v: status %d", err, w.Code)
		}
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestRun serves until its context ends.
func TestRun(t *testing.T) {
	s := serve(t, time.Minute)
	ctx, stop := context.WithCancel(t.Context())
	log.SetOutput(writer(func(line []byte) (int, error) { // run says that it listens
		stop()
		return os.Stderr.Write(line)
	}))
	defer log.SetOutput(os.Stderr)
	table := filepath.Join(filepath.Dir(s.index), "loans.hdb")
	if err := run(ctx, s.index, table, "localhost:0", time.Second); err != nil {
		t.Error(err)
	}
	absent := filepath.Join(t.TempDir(), "absent.hdl")
	if err := run(t.Context(), absent, table, "localhost:0", time.Second); err == nil || !strings.Contains(err.Error(), absent) {
		t.Errorf("without an index: %v", err)
	}
}

// makeTable builds a table with two rows.
func makeTable(t *testing.T, e *engine.Engine, dir string) *engine.Table {
	t.Helper()
	path := filepath.Join(dir, "loans.hdb")
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader("days,book\n31,a\n7,b\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(t.Context(), src, path, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenTable(t.Context(), path, engine.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
