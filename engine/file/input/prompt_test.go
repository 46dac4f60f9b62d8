//go:build unix

package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestFile: opening and reading a named pipe without a writer end with the context.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skip(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if f, err := File(ctx, path); f != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", f, err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString("content"); err != nil {
		t.Fatal(err)
	}
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	f, err := File(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, 7)
	if _, err := io.ReadFull(f, got); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	time.AfterFunc(10*time.Millisecond, stop)
	if n, err := f.Read(got); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes, %v", n, err)
	}
}
