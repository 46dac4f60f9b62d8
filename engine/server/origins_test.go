package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestOrigins sends what a browser sends for pages of other origins: the preflight, then the request.
func TestOrigins(t *testing.T) {
	guard, token, _ := guarded(t)
	closed, open := run(t, Options{Access: guard}), run(t, Options{Access: guard, Origins: []string{"https://shop.example", "https://*.loom.example:8443"}})
	send := func(url, method, origin string, header ...string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url+search, strings.NewReader(`{"query":"blue"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(text)
	}
	for _, c := range []struct {
		url, origin string
		want        bool
	}{
		{open.url, "https://shop.example", true},
		{open.url, "https://a.b.loom.example:8443", true},
		{open.url, "https://a.loom.example", false},
		{open.url, "http://shop.example", false},
		{open.url, "https://shop.example.attacker.example", false},
		{open.url, "null", false},
		{closed.url, "https://shop.example", false},
	} {
		resp, _ := send(c.url, "OPTIONS", c.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")
		if h := resp.Header; c.want != (resp.StatusCode == http.StatusNoContent && h.Get("Access-Control-Allow-Origin") == c.origin &&
			h.Get("Access-Control-Allow-Headers") == "authorization,content-type" && h.Get("Access-Control-Allow-Credentials") == "") {
			t.Errorf("%s, preflight: %d, %v", c.origin, resp.StatusCode, h)
		}
		resp, text := send(c.url, "POST", c.origin, "Authorization", "Bearer "+token, "Content-Type", "application/json")
		if c.want != (resp.StatusCode == http.StatusOK && resp.Header.Get("Access-Control-Allow-Origin") == c.origin && strings.Contains(text, `"b"`)) ||
			!c.want && (resp.StatusCode != http.StatusForbidden || !strings.Contains(text, "another origin")) {
			t.Errorf("%s: %d, %v, %s", c.origin, resp.StatusCode, resp.Header, text)
		}
	}
	// A page sees the refusal of a request without a token.
	if resp, text := send(open.url, "POST", "https://shop.example"); resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("without a token: %d, %v, %s", resp.StatusCode, resp.Header, text)
	}
	for origin, want := range map[string]bool{"*": true, "https://a.example:1": true, "https://*.a.example": true, "a.example": false, "https://a.example/": false,
		"https://*.*": false, "https://": false, "": false, "https://u@a.example": false} {
		if err := checkOrigin(origin); (err == nil) != want {
			t.Errorf("%q: %v", origin, err)
		}
	}
}
