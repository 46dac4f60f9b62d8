package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/server/access"
	"heddle/engine/server/access/accesstest"
	"heddle/engine/server/monitor"
	"heddle/engine/server/problem"
)

const search = "/v1/indexes/looms/search"

// TestTokens calls both listeners with each kind of token, by plain HTTP and gRPC.
func TestTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	reader, line := accesstest.Token(t, "reader", access.Read)
	admin, adminLine := accesstest.Token(t, "admin", access.Admin)
	accesstest.Replace(t, file, line+adminLine)
	guard, err := access.Open(access.Files{Tokens: file})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, Options{Access: guard})
	url, adminURL, done := r.listen(t.Context())
	const drain = "/v1/admin/drain"
	for _, c := range []struct {
		server, method, path, token string
		status                      int
		code                        string
	}{
		{url, "POST", search, "", http.StatusUnauthorized, "unauthenticated"},
		{url, "POST", search, "other", http.StatusUnauthorized, "unauthenticated"},
		{url, "POST", "/v1/indexes/looms/search/batch", "", http.StatusUnauthorized, "unauthenticated"},
		{url, "GET", "/openapi.json", "", http.StatusUnauthorized, "unauthenticated"},
		{url, "GET", "/v1/indexes/looms/documents/ready", "", http.StatusUnauthorized, "unauthenticated"},
		{url, "GET", "/v1/indexes/looms/documents/a%2Fready", "", http.StatusUnauthorized, "unauthenticated"},
		{url, "GET", "/v1/absent", "", http.StatusUnauthorized, "unauthenticated"},
		{adminURL, "POST", drain, "", http.StatusUnauthorized, "unauthenticated"},
		{adminURL, "POST", drain, reader, http.StatusForbidden, "forbidden"},
		{adminURL, "POST", api.AdminServiceDrainProcedure, reader, http.StatusForbidden, "forbidden"},
		{url, "GET", "/livez", "", http.StatusOK, ""},
		{url, "GET", "/readyz", "", http.StatusOK, ""},
		{url, "GET", "/v1/indexes/looms/ready", "", http.StatusOK, ""},
		{url, "GET", "/v1/indexes", reader, http.StatusOK, ""},
		{url, "POST", search, admin, http.StatusOK, ""},
		{adminURL, "POST", "/v1/admin/indexes/looms/reload", admin, http.StatusOK, ""},
	} {
		r.url = c.server
		header := "X-None: "
		if c.token != "" {
			header = "Authorization: Bearer " + c.token
		}
		if c.status == http.StatusOK {
			body := `{"query":"red"}`
			if c.server == adminURL {
				body = ""
			}
			if got := r.do(c.method, c.path, body, header); got.status != c.status {
				t.Errorf("%s %.10q: %d %s", c.path, c.token, got.status, got.body)
			}
			continue
		}
		got, p := r.problem(c.method, c.path, `{"query":"red"}`, header)
		if got.status != c.status || p.Code != c.code || (got.header.Get("WWW-Authenticate") != "") != (c.status == http.StatusUnauthorized) || p.RequestID == "" {
			t.Errorf("%s %.10q: %d %s", c.path, c.token, got.status, got.body)
		}
	}

	conn := dial(t, url)
	ask := &api.SearchRequest{Index: "looms", Query: "red"}
	if err := conn.Invoke(t.Context(), api.IndexServiceSearchProcedure, ask, &api.SearchResponse{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("gRPC without a token: %v", err)
	}
	authorized := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+reader)
	if err := conn.Invoke(authorized, api.IndexServiceSearchProcedure, ask, &api.SearchResponse{}); err != nil {
		t.Errorf("gRPC: %v", err)
	}
	client, err := api.NewClient(url, api.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Search(t.Context(), ask); engine.CodeOf(err) != engine.Unauthenticated {
		t.Errorf("Go client without a token: %v", err)
	}
	if client, err = api.NewClient(url, api.ClientOptions{Token: reader}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Search(t.Context(), ask); err != nil {
		t.Errorf("Go client: %v", err)
	}

	accesstest.Replace(t, file, adminLine)
	if err := guard.Reload(); err != nil {
		t.Fatal(err)
	}
	r.url = url
	if got := r.do("POST", search, `{"query":"red"}`, "Authorization: Bearer "+reader); got.status != http.StatusUnauthorized {
		t.Errorf("a token that is gone: %d", got.status)
	}
	r.Drain()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestTLS serves with certificates, asks clients for theirs, and renews its own.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	a, other := accesstest.NewAuthority(t, dir, "authority"), accesstest.NewAuthority(t, dir, "other")
	cert, key := a.Sign("server")
	guard, err := access.Open(access.Files{Cert: cert, Key: key, ClientCA: a.File})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, Options{Access: guard})
	url, _, done := r.listen(t.Context())
	url = strings.Replace(url, "http:", "https:", 1)
	known := a.Client(a.Sign("known"))
	stranger := a.Client(other.Sign("stranger"))
	get := func(c *tls.Config, http2 bool) (*http.Response, error) {
		transport := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: http2}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get(url + "/v1/indexes")
		if err == nil {
			resp.Body.Close()
		}
		return resp, err
	}
	for _, http2 := range []bool{false, true} {
		if resp, err := get(known.Clone(), http2); err != nil || resp.StatusCode != http.StatusOK || (resp.ProtoMajor == 2) != http2 {
			t.Errorf("HTTP/2 %v: %+v, %v", http2, resp, err)
		}
		for name, c := range map[string]*tls.Config{"no certificate": a.Client(), "a certificate of another authority": stranger, "a stranger's trust": other.Client(a.Sign("b"))} {
			if _, err := get(c.Clone(), http2); err == nil {
				t.Errorf("%s is accepted", name)
			}
		}
	}
	conn, err := grpc.NewClient(strings.TrimPrefix(url, "https://"), grpc.WithTransportCredentials(credentials.NewTLS(known.Clone())))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Index: "looms", Query: "red"}, &api.SearchResponse{}); err != nil {
		t.Errorf("gRPC: %v", err)
	}

	before, err := get(known.Clone(), true)
	if err != nil {
		t.Fatal(err)
	}
	a.Sign("server")
	if err := guard.Reload(); err != nil {
		t.Fatal(err)
	}
	after, err := get(known.Clone(), true)
	if err != nil || after.TLS.PeerCertificates[0].Equal(before.TLS.PeerCertificates[0]) {
		t.Errorf("the certificate is the old one, %v", err)
	}
	if err := conn.Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Index: "looms", Query: "red"}, &api.SearchResponse{}); err != nil {
		t.Errorf("gRPC on a connection from before: %v", err)
	}
	r.Drain()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestFlood opens more connections than the server takes. Its clients keep theirs, and others are
