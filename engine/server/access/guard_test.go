package access_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/server/access"
	"heddle/engine/server/access/accesstest"
)

// TestCheck sends each kind of token to each kind of route, before and after the file changes.
func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	reader, readLine := accesstest.Token(t, "reader", access.Read)
	admin, adminLine := accesstest.Token(t, "admin", access.Admin)
	accesstest.Replace(t, file, readLine+adminLine)
	g, err := access.Open(access.Files{Tokens: file})
	if err != nil {
		t.Fatal(err)
	}
	check := func(header string, need access.Role, caller string, code engine.Code) {
		t.Helper()
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		if got, err := g.Check(r, need); engine.CodeOf(err) != code || got != caller {
			t.Errorf("%.10q for %s: caller %s, %v; want %s, %s", header, need, got, err, caller, code)
		}
	}
	const host = "192.0.2.1"
	check("", access.None, host, engine.OK)
	check("", access.Read, host, engine.Unauthenticated)
	check("Bearer ", access.Read, host, engine.Unauthenticated)
	check("Basic "+reader, access.Read, host, engine.Unauthenticated)
	check("Bearer "+strings.ToUpper(reader), access.Read, host, engine.Unauthenticated)
	check("bearer "+reader, access.Read, "reader", engine.OK)
	check("Bearer "+reader, access.Admin, "reader", engine.Forbidden)
	check("Bearer "+admin, access.Admin, "admin", engine.OK)
	check("Bearer "+admin, access.Read, "admin", engine.OK)

	accesstest.Replace(t, file, readLine)
	if err := g.Reload(); err != nil {
		t.Fatal(err)
	}
	check("Bearer "+admin, access.Read, host, engine.Unauthenticated)
	accesstest.Replace(t, file, "reader")
	if err := g.Reload(); engine.CodeOf(err) != engine.InvalidOption || !strings.Contains(err.Error(), file+": line 1: ") {
		t.Errorf("a damaged file: %v", err)
	}
	check("Bearer "+reader, access.Read, "reader", engine.OK)
}

// TestClosed checks which combinations of files identify callers.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	a := accesstest.NewAuthority(t, dir, "authority")
	cert, key := a.Sign("server")
	tokens := filepath.Join(dir, "tokens")
	_, line := accesstest.Token(t, "reader", access.Read)
	accesstest.Replace(t, tokens, line)
	for _, c := range []struct {
		files          access.Files
		service, admin bool
	}{
		{access.Files{}, false, false},
		{access.Files{Cert: cert, Key: key}, false, false},
		{access.Files{Tokens: tokens}, true, true},
		{access.Files{Cert: cert, Key: key, ClientCA: a.File}, true, false},
		{access.Files{Cert: cert, Key: key, AdminCA: a.File}, false, true},
	} {
		g, err := access.Open(c.files)
		if err != nil {
			t.Fatal(err)
		}
		if g.Closed(false) != c.service || g.Closed(true) != c.admin || (g.TLS(false) != nil) != (c.files.Cert != "") {
			t.Errorf("%+v: service %v, administration %v", c.files, g.Closed(false), g.Closed(true))
		}
	}
	absent, text := filepath.Join(dir, "absent"), filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []access.Files{
		{Tokens: absent}, {Tokens: text}, {Cert: cert}, {Key: key}, {Cert: cert, Key: absent}, {Cert: text, Key: key}, {ClientCA: a.File}, {AdminCA: a.File},
		{Cert: cert, Key: key, ClientCA: text}, {Cert: cert, Key: key, AdminCA: absent},
	} {
		if _, err := access.Open(f); engine.CodeOf(err) != engine.InvalidOption {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
