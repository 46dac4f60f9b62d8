package transport

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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
	replace("other") // a secret of the same length
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

// TestAccept: a URL that anyone can announce gets an identity only if its host is trusted, of this machine, or
// has a certificate that TLS checks.
func TestAccept(t *testing.T) {
	open, token, cert := Identity{}, Identity{Token: "x"}, Identity{Cert: "x", Key: "x", CA: "x"}
	trusting := Identity{Token: "x", Trusted: []string{"n1.internal", "10.0.0.0/24", "2001:db8::/32", "192.0.2.7"}}
	for _, c := range []struct {
		who  Identity
		url  string
		want bool
	}{
		{open, "http://10.0.0.5:7700", true}, {open, "https://evil.example", true},
		{open, "ftp://10.0.0.5", false}, {open, "10.0.0.5:7700", false}, {open, "http://:7700", false},
		{token, "http://127.0.0.1:7700", true}, {token, "http://localhost:7700", true}, {token, "http://[::1]:7700", true},
		{token, "http://10.0.0.5:7700", false}, {token, "https://10.0.0.5:7700", false}, {token, "http://localhost.evil.example", false},
		{token, "http://127.0.0.1@evil.example", false}, {token, "http://127.0.0.1.evil.example", false}, {token, "http://2130706433", false},
		{cert, "https://10.0.0.5:7700", true}, {cert, "http://10.0.0.5:7700", false},
		{trusting, "http://10.0.0.5:7700", true}, {trusting, "http://10.0.1.5:7700", false}, {trusting, "http://[2001:db8::1]:7700", true},
		{trusting, "http://192.0.2.7", true}, {trusting, "http://192.0.2.8", false}, {trusting, "http://N1.internal:1", true},
		{trusting, "http://xn1.internal", false}, {trusting, "https://evil.example", false},
		{Identity{Token: "x", Configured: true}, "http://10.0.1.5:7700", true},
	} {
		u, err := url.Parse(c.url)
		if err == nil {
			err = c.who.Accept(u)
		}
		if (err == nil) != c.want {
			t.Errorf("%+v, %s: %v", c.who, c.url, err)
		}
	}
}

// TestTokenToStrangers: no request goes to a host that is not trusted, also not by a redirection, or with the
// certificate of a foreign authority.
func TestTokenToStrangers(t *testing.T) {
	var seen []string
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Host+" "+r.Header.Get("Authorization"))
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://evil.example/", http.StatusTemporaryRedirect)
		}
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	secure.Config.ErrorLog = nil
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := Identity{Token: path, Trusted: []string{"node.example"}}.Client(&http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, plain.Listener.Addr().String())
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	if _, err := client.Post("http://evil.example/", "text/plain", strings.NewReader("x")); err == nil || !strings.Contains(err.Error(), "add evil.example to cluster.trusted") || len(seen) > 0 {
		t.Errorf("%v, the stranger saw %q", err, seen)
	}
	resp, err := client.Get("http://node.example/away")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTemporaryRedirect || len(seen) != 1 || seen[0] != "node.example Bearer secret" {
		t.Errorf("status %d, hosts saw %q", resp.StatusCode, seen)
	}
	u, err := url.Parse(secure.URL) // its authority is not CA
	if err != nil {
		t.Fatal(err)
	}
	seen = nil
	foreign := &http.Client{Transport: &http.Transport{TLSClientConfig: new(tls.Config)}}
	if foreign, err = (Identity{Token: path, Trusted: []string{u.Hostname()}}).Client(foreign); err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.Get(secure.URL); err == nil || len(seen) > 0 {
		t.Errorf("%v, the stranger saw %q", err, seen)
	}
}
