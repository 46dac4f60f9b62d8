package hdl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/plan/testneeds"
)

// TestTexts stores texts of named shapes and reads them back, each alone and in
// any order.
func TestTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 3*textBlock+5)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	words := strings.Repeat("in the beginning was the word ", textBlock)
	for name, texts := range map[string][]string{
		"none":           {},
		"all empty":      {"", "", ""},
		"one byte":       {"x"},
		"block less one": {words[:textBlock-1], "y"},
		"block":          {words[:textBlock]},
		"block and one":  {words[:textBlock+1]},
		"on the edge":    {words[:textBlock], "", words[:textBlock], "z"},
		"noise":          {string(noise[:textBlock]), string(noise), "", string(noise[:7])},
		"batches":        {words, words[:len(words)/3], "middle", words},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sample{meta: Meta{Docs: uint32(len(texts)), Texts: true}, texts: texts, names: make([]string, len(texts)), lens: make([]uint32, len(texts))}
			f := mustOpen(t, s.build(t))
			s.check(t, f)
			if err := f.Verify(context.Background()); err != nil {
				t.Error(err)
			}
			first, end := uint32(len(texts)/3), uint32(len(texts)) // again, from a document inside
			err := f.EachText(first, end, func(text []byte) error {
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
					if got, err := f.Text(uint32(d)); err != nil || got != texts[d] {
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
		s := &sample{meta: Meta{Texts: true}}
		for range rapid.IntRange(0, 30).Draw(t, "docs") {
			size := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(textBlock-3, textBlock+3), rapid.IntRange(0, 3*textBlock)).Draw(t, "size")
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
	if text, err := f.Text(0); text != "" || !errors.Is(err, ErrNoText) || f.HasText() {
		t.Errorf("a file without texts: %q, %v", text, err)
	}
}

func TestTextInput(t *testing.T) {
	for name, c := range map[string]struct {
		texts bool
		do    func(*Writer) error
		want  string
	}{
		"none expected": {false, func(w *Writer) error { return w.AddText(nil) }, "an index without texts"},
		"too many": {true, func(w *Writer) error {
			return errors.Join(w.AddText(nil), w.AddText(nil), w.AddText(nil))
		}, "text 2 out of 2"},
		"missing": {true, func(w *Writer) error {
			return errors.Join(w.AddDocument("", 0), w.AddDocument("", 0), w.AddText([]byte("x")), w.Commit())
		}, "1 of 2 texts are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.hdl")
			w, err := Create(path, Meta{Docs: 2, Texts: c.texts})
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
	w, err := Create(filepath.Join(t.TempDir(), "x.hdl"), Meta{Docs: 1000, Texts: true})
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
		if err := w.AddText(text); err != nil {
			t.Fatal(err)
		}
	}
	if after := containertest.Heap(); after > before+200_000 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	runtime.KeepAlive(text)
}

// TestCraftedTexts changes sections of texts under right checksums.
func TestCraftedTexts(t *testing.T) {
	put := func(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[8*i:], v) }
	image := tiny().withTexts().image(t)
	h, err := headerOf(image)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		section section // numSections: the header
		change  func(b []byte)
		open    bool
		want    string
	}{
		{"no offsets", numSections, func(b []byte) { put(entry(b, secTextOffsets), 2, 0) }, true, "header: "},
		{"fewer offsets", numSections, func(b []byte) { put(entry(b, secTextOffsets), 2, 8) }, true, "header: section text-offsets has 8 bytes"},
		{"odd blocks", numSections, func(b []byte) { put(entry(b, secTextBlocks), 2, 84) }, true, "header: section text-blocks has 84 bytes, not a multiple of 8"},
		{"no blocks", numSections, func(b []byte) { put(entry(b, secTextBlocks), 2, 0) }, true, "header: section text-blocks is empty"},
		{"first text", secTextOffsets, func(b []byte) { put(b, 0, 1) }, false, "text-offsets: the first offset"},
		{"texts descend", secTextOffsets, func(b []byte) { put(b, 6, 1) }, false, "text-offsets: offset"},
		{"texts of 2^64-1 bytes", secTextOffsets, func(b []byte) { put(b, 24, 1<<64-1) }, false, "text-blocks: "},
		{"texts of too many bytes", secTextOffsets, func(b []byte) { put(b, 24, 1<<20) }, false, "text-blocks: "},
		{"texts of one byte less", secTextOffsets, func(b []byte) {
			for _, d := range []int{23, 24} { // the last text is empty
				put(b, d, binary.LittleEndian.Uint64(b[8*d:])-1)
			}
		}, false, "texts: block 9: it goes on"},
		{"first block", secTextBlocks, func(b []byte) { put(b, 0, 1) }, false, "text-blocks: the first offset"},
		{"blocks descend", secTextBlocks, func(b []byte) { put(b, 2, 0) }, false, "text-blocks: offset 0"},
		{"block too long", secTextBlocks, func(b []byte) { put(b, 1, textBlock+1) }, false, "text-blocks: offset"},
		{"block at the limit", secTextBlocks, func(b []byte) { put(b, 2, 1<<64-1) }, false, "text-blocks: offset"},
		{"block with a byte of the next", secTextBlocks, func(b []byte) { put(b, 1, binary.LittleEndian.Uint64(b[8:])+1) }, false, "texts: block 0: it goes on"},
		{"block type", secTexts, func(b []byte) { b[0] |= 6 }, false, "texts: block 0: flate: corrupt input"},
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

// TestNoBlock: the number behind the last block of texts has no block.
func TestNoBlock(t *testing.T) {
	f, err := fromBytes("x", tiny().withTexts().image(t), true)
	if err != nil {
		t.Fatal(err)
	}
	containertest.WantCorrupt(t, f.inflate(uint64(len(f.textBlocks)-1), nil), "x")
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
	for i := h.Table[secTexts].Offset; i < h.Size; i += 1 + i%7 {
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

// FuzzTextBlock reads arbitrary bytes as blocks of text.
func FuzzTextBlock(f *testing.F) {
	f.Add([]byte("short"), uint32(5))
	f.Add([]byte{3, 0}, uint32(0))
	f.Add([]byte{0x4b, 0x4c, 0x44, 0x05, 0}, uint32(textBlock))
	f.Fuzz(func(t *testing.T, packed []byte, size uint32) {
		size %= textBlock + 1
		packed = packed[:min(len(packed), textBlock)]
		sections := make([][]byte, numSections)
		sections[secTexts] = packed
		frame, err := container.New("x", containertest.Layout(&format, container.Fields{}, sections...), &format)
		if err != nil {
			t.Fatal(err)
		}
		file := &File{file: frame, textBlocks: []uint64{0, uint64(len(packed))}, textOffsets: []uint64{0, uint64(size)}}
		file.header.docs = 1
		text, err := file.Text(0)
		if size == 0 && err == nil {
			return
		}
		if err != nil {
			containertest.WantCorrupt(t, err, "x")
		} else if len(text) != int(size) {
			t.Fatalf("%d bytes of text, want %d", len(text), size)
		}
	})
}

// BenchmarkText reads single texts of 500 bytes.
func BenchmarkText(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &sample{meta: Meta{Docs: 10_000, Texts: true}, names: make([]string, 10_000), lens: make([]uint32, 10_000)}
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
		if _, err := f.Text(rng.Uint32N(10_000)); err != nil {
			b.Fatal(err)
		}
	}
}
