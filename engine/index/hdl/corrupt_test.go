package hdl

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// image is the bytes of a sample's file.
func (s *sample) image(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(s.build(t))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// fromBytes is Open, or OpenTrusted, of a file in memory.
func fromBytes(path string, data []byte, sums bool) (*File, error) {
	file, err := container.New(path, data, &format)
	if err != nil {
		return nil, err
	}
	return newFile(file, sums)
}

// headerOf reads the header of a file in memory.
func headerOf(data []byte) (header, error) {
	file, err := container.New("x", data, &format)
	if err != nil {
		return header{}, err
	}
	return decodeHeader(file)
}

// TestFlippedBytes flips every bit of every byte, and overwrites every byte.
func TestFlippedBytes(t *testing.T) {
	testneeds.Long(t)
	data := tiny().image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(data); i += step() {
		old := data[i]
		for _, b := range []byte{old ^ 1<<(i%8), ^old} {
			data[i] = b
			f, err := fromBytes("x", data, true)
			if err == nil {
				tiny().answers(t, f)
				err = f.Verify(context.Background())
			}
			c := containertest.WantCorrupt(t, err, "x")
			want := container.HeaderName
			for s, e := range h.Table {
				if uint64(i) >= e.Offset && uint64(i) < e.End() {
					want = section(s).String()
				}
			}
			if c.Section != want {
				t.Fatalf("byte %d of section %s changed, the error is %v", i, want, err)
			}
		}
		data[i] = old
	}
}

// step is the distance of the bytes that these tests change: it has no factor in common with
// the bits of a byte and the bytes of a word.
func step() int {
	if testneeds.Full() {
		return 1
	}
	return 3
}

// TestFlippedTrusted: the trusted open neither panics nor gives an error of another type,
// whichever byte is wrong.
func TestFlippedTrusted(t *testing.T) {
	testneeds.Long(t)
	data := tiny().image(t)
	for i := 0; i < len(data); i += step() {
		data[i] ^= 1 << (i % 8)
		if f, err := fromBytes("x", data, false); err == nil {
			exercise(t, f)
		} else if !errors.Is(err, ErrVersion) {
			containertest.WantCorrupt(t, err, "x")
		}
		data[i] ^= 1 << (i % 8)
	}
}

// TestFlippedFiles is TestFlippedBytes through files, for a part of the bytes.
func TestFlippedFiles(t *testing.T) {
	testneeds.Long(t)
	path := tiny().build(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(data); i += 1 + i/50 {
		data[i] ^= 0x10
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err == nil {
			tiny().answers(t, f)
			err = errors.Join(f.Verify(context.Background()), f.Close())
		}
		containertest.WantCorrupt(t, err, path)
		data[i] ^= 0x10
	}
}

func TestTruncated(t *testing.T) { containertest.Truncated(t, tiny().image(t), Open, fromBytes) }

func TestOpenErrors(t *testing.T) {
	containertest.OpenErrors(t, &format, tiny().image(t), Open, fromBytes)
}

// TestUnmapped: a damaged file is mapped no more.
func TestUnmapped(t *testing.T) {
	path := tiny().build(t)
	data := tiny().image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	data[h.Table[secMeta].Offset] ^= 1
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil && strings.Contains(string(maps), path) { // Linux alone
		t.Error("the file is mapped still")
	}
}

// exercise calls every accessor on the whole content of f. Answers may be wrong, but
// nothing may panic, and errors must have the right type.
func exercise(t *testing.T, f *File) {
	t.Helper()
	if err := mapped.Run(func() error { readAll(t, f); return nil }); err != nil {
		containertest.WantCorrupt(t, err, f.Path())
	}
	if err := f.Verify(context.Background()); err != nil && !foreign(f) {
		containertest.WantCorrupt(t, err, f.Path())
	}
}

// readAll calls the accessors of exercise.
func readAll(t *testing.T, f *File) {
	t.Helper()
	src := f.LazySource()
	for h := range uint32(f.Terms()) {
		if err := mapped.Run(func() error { readList(t, f, src, h); return nil }); err != nil {
			containertest.WantCorrupt(t, err, f.Path())
		}
	}
	for d := range f.Docs() {
		if _, err := f.DocName(d); err != nil {
			containertest.WantCorrupt(t, err, f.Path())
		}
		f.DocLen(d)
		if _, err := f.Document(d); err != nil && !errors.Is(err, ErrNoDocument) {
			containertest.WantCorrupt(t, err, f.Path())
		}
	}
	for _, err := range f.WithName(context.Background(), "Gen 1:3") {
		if err != nil {
			containertest.WantCorrupt(t, err, f.Path())
		}
	}
	f.Lookup("")
	f.Meta()
	f.Sections()
	f.Checksum()
	if err := src.DescribeAll(); err != nil {
		containertest.WantCorrupt(t, err, f.Path())
	} else if err := src.Validate(); err != nil {
		t.Fatalf("the source of an open file is not valid: %v", err)
	}
}

func readList(t *testing.T, f *File, src *plan.Source, h plan.Handle) {
	t.Helper()
	term := f.Term(h)
	f.Lookup(term)
	f.Lookup(term + "x")
	f.Tokens(h)
	if docs, err := src.List(h).AppendTo(nil); err == nil && len(docs) != int(src.Lists[h].Len) {
		t.Fatalf("list %d has %d docIDs, its descriptor says %d", h, len(docs), src.Lists[h].Len)
	} else if err != nil && !errors.Is(err, codec.ErrCorrupt) {
		t.Fatal(err)
	}
	if freqs, err := f.Freqs(nil, h); err != nil {
		containertest.WantCorrupt(t, err, f.Path())
	} else if len(freqs) != int(src.Lists[h].Len) {
		t.Fatalf("list %d has %d frequencies for %d docIDs", h, len(freqs), src.Lists[h].Len)
	}
}

// TestVerifySums sees that Verify reads the checksums that OpenTrusted does not.
func TestVerifySums(t *testing.T) {
	data := tiny().image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	data[h.Table[secMeta].End()-1] ^= 1 // padding
	f, err := fromBytes("x", data, false)
	if err != nil {
		t.Fatal(err)
	}
	if c := containertest.WantCorrupt(t, f.Verify(context.Background()), "x"); c.Section != secMeta.String() {
		t.Error(c)
	}
}

// TestFrequencyOverflow stores a frequency of 2³², which no Writer does.
func TestFrequencyOverflow(t *testing.T) {
	s := tiny()
	s.freqs[1][1], s.meta.ExceptionRatio = math.MaxUint32, 0
	data := s.image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	// Directory {0, b = 32}, then the frequencies less one.
	freqs := data[h.Table[secFreqs].Offset:]
	if got := binary.LittleEndian.Uint32(freqs[12:]); got != math.MaxUint32-1 {
		t.Fatalf("the second frequency lies elsewhere: %d", got)
	}
	binary.LittleEndian.PutUint32(freqs[12:], math.MaxUint32)
	repairBlocks(data)
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Freqs([]uint32{1, 2}, 1); len(got) != 2 || !errors.Is(err, ErrCorrupt) {
		t.Errorf("Freqs = %v, %v", got, err)
	}
}
