package transport

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestTokenChanges: requests carry the token that the file has, and the last sound one while the file
// has an error or is absent.
func TestTokenChanges(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Authorization")) }))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "token")
	replace := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".next", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".next", path); err != nil {
			t.Fatal(err)
		}
	}
	replace("first\n")
	client, err := Identity{Token: path}.Client(&http.Client{Transport: new(http.Transport)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	expect := func(want string) {
		t.Helper()
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	expect("Bearer first")
	replace("other") // of the same length
	expect("Bearer other")
	replace("two words")
	expect("Bearer other")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("Bearer other")
	replace("third")
	expect("Bearer third")
	replace("")
	if _, err := (Identity{Token: path}).Client(&http.Client{Transport: new(http.Transport)}); err == nil {
		t.Error("an empty file is taken at the start")
	}
}
