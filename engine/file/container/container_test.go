package container_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// two is a format of two sections beside the checksums of blocks.
var two = container.Format{Magic: "\x89TWO\r\n\x1a\n", Suffix: ".two", Version: 2, Names: []string{"a", "b", "sums"}, Sums: 2}

// noise is bytes that depend on n, as many.
func noise(n int) []byte {
	rng, b := rand.New(rand.NewPCG(1, uint64(n))), make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestSections writes sections of several lengths, in pieces and through several spools,
// and compares the file with one that is laid out at once.
func TestSections(t *testing.T) {
	const buffer = 256 << 10
	for _, n := range []int{0, 1, container.PageSize - 1, container.PageSize, buffer - 1, buffer, buffer + 1, 3*buffer + 5} {
		path := filepath.Join(t.TempDir(), "x.two")
		w, err := container.Create(container.OSDisk{}, path, &two)
		if err != nil {
			t.Fatal(err)
		}
		other := w.Temp("other")
		want := make([][]byte, two.Sums)
		for range 2 { // the spool is used again
			for i, s := range w.Sections[:two.Sums] {
				head, tail := noise(n/2+i), noise(n)
				if i == 1 {
					head, tail = noise(5), []byte("seven b")
					err = errors.Join(err, s.Append(head), s.Append(tail), s.AppendUint64(0x0807060504030201), s.Pad(16))
					want[i] = append(slices.Concat(want[i], head, tail), 1, 2, 3, 4, 5, 6, 7, 8)
					want[i] = append(want[i], make([]byte, -len(want[i])&15)...)
				} else {
					err = errors.Join(err, s.Append(head), other.Append(tail), s.AppendSpool(other), other.Rewind())
					want[i] = slices.Concat(want[i], head, tail)
				}
				if s.Length() != uint64(len(want[i])) {
					t.Fatalf("section %d has %d bytes, want %d", i, s.Length(), len(want[i]))
				}
			}
		}
		fields := container.Fields{0: 7, 39: 9}
		err = errors.Join(err, w.Commit(func() (container.Fields, error) { return fields, nil }))
		if err != nil {
			t.Fatal(err)
		}
		containertest.WantFolder(t, filepath.Dir(path), "x.two")
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, containertest.Layout(&two, fields, want...)) {
			t.Fatalf("%d bytes: another file (%v)", n, err)
		}
		f, err := container.Open(path, &two)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.CheckSums(); err != nil || f.Header.Fields != fields || len(f.Sections()) != len(two.Names) {
			t.Errorf("%v, %+v", err, f.Header)
		}
		for i, b := range want {
			sum := crc32.Checksum(append(b, make([]byte, -len(b)&(container.PageSize-1))...), crc32.MakeTable(crc32.Castagnoli))
			if !bytes.Equal(f.Bytes(i), b) || f.Sections()[i].Checksum != sum {
				t.Errorf("section %d differs", i)
			}
		}
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestSize: a file has the size of its header.
func TestSize(t *testing.T) {
	data := containertest.Layout(&two, container.Fields{}, []byte("a"), []byte("bc"))
	for more, want := range map[int]bool{-1: false, 0: true, 1: false, container.PageSize: false} {
		image := append(slices.Clone(data), make([]byte, container.PageSize)...)[:len(data)+more]
		if _, err := container.New("x.two", image, &two); (err == nil) != want || err != nil && !errors.Is(err, container.ErrCorrupt) {
			t.Errorf("%d bytes more: %v", more, err)
		}
	}
}

// TestReader reads a spool twice.
func TestReader(t *testing.T) {
	w, err := container.Create(container.OSDisk{}, filepath.Join(t.TempDir(), "x.two"), &two)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for i, s := range w.Sections {
		for _, want := range [][]byte{noise(300_000), noise(20)} {
			if err := s.Append(want); err != nil {
				t.Fatal(err)
			}
			r, err := s.Reader()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("section %d: %d bytes, want %d, %v", i, len(got), len(want), err)
			}
			if err := s.Rewind(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDo sees that the first error stays and that nothing is called behind it.
func TestDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.two")
	w, err := container.Create(container.OSDisk{}, path, &two)
	if err != nil {
		t.Fatal(err)
	}
	first := errors.New("first")
	err = w.Do(func() error { return first })
	if !errors.Is(err, first) || err.Error() != path+": first" {
		t.Fatal(err)
	}
	never := func() error { t.Error("called"); return nil }
	for _, again := range []error{w.Do(never), w.Commit(func() (f container.Fields, err error) { return f, never() })} {
		if again == nil || again.Error() != err.Error() {
			t.Errorf("then %v", again)
		}
	}
	containertest.WantFolder(t, filepath.Dir(path))

	if w, err = container.Create(container.OSDisk{}, path, &two); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(never); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Abort: %v", err)
	}
}

func TestCheckOffsets(t *testing.T) {
	f, err := container.New("x", containertest.Layout(&two, container.Fields{}, noise(3), noise(8*100_000)), &two)
	if err != nil {
		t.Fatal(err)
	}
	long := make([]uint64, 100_001)
	for i := range long {
		long[i] = uint64(2 * i)
	}
	if err := f.CheckOffsets(1, long, 200_000, 2); err != nil {
		t.Error(err)
	}
	long[77_777] = 0
	for _, c := range []struct {
		offsets     []uint64
		size, limit uint64
		at          int64 // place of the error, in words; -1: none
	}{
		{[]uint64{0}, 0, 0, -1}, {[]uint64{0, 0, 5}, 5, 5, -1},
		{[]uint64{1}, 1, 9, 0}, {[]uint64{0, 5}, 6, 9, 1}, {[]uint64{0, 5}, 5, 4, 1}, {[]uint64{0, 6, 5}, 5, 9, 2}, {[]uint64{0, 2, 1, 5}, 5, 9, 2},
		{long, 200_000, 2, 77_777},
	} {
		err := f.CheckOffsets(1, c.offsets, c.size, c.limit)
		if c.at < 0 {
			if err != nil {
				t.Errorf("%v: %v", c.offsets, err)
			}
			continue
		}
		e := containertest.WantCorrupt(t, err, "x")
		if e.Error() != fmt.Sprintf("x: corrupt b at byte %d: %s", e.Offset, e.Reason) || e.Section != "b" || e.Offset != 2*container.PageSize+8*c.at {
			t.Errorf("%.60v: %v", c.offsets, e)
		}
	}
}

// TestSmall: a section has a temporary file only when it is larger than its buffer.
func TestSmall(t *testing.T) {
	dir := t.TempDir()
	w, err := container.Create(container.OSDisk{}, filepath.Join(dir, "x.two"), &two)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, test := range []struct{ bytes, files int }{{255 << 10, 1}, {2 << 10, 2}} {
		if err := w.Sections[1].Append(noise(test.bytes)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(files) != test.files {
			t.Errorf("%d bytes more: files %q, %v; want %d", test.bytes, files, err, test.files)
		}
	}
}
