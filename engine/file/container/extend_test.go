package container_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/file/mapped"
)

// TestExtend puts words behind sections of several lengths, of a mapped file and of bytes.
func TestExtend(t *testing.T) {
	for _, n := range []int{0, 4, container.PageSize - 4, container.PageSize, 5*container.PageSize + 8} {
		data := containertest.Layout(&two, container.Fields{}, noise(n), noise(8))
		path := filepath.Join(t.TempDir(), "x.two")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		onDisk, err := container.Open(path, &two)
		if err != nil {
			t.Fatal(err)
		}
		inMemory, err := container.New("x", data, &two)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*container.File{onDisk, inMemory} {
			for _, more := range [][]uint32{nil, {1}, slices.Repeat([]uint32{2, 3}, 5000)} {
				words, before, err := f.Extend(0, uint64(len(more)))
				if err != nil {
					t.Fatal(err)
				}
				if slices.Max(append(words[before:], 0)) > 0 {
					t.Error("the further words are not 0")
				}
				copy(words[before:], more)
				want := container.View[uint32](noise(n))
				if len(more) > 0 {
					want = append(slices.Clone(want), make([]uint32, -len(want)&(container.PageSize/4-1))...)
				}
				if before != uint64(len(want)) || !slices.Equal(words, append(slices.Clone(want), more...)) {
					t.Errorf("%d bytes and %d words: %d words, %d before", n, len(more), len(words), before)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestExtendTruncated reads words whose pages the file has lost.
func TestExtendTruncated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not truncate a mapped file")
	}
	path := filepath.Join(t.TempDir(), "x.two")
	if err := os.WriteFile(path, containertest.Layout(&two, container.Fields{}, noise(100), noise(9*container.PageSize)), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := container.Open(path, &two)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	words, before, err := f.Extend(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	words[before] = 7
	if err := os.Truncate(path, 5*container.PageSize); err != nil {
		t.Fatal(err)
	}
	var sum uint32
	err = mapped.Run(func() error { sum = words[before-1]; return nil })
	if c := (*container.CorruptError)(nil); !errors.As(err, &c) || c.Section != "b" || c.Path != path {
		t.Errorf("read %d, %v", sum, err)
	}
	if words[before] != 7 || words[0] != container.View[uint32](noise(9 * container.PageSize))[0] {
		t.Error("other words are lost")
	}
}

// TestExtendReplaced extends a file after another one has taken its path.
func TestExtendReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.two")
	write := func(path string, n int) {
		if err := os.WriteFile(path, containertest.Layout(&two, container.Fields{}, noise(n), nil), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(path, 8)
	f, err := container.Open(path, &two)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write(path+".other", 5000)
	if err := (container.OSDisk{}).Rename(path+".other", path); err != nil {
		t.Fatal(err)
	}
	words, before, err := f.Extend(0, 1)
	if err != nil || words[before] != 0 || !slices.Equal(words[:2], container.View[uint32](noise(8))) {
		t.Errorf("%d words, %v", len(words), err)
	}
}
