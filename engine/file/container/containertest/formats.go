package containertest

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"heddle/engine/file/container"
)

// The functions below test every format. The package of a format gives Open, and a
// function that opens a file in memory, with its checksums or without.

// Truncated checks that no beginning of data, a good file, opens, and none that goes on
// behind it.
func Truncated[F any](t testing.TB, data []byte, open func(path string) (F, error), fromBytes func(path string, data []byte, deep bool) (F, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	for n := range data {
		for _, deep := range []bool{true, false} {
			_, err := fromBytes(path, data[:n], deep)
			WantCorrupt(t, err, path)
		}
	}
	const page = container.PageSize
	for _, n := range []int{0, 1, 8, page - 1, page, page + 1, len(data) - 1} {
		if err := os.WriteFile(path, data[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := open(path)
		WantCorrupt(t, err, path)
	}
	for _, more := range []int{1, page} {
		_, err := fromBytes(path, append(data[:len(data):len(data)], make([]byte, more)...), true)
		WantCorrupt(t, err, path)
	}
}

// OpenErrors opens data of another format, and data, a good file, with the number of the
// next version.
func OpenErrors[F any](t testing.TB, format *container.Format, data []byte, open func(path string) (F, error), fromBytes func(path string, data []byte, deep bool) (F, error)) {
	t.Helper()
	dir := t.TempDir()
	if _, err := open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := open(dir); err == nil || errors.Is(err, container.ErrCorrupt) {
		t.Errorf("folder: %v", err)
	}
	other := filepath.Join(dir, "other")
	for _, content := range []string{"In the beginning", "\x89HDX\r\n\x1a\n"} {
		if err := os.WriteFile(other, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := open(other)
		if c := WantCorrupt(t, err, other); !strings.Contains(c.Reason, "not an "+format.Suffix+" file") {
			t.Errorf("%q: %v", content, err)
		}
	}
	binary.LittleEndian.PutUint32(data[8:], format.Version+1)
	Repair(data)
	if _, err := fromBytes("x", data, true); !errors.Is(err, container.ErrVersion) || errors.Is(err, container.ErrCorrupt) {
		t.Errorf("next version: %v", err)
	}
}

// Faults lets every single operation on the disk fail once while write replaces the file
// at path. The error must come out, and check sees the old file or, after the rename, the
// complete replacement; nothing else remains. At the end write succeeds, after at least
// the given number of operations.
func Faults(t testing.TB, path string, least int, write func(d container.Disk) error, check func(written bool)) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for fail := 0; ; fail++ {
		d := &Disk{Fail: fail}
		err := write(d)
		if d.Count <= fail {
			if err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			if fail < least {
				t.Errorf("only %d operations", fail)
			}
			check(true)
			return
		}
		if !errors.Is(err, ErrFault) {
			t.Fatalf("operation %d failed, the error is %v", fail, err)
		}
		WantFolder(t, filepath.Dir(path), filepath.Base(path))
		check(d.Renamed)
		if d.Renamed {
			if err := os.WriteFile(path, old, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Heap is how many bytes are in use, garbage left out.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
