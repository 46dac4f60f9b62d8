package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func get(path string, header ...string) *http.Response {
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

// TestHandler reads each file of the bundle as it is, compressed, and again by its tag.
func TestHandler(t *testing.T) {
	total := int64(0)
	for path, kind := range map[string]string{"": "text/html", "index.html": "text/html", "console.js": "text/javascript", "console.css": "text/css", "icon.svg": "image/svg+xml", "licenses.txt": "text/plain"} {
		plain := get(Path + path)
		text, err := io.ReadAll(plain.Body)
		if err != nil {
			t.Fatal(err)
		}
		if plain.StatusCode != http.StatusOK || !strings.HasPrefix(plain.Header.Get("Content-Type"), kind) || len(text) == 0 {
			t.Errorf("%q: %d %s, %d bytes", path, plain.StatusCode, plain.Header.Get("Content-Type"), len(text))
		}
		if p := plain.Header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'self';") || strings.Contains(p, "unsafe") {
			t.Errorf("%q: policy %q", path, p)
		}
		small := get(Path+path, "Accept-Encoding", "gzip")
		n, err := io.Copy(io.Discard, small.Body)
		if err != nil {
			t.Fatal(err)
		}
		if small.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%q is not compressed", path)
		}
		if path != "" {
			total += n
		}
		if again := get(Path+path, "If-None-Match", plain.Header.Get("Etag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%q with its tag: %d", path, again.StatusCode)
		}
	}
	if total > 150_000 {
		t.Errorf("the bundle takes %d bytes compressed, above 150,000", total)
	}
	for _, path := range []string{"absent", "../console.go", "dist/index.html"} {
		if got := get(Path + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%q: %d", path, got.StatusCode)
		}
	}
}

// TestPolicy looks for code and styles in the page itself, which the policy forbids.
func TestPolicy(t *testing.T) {
	text, err := dist.ReadFile("dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<script>", "<style", "style=", "onload=", "http://", "https://"} {
		if strings.Contains(string(text), part) {
			t.Errorf("index.html has %q", part)
		}
	}
}
