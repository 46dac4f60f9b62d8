package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// askAs returns the status of a GET with a header Host.
func (r *running) askAs(host string, admin bool, path string) int {
	h := r.Handler()
	if admin {
		h = r.AdminHandler()
	}
	req := httptest.NewRequest("GET", path, nil)
	req.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Code
}

// TestRebinding sends the Host headers of web pages to a server without tokens.
func TestRebinding(t *testing.T) {
	r := run(t, Options{Hosts: []string{"Search.example", "*.internal"}})
	for host, allowed := range map[string]bool{
		"127.0.0.1:7700": true, "[::1]:7700": true, "localhost": true, "LOCALHOST:80": true, "a.localhost": true, "10.0.0.7": true, "search.example:7700": true, "search.example.": true, "a.b.internal": true,
		"evil.example": false, "evil.example:7700": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "internal": false, "asearch.example": false, "evil-localhost": false, "a.internal.evil.example": false,
	} {
		for path, admin := range map[string]bool{"/v1/indexes": false, "/openapi.json": false, "/debug/pprof/cmdline": true, "/metrics": true, "/v1/admin/config": true, "/livez": false} {
			got := r.askAs(host, admin, path)
			if want := allowed || path == "/livez"; (got == http.StatusOK) != want || !want && got != http.StatusForbidden {
				t.Errorf("Host %s, %s: %d, allowed %v", host, path, got, want)
			}
		}
	}
	guard, _, _ := guarded(t)
	closed := run(t, Options{Access: guard})
	if got := closed.askAs("evil.example", false, "/v1/indexes"); got != http.StatusUnauthorized {
		t.Errorf("with tokens: %d", got)
	}
}