// served again when the flood ends. A connection that says nothing, or half of a request, ends.
func TestFlood(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		r := runAt(t, newPipes(), engine.Options{Backend: "host"}, Options{Limits: Limits{Connections: 4}, Stall: 200 * time.Millisecond})
		at := newPipes()
		done := r.listenAt(t.Context(), at)
		if got := r.do("POST", search, `{"query":"red"}`); got.status != http.StatusOK { // the connection stays open
			t.Fatalf("%d %s", got.status, got.body)
		}
		var flood []net.Conn
		for i := range 20 {
			c, err := at.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if i%2 == 1 {
				fmt.Fprint(c, "GET /livez HTTP/1.1\r\nHo")
			}
			flood = append(flood, c)
		}
		if got := r.do("POST", search, `{"query":"red"}`); got.status != http.StatusOK {
			t.Errorf("a client amid a flood: %d %s", got.status, got.body)
		}
		for _, c := range flood {
			io.Copy(io.Discard, c) // the server closes each of them
		}
		if n, err := testutil.GatherAndCount(r.registry, "heddle_server_refused_total"); err != nil || n != 1 {
			t.Errorf("%d counters of refused connections, %v", n, err)
		}
		r.client.CloseIdleConnections()
		resp, err := r.client.Get(r.url + "/livez")
		if err != nil {
			t.Fatalf("after the flood: %v", err)
		}
		resp.Body.Close()
		r.Drain()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestWaitingConnections: connections without a request keep no client out; connections with a
// request do.
func TestWaitingConnections(t *testing.T) {
	g := newGate()
	r := runOn(t, engine.Options{Backends: []plan.Backend{g}}, Options{Limits: Limits{Connections: 4}}) // no time-out ends a connection
	url, _, done := r.listen(t.Context())
	dialed := func(text string) net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		io.WriteString(c, text)
		return c
	}
	const alive = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
	answered := func(c net.Conn) bool {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil && resp.StatusCode == http.StatusOK
	}
	for i := range 4 {
		dialed([]string{"", "GET /livez HTTP/1.1\r\nHo"}[i%2])
	}
	for range 10 {
		if !answered(dialed(alive)) {
			t.Fatal("connections without a request keep a client out")
		}
	}
	const body = `{"query":"red"}`
	for i := range 4 {
		dialed(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", search, len(body), body))
		for r.gate.Running() <= i { // up to the time-out of the test
			time.Sleep(time.Millisecond)
		}
	}
	if answered(dialed(alive)) {
		t.Error("a connection above the limit is served while all others have a request")
	}
	close(g.closed)
	r.Drain()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestSetLimits changes the limits of a server.
func TestSetLimits(t *testing.T) {
	r := run(t, Options{})
	if got := r.do("POST", search, `{"query":"red","k":5}`); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if err := r.SetLimits(Limits{K: 4, Body: 100, CallerRate: 1}); err != nil {
		t.Fatal(err)
	}
	if got, p := r.problem("POST", search, `{"query":"red","k":5}`); p.Limit != "k" || p.Max != 4 {
		t.Errorf("k: %d %+v", got.status, p)
	}
	long := strings.Repeat("a", 200)
	if got, p := r.problem("POST", search, `{"query":"`+long+`"}`); p.Limit != "body" || p.Max != 100 {
		t.Errorf("body: %d %+v", got.status, p)
	}
	if err := dial(t, r.url).Invoke(t.Context(), api.IndexServiceSearchProcedure, &api.SearchRequest{Index: "looms", Query: long}, &api.SearchResponse{}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("body, gRPC: %v", err)
	}
	for range 3 { // the second of them is above the rate, unless a second has passed
		if got := r.do("POST", "/v1/indexes/looms/search/batch", strings.Repeat(`{"query":"red"}`+"\n", 5)); got.status == http.StatusTooManyRequests {
			if after := got.header.Get("Retry-After"); after < "1" || after > "6" || !strings.Contains(got.body, `"limit":"caller_rate","max":1`) {
				t.Errorf("Retry-After %q, %s", after, got.body)
			}
			if err := r.SetLimits(Limits{K: -1}); engine.CodeOf(err) != engine.InvalidOption {
				t.Errorf("a wrong limit: %v", err)
			}
			return
		}
	}
	t.Error("no request is above the rate")
}

// TestCallers: a caller at its limit does not hinder another one.
func TestCallers(t *testing.T) {
	s, err := New(nil, Options{Limits: Limits{CallerConcurrency: 1}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(caller string) context.Context {
		return monitor.With(t.Context(), &monitor.Request{Caller: caller})
	}
	err = s.inSlot(of("a"), 1, 0, func() error {
		if err := s.inSlot(of("b"), 1, 0, func() error { return nil }); err != nil {
			t.Errorf("another caller: %v", err)
		}
		return s.inSlot(of("a"), 1, 0, func() error { return nil })
	})
	if limit, ok := err.(*problem.LimitError); !ok || limit.Limit != "caller_concurrency" || limit.Max != 1 {
		t.Errorf("a second request of a caller: %v", err)
	}
}

// TestSlots: a request gives its slot back, however it ends.
func TestSlots(t *testing.T) {
	r := run(t, Options{Limits: Limits{Concurrency: 1}})
	for where, want := range map[string]int{"days > 30": http.StatusOK, "hours > 30": http.StatusBadRequest} {
		for path, body := range map[string]string{"count": "", "select": "", "aggregate": `,"select":"sum(days)"`} {
			for range 2 {
				if got := r.do("POST", "/v1/tables/loans/"+path, fmt.Sprintf(`{"where":%q%s}`, where, body)); got.status != want {
					t.Errorf("%s where %s: %d %s", path, where, got.status, got.body)
				}
			}
		}
	}
	for range 2 {
		func() {
			defer func() { recover() }()
			if err := r.inSlot(t.Context(), 1, 0, func() error { panic("of the test") }); err != nil {
				t.Error(err)
			}
		}()
	}
	if n := r.gate.Queries(); n != 0 {
		t.Errorf("%d queries run", n)
	}
}
