// Package mappedtest makes mapped files that have lost their pages, for tests.
package mappedtest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"heddle/engine/file/mapped"
)

// ErrLost is the cause of the faults of Words.
var ErrLost = errors.New("lost page")

// Words maps a file of n words and truncates it to the first keep bytes. A read behind the
// page of byte keep faults. The end of the test unmaps the file.
func Words(t testing.TB, n int, keep int64) []uint32 {
	t.Helper()
	words, _ := Mapping(t, n, keep)
	return words
}

// Mapping is Words with the function that removes the mapping from package mapped.
func Mapping(t testing.TB, n int, keep int64) (words []uint32, remove func()) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows truncates no file that is mapped")
	}
	path := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(path, make([]byte, 4*n), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		t.Skipf("files cannot be mapped here: %v", err)
	}
	remove = mapped.Add(m, 0, path, info, func(int64, string) error { return ErrLost })
	t.Cleanup(func() {
		remove()
		if err := m.Unmap(); err != nil {
			t.Error(err)
		}
	})
	if err := os.Truncate(path, keep); err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(m))), n), remove
}
