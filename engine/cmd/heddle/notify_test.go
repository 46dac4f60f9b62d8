//go:build !core

package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotify: the server tells systemd that it is ready, and an address without a listener ends it.
func TestNotify(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	path := filepath.Join(t.TempDir(), "notify")
	t.Setenv("NOTIFY_SOCKET", path)
	if r := heddleWith(t, "", append(backendEnv(), "NOTIFY_SOCKET="+path), "serve", "--dev", ".", "--listen", "127.0.0.1:0", "--drain-delay", "0s"); r.code != exitFailure || !strings.Contains(r.stderr, "NOTIFY_SOCKET") {
		t.Errorf("nobody listens: %+v", r)
	}
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	s := serve(t, "--dev", ".", "--drain-delay", "0s")
	state := make([]byte, 100)
	n, err := systemd.Read(state)
	if err != nil || string(state[:n]) != "READY=1" {
		t.Errorf("%q, %v", state[:n], err)
	}
	s.end()
}
