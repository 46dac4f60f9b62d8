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
	for i, old := range data {
		for _, b := range []byte{old ^ 1<<(i%8), ^old} {
			data[i] = b
			_, err := fromBytes("x", data, true)
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

// TestFlippedTrusted: the trusted open neither panics nor gives an error of another type,
// whichever byte is wrong.
func TestFlippedTrusted(t *testing.T) {
	testneeds.Long(t)
	data := tiny().image(t)
	for i := range data {
		data[i] ^= 1 << (i % 8)
		if f, err := fromBytes("x", data, false); err == nil {
			exercise(t, f)
		} else {
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
		_, err := Open(path)
		containertest.WantCorrupt(t, err, path)
		data[i] ^= 0x10
	}
}

func TestTruncated(t *testing.T) { containertest.Truncated(t, tiny().image(t), Open, fromBytes) }

func TestOpenErrors(t *testing.T) {
	containertest.OpenErrors(t, &format, tiny().image(t), Open, fromBytes)
}

// exercise calls every accessor on the whole content of f. Answers may be wrong, but
// nothing may panic, and errors must have the right type.
func exercise(t *testing.T, f *File) {
	t.Helper()
	src := f.Source()
	if err := src.Validate(); err != nil {
		t.Fatalf("the source of an open file is not valid: %v", err)
	}
	for h := range uint32(f.Terms()) {
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
	for d := range f.Docs() {
		f.DocName(d)
		f.DocLen(d)
		if _, err := f.Text(d); err != nil && !errors.Is(err, ErrNoText) {
			containertest.WantCorrupt(t, err, f.Path())
		}
	}
	f.Lookup("")
	f.Meta()
	f.Sections()
	f.Checksum()
	if err := f.Verify(context.Background()); err != nil {
		containertest.WantCorrupt(t, err, f.Path())
	}
}

// TestCrafted changes content under right checksums.
func TestCrafted(t *testing.T) {
	le := binary.LittleEndian
	put32 := func(b []byte, at int, v uint32) { le.PutUint32(b[at:], v) }
	put64 := func(b []byte, at int, v uint64) { le.PutUint64(b[at:], v) }
	const (
		header = numSections // the header page instead of a section
		second = listSize    // the descriptor of "loom", a ParaPFor list of 10
	)
	for _, c := range []struct {
		name    string
		section section
		change  func(b []byte)
		open    bool   // whether Open sees it, else Verify
		want    string // section and start of the reason
	}{
		{"file size", header, func(b []byte) { put64(b, 16, 1<<63) }, true, "header: the file has"},
		{"sections", header, func(b []byte) { put32(b, 12, 11) }, true, "header: 11 sections"},
		{"documents", header, func(b []byte) { put32(b, 24, 25) }, true, "header: section name-offsets"},
		{"documents at the limit", header, func(b []byte) { put32(b, 24, math.MaxUint32) }, true, "header: section name-offsets"},
		{"terms at the limit", header, func(b []byte) { put32(b, 28, math.MaxUint32) }, true, "header: section lists"},
		{"postings", header, func(b []byte) { put64(b, 32, 33) }, true, "lists: 32 postings"},
		{"tokens", header, func(b []byte) { put64(b, 40, 0) }, true, "lists: 32 postings"},
		{"length", header, func(b []byte) { put64(b, 48, 0) }, false, "lengths: the lengths add up"},
		{"section number", header, func(b []byte) { put32(b, container.TableOffset, 3) }, true, "header: section 3 in the place of 0"},
		{"section offset", header, func(b []byte) { put64(b, container.TableOffset+8, 2*PageSize) }, true, "header: section docids"},
		{"section length", header, func(b []byte) { put64(b, container.TableOffset+16, math.MaxUint64) }, true, "header: section docids"},
		{"odd section length", header, func(b []byte) { put64(b, container.TableOffset+container.TableEntry+16, 11) }, true, "header: section freqs"},
		{"last section missing", header, func(b []byte) { put64(b, container.TableOffset+9*container.TableEntry+16, 0) }, true, "header: the sections end"},

		{"list offset", secLists, func(b []byte) { put64(b, second, 4+4) }, true, "lists: list 1 does not lie behind"},
		{"list offset at the limit", secLists, func(b []byte) { put64(b, 0, math.MaxUint64) }, true, "lists: list 0 does not lie behind"},
		{"frequency offset", secLists, func(b []byte) { put64(b, second+8, 0) }, true, "lists: list 1 does not lie behind"},
		{"words at the limit", secLists, func(b []byte) { put32(b, second+24, math.MaxUint32) }, true, "lists: list 1, 4294967295 words"},
		{"fewer words", secLists, func(b []byte) { put32(b, 2*listSize+24, 9) }, true, "lists: lists end at"},
		{"frequency words at the limit", secLists, func(b []byte) { put32(b, second+28, math.MaxUint32) }, true, "lists: frequencies of list 1"},
		{"fewer frequency words", secLists, func(b []byte) { put32(b, 2*listSize+28, 1) }, true, "lists: lists end at"},
		{"raw length", secLists, func(b []byte) { put32(b, 32, 1) }, true, "lists: raw list 0"},
		{"length above documents", secLists, func(b []byte) { put32(b, second+32, 25) }, true, "lists: list 1 has 25 docIDs"},
		{"length at the limit", secLists, func(b []byte) { put32(b, second+32, math.MaxUint32) }, true, "lists: list 1 has 4294967295 docIDs"},
		{"tokens below length", secLists, func(b []byte) { put64(b, second+16, 9) }, true, "lists: list 1 has 10 docIDs and 9 tokens"},
		{"unknown codec", secLists, func(b []byte) { b[36] = 99 }, true, "lists: list 0 has the unknown codec 99"},
		{"no codec", secLists, func(b []byte) { b[36] = 0 }, true, "lists: list 0 has the unknown codec 0"},
		{"wrong codec", secLists, func(b []byte) { b[second+36] = byte(codec.Bitset) }, false, "docids: list 1"},
		{"reserved bytes", secLists, func(b []byte) { b[second+39] = 1 }, true, "lists: list 1 has reserved bytes"},

		{"first term offset", secTermOffsets, func(b []byte) { put64(b, 0, 1) }, true, "term-offsets: the first offset"},
		{"last term offset", secTermOffsets, func(b []byte) { put64(b, 24, 15) }, true, "term-offsets: the last offset"},
		{"term offset at the limit", secTermOffsets, func(b []byte) { put64(b, 8, math.MaxUint64) }, true, "term-offsets: offset"},
		{"descending term offset", secTermOffsets, func(b []byte) { put64(b, 16, 5) }, true, "term-offsets: offset 5 behind 6"},
		{"descending name offset", secNameOffsets, func(b []byte) { put64(b, 8, 100) }, true, "name-offsets: offset"},
		{"slot of no term", secTermHash, func(b []byte) { firstSlot(b, func(s uint64) uint64 { return s | 0xff }) }, true, "term-hash: slot for term"},
		{"slot of no handle", secTermHash, func(b []byte) { firstSlot(b, func(s uint64) uint64 { return s >> 32 << 32 }) }, true, "term-hash: slot for term"},
		{"slot emptied", secTermHash, func(b []byte) { firstSlot(b, func(uint64) uint64 { return 0 }) }, true, "term-hash: 2 slots in use"},
		{"all slots full", secTermHash, func(b []byte) {
			for i := 0; i < len(b); i += 8 {
				put64(b, i, 1)
			}
		}, true, "term-hash: 8 slots in use"},
		{"slot of another hash", secTermHash, func(b []byte) { firstSlot(b, func(s uint64) uint64 { return s ^ 1<<63 }) }, false, "term-hash: term"},
		{"meta", secMeta, func(b []byte) { b[0] = '[' }, true, "meta: "},

		{"terms out of order", secTerms, func(b []byte) { b[6] = 'a' }, false, "terms: term 1"},
		{"term changed", secTerms, func(b []byte) { b[1] = 'f' }, false, "term-hash: term 0 is not found"},
		{"docIDs out of order", secDocIDs, func(b []byte) { put32(b, 0, 17) }, false, "docids: list 0"},
		{"docID out of range", secDocIDs, func(b []byte) { put32(b, 4, 24) }, false, "docids: list 0: docID 24"},
		{"segment header", secDocIDs, func(b []byte) { put32(b, 16+8, math.MaxUint32) }, false, "docids: list 1"},
		{"rank", secDocIDs, func(b []byte) { b[len(b)-4-12] = 1 }, false, "docids: list 2"},
		{"frequency header", secFreqs, func(b []byte) { put32(b, 4, math.MaxUint32) }, false, "freqs: list 0"},
		{"frequency", secFreqs, func(b []byte) { b[8] ^= 1 }, false, "freqs: list 0: the frequencies add up"},
		{"document length", secLengths, func(b []byte) { b[0]++ }, false, "lengths: the lengths add up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := tiny().image(t)
			part := data[:PageSize]
			if c.section != header {
				h, err := headerOf(data)
				if err != nil {
					t.Fatal(err)
				}
				e := h.Table[c.section]
				part = data[e.Offset : e.Offset+e.Length]
			}
			c.change(part)
			containertest.Repair(data)
			for _, sums := range []bool{true, false} {
				f, err := fromBytes("x", data, sums)
				if c.open != (err != nil) {
					t.Fatalf("Open: %v", err)
				}
				if err == nil {
					exercise(t, f)
					err = f.Verify(context.Background())
				}
				e := containertest.WantCorrupt(t, err, "x")
				if got := e.Section + ": " + e.Reason; !strings.HasPrefix(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

// firstSlot changes the first slot in use.
func firstSlot(b []byte, change func(uint64) uint64) {
	for ; ; b = b[8:] {
		if s := binary.LittleEndian.Uint64(b); s != 0 {
			binary.LittleEndian.PutUint64(b, change(s))
			return
		}
	}
}

// TestVerifySums sees that Verify reads the checksums that OpenTrusted does not.
func TestVerifySums(t *testing.T) {
	data := tiny().image(t)
	data[len(data)-1] ^= 1 // padding
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
	s.freqs[0][1] = math.MaxUint32
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
	containertest.Repair(data)
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Freqs([]uint32{1, 2}, 0); len(got) != 2 || !errors.Is(err, ErrCorrupt) {
		t.Errorf("Freqs = %v, %v", got, err)
	}
}
