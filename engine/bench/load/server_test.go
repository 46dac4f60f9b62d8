package load

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/calibrate"
	"heddle/engine/server"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// handler returns the handler of a server with the index "looms" and the table "loans", and the path
// of the index.
func handler(t *testing.T) (h http.Handler, index string) {
	t.Helper()
	dir := t.TempDir()
	docs, index, table := filepath.Join(dir, "looms.tsv"), filepath.Join(dir, "looms.hdl"), filepath.Join(dir, "loans.hdb")
	rows, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader("days\n31\n7\n60\n")})
	if err != nil {
		t.Fatal(err)
	}
	_, tableErr := tablebuild.Build(t.Context(), rows, table, tablebuild.Options{})
	if err := errors.Join(tableErr, rows.Close(), os.WriteFile(docs, []byte("a\tthe red loom\nb\tthe blue loom\nc\ta red thread\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Build(t.Context(), index, []string{docs}, build.Options{Format: build.Text}); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := server.New(e, server.Options{Indexes: map[string]string{"looms": index}, Tables: map[string]string{"loans": table}, Limits: server.Limits{K: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.Handler(), index
}

func connected(t *testing.T, o Connection, url string) *api.Client {
	t.Helper()
	c, err := o.Client(url)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestKinds puts a load of each kind on a real server, over both versions of HTTP.
func TestKinds(t *testing.T) {
	h, index := handler(t)
	web := httptest.NewUnstartedServer(h)
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	defer web.Close()
	f, err := hdl.Open(index)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	drawn, err := calibrate.Draw(f.Source(), f.Term)
	if err != nil {
		t.Fatal(err)
	}
	var topics []string
	for _, terms := range drawn {
		topics = append(topics, strings.Join(terms, " "))
	}
	for _, w := range []Work{
		{Index: "looms", Kind: Search, Topics: topics, Literal: true, K: 3, Batch: 1},
		{Index: "looms", Kind: Match, Topics: []string{"red OR loom"}, Batch: 1},
		{Index: "looms", Kind: Count, Topics: []string{"red", "+loom -red"}, Mode: "and", Batch: 1},
		{Index: "looms", Kind: Search, Topics: topics, K: 5, Batch: 7},
		{Index: "looms", Kind: Match, Topics: topics, Batch: 3},
		{Index: "looms", Kind: Count, Topics: topics, Mode: "and", K: 5, Batch: 4},
		{Table: "loans", Kind: Count, Topics: []string{"days > 30"}, Batch: 1},
	} {
		for _, http2 := range []bool{false, true} {
			var levels []*Level
			_, err := Run(t.Context(), connected(t, Connection{HTTP2: http2}, web.URL), &w, Options{Rate: float64(100 * w.Batch), Length: 300 * time.Millisecond, Timeout: time.Minute, Verify: true,
				Report: func(l *Level) error { levels = append(levels, l); return nil }})
			if err != nil || len(levels) != 1 {
				t.Fatalf("%+v: %d levels, %v", w, len(levels), err)
			}
			l := levels[0]
			if l.Queries != 30*w.Batch || l.Answered != l.Queries || len(l.Errors) > 0 || l.Latency.P50 <= 0 || l.Server.P99 <= 0 || l.Server.P99 > l.Latency.Max || l.Queued.Max > l.Server.Max {
				t.Errorf("%s of %s%s, HTTP/2 %t: %+v", w.Kind, w.Index, w.Table, http2, *l)
			}
		}
	}
	for code, w := range map[string]Work{
		"invalid_option": {Index: "looms", Kind: Search, Topics: []string{"red"}, K: 6, Batch: 1},
		"invalid_query":  {Index: "looms", Kind: Search, Topics: []string{"red", "red OR"}, Batch: 2},
	} {
		var l *Level
		_, err := Run(t.Context(), connected(t, Connection{}, web.URL), &w, Options{Rate: 100, Length: 100 * time.Millisecond, Report: func(x *Level) error { l = x; return nil }})
		if err != nil || l.Errors[code] != l.Queries/w.Batch {
			t.Errorf("%s: %+v, %v", code, l, err)
		}
	}
	for _, w := range []Work{{Index: "absent", Batch: 1}, {Table: "absent", Batch: 1}} {
		if _, err := Run(t.Context(), connected(t, Connection{}, web.URL), &w, Options{}); engine.CodeOf(err) != engine.NotFound {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

// TestConnection reaches a server with TLS and a token.
func TestConnection(t *testing.T) {
	h, _ := handler(t)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	web.EnableHTTP2 = true
	web.StartTLS()
	defer web.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &Work{Index: "looms", Kind: Count, Topics: []string{"red"}, Batch: 1}
	opt := Options{Rate: 100, Length: 50 * time.Millisecond, Timeout: time.Minute}
	for _, http2 := range []bool{false, true} {
		if _, err := Run(t.Context(), connected(t, Connection{Token: "secret", CA: ca, HTTP2: http2}, web.URL), w, opt); err != nil {
			t.Errorf("HTTP/2 %t: %v", http2, err)
		}
	}
	if _, err := Run(t.Context(), connected(t, Connection{CA: ca}, web.URL), w, opt); err == nil || !strings.Contains(err.Error(), "unauthenticated") {
		t.Errorf("without a token: %v", err)
	}
	_, err := Run(t.Context(), connected(t, Connection{Token: "secret"}, web.URL), w, opt)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); !unknown && (err == nil || !strings.Contains(err.Error(), "unknown authority")) {
		t.Errorf("without the authority: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Connection{{CA: "absent.pem"}, {CA: empty}, {Cert: empty, Key: empty}} {
		if _, err := o.Client(web.URL); engine.CodeOf(err) != engine.InvalidOption {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
