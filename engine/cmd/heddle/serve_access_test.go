//go:build !core

package main

import (
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"heddle/engine/server/access/accesstest"
)

// TestServeTokens creates tokens, serves with them, and changes tokens, limits and the level of
// messages while the server runs: by its look at the files, and by SIGHUP.
func TestServeTokens(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\nb\tthe earth\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	token := func(name string) string {
		t.Helper()
		return strings.TrimSpace(must(t, "serve", "token", "--tokens", "tokens", name))
	}
	first := token("first")
	if text, err := os.ReadFile("tokens"); err != nil || strings.Contains(string(text), first) || !strings.HasPrefix(string(text), "first read ") {
		t.Errorf("file %q, %v", text, err)
	}
	if r := heddle(t, "serve", "token", "--tokens", "tokens", "first"); r.code != exitUsage || !strings.Contains(r.stderr, "tokens: line 2: field 1: an earlier line has the name first") {
		t.Errorf("a second token of the same name: %+v", r)
	}
	const settings = "[server]\ntokens = \"tokens\"\nindexes = \"books=books.hdl\"\ndrain_delay = \"0s\"\nadmin = \"127.0.0.1:0\"\n"
	writeFile(t, "h.toml", settings+"poll = \"10ms\"\n")
	s := serve(t, "--config", "h.toml", "--admin", "127.0.0.1:0")
	if got := s.count("earth"); !strings.Contains(got, `"code":"unauthenticated"`) {
		t.Errorf("without a token: %s", got)
	}
	const two = `{"count":2,"documents":[]`
	if s.token = first; s.count("earth") != two {
		t.Errorf("with a token: %s", s.count("earth"))
	}
	second := token("second")
	s.token = second
	for s.count("earth") != two { // up to the time-out of the test
	}
	writeFile(t, "h.toml.new", settings+"poll = \"10ms\"\nmax_k = 3\n[log]\nlevel = \"info\"\n")
	if err := os.Rename("h.toml.new", "h.toml"); err != nil {
		t.Fatal(err)
	}
	const four = `{"query":"earth","k":4}`
	for !strings.Contains(s.ask("/v1/indexes/books/search", four), `"limit":"k","max":3`) {
	}
	url := s.url
	s.url = s.admin
	s.token = strings.TrimSpace(must(t, "serve", "token", "--tokens", "tokens", "--role", "admin", "operator"))
	for !strings.Contains(s.get("/v1/admin/config"), `{"key":"server.max_k","value":"3","origin":"h.toml:7"}`) {
	}
	s.token = second
	if got := s.ask("/v1/admin/drain", ""); !strings.Contains(got, "token second has the role read, and the request needs admin") {
		t.Errorf("administration with role read: %s", got)
	}
	s.url = url
	if said := s.end(); !strings.Contains(said, "reloaded") {
		t.Errorf("messages of level info: %q", said)
	}

	writeFile(t, "h.toml", settings+"poll = \"0s\"\n")
	s = serve(t, "--config", "h.toml", "--admin", "127.0.0.1:0")
	if s.token = first; s.count("earth") != two {
		t.Errorf("with a token: %s", s.count("earth"))
	}
	writeFile(t, "tokens", "damaged\n")
	writeFile(t, "h.toml", settings+"max_k = 3\n")
	s.signal(syscall.SIGHUP)
	for !strings.Contains(s.ask("/v1/indexes/books/search", four), `"limit":"k","max":3`) {
	}
	if said := s.end(); !strings.Contains(said, "tokens: line 1: want a name, a role and a hash") {
		t.Errorf("messages beside a damaged file: %q", said)
	}
}

// TestServeTLS serves with a certificate, which is renewed while the server runs.
func TestServeTLS(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	authority := accesstest.NewAuthority(t, t.TempDir(), "authority")
	cert, key := authority.Sign("server")
	writeFile(t, "h.toml", "[server]\npoll = \"10ms\"\ndrain_delay = \"0s\"\n")
	s := serve(t, "--config", "h.toml", "--index", "books=books.hdl", "--cert", cert, "--key", key, "--client-ca", authority.File)
	shown := func() *x509.Certificate {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: authority.Client(authority.Sign("client")), DisableKeepAlives: true}}
		resp, err := client.Get(s.url + "/v1/indexes/books")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.TLS.PeerCertificates[0]
	}
	first := shown()
	authority.Sign("server")   // replaces both files, one after the other
	for shown().Equal(first) { // up to the time-out of the test
	}
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: authority.Client()}}
	if _, err := stranger.Get(s.url + "/livez"); err == nil {
		t.Error("a client without a certificate is served")
	}
	s.end()
}
