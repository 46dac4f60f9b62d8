//go:build unix

package auxiliary_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"heddle/engine/file/auxiliary"
)

func TestRead(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("file"), []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o644), os.Symlink("/dev/zero", at("link")), os.Symlink("file", at("other"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		limit int64
		want  error
	}{
		{"file", 5, nil}, {"other", 9, nil}, {"file", 4, auxiliary.ErrTooLarge}, {"pipe", 9, auxiliary.ErrNotRegular},
		{"link", 9, auxiliary.ErrNotRegular}, {".", 9, auxiliary.ErrNotRegular}, {"none", 9, fs.ErrNotExist},
	} {
		data, err := auxiliary.Read(at(c.name), c.limit)
		if !errors.Is(err, c.want) || err == nil && string(data) != "12345" {
			t.Errorf("%s, at most %d bytes: %q, %v", c.name, c.limit, data, err)
		}
	}
}

// TestReplaceSpecial: a pipe at the path gets the content and stays a pipe.
func TestReplaceSpecial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		data, err := os.ReadFile(path)
		read <- fmt.Sprint(string(data), err)
	}()
	if err := auxiliary.Replace(path, []byte("12345")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "12345<nil>" {
		t.Errorf("the reader of the pipe has %q", got)
	}
}
