//go:build unix

package access_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/server/access"
	"heddle/engine/server/access/accesstest"
)

// TestReloads reads a file of tokens slowly, and its successor meanwhile. A token that the successor lacks stays withdrawn.
func TestReloads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	withdrawn, withdrawnLine := accesstest.Token(t, "withdrawn", access.Read)
	_, line := accesstest.Token(t, "reader", access.Read)
	accesstest.Replace(t, file, withdrawnLine+line)
	g, err := access.Open(access.Files{Tokens: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	reload := func() { ended <- g.Reload() }
	go reload()
	slow, err := os.OpenFile(file, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	accesstest.Replace(t, file, line)
	go reload()
	time.Sleep(20 * time.Millisecond) // time for the second call
	_, err = slow.WriteString(withdrawnLine + line)
	if err := errors.Join(err, slow.Close(), <-ended, <-ended); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+withdrawn)
	if _, err := g.Check(r, access.Read); engine.CodeOf(err) != engine.Unauthenticated {
		t.Errorf("a withdrawn token: %v", err)
	}
}
