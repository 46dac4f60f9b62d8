package hdl

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// reader reads a file by FORMAT.md, sentence by sentence, and shares no code with the
// package. If it reads a file of the Writer, the document is true.
type reader struct{ data []byte }

func (r reader) u32(at uint64) uint32 { return binary.LittleEndian.Uint32(r.data[at:]) }
func (r reader) u64(at uint64) uint64 { return binary.LittleEndian.Uint64(r.data[at:]) }

// section gives offset and length of section i.
func (r reader) section(i uint64) (offset, length uint64) {
	return r.u64(64 + 24*i + 8), r.u64(64 + 24*i + 16)
}

// text gives string i out of section bytes, by the offsets in section offsets.
func (r reader) text(bytes, offsets, i uint64) string {
	b, _ := r.section(bytes)
	o, _ := r.section(offsets)
	return string(r.data[b+r.u64(o+8*i) : b+r.u64(o+8*i+8)])
}

// words gives n words from word first of section i on.
func (r reader) words(i, first, n uint64) []uint32 {
	o, length := r.section(i)
	if first+n > length/4 {
		return nil
	}
	out := make([]uint32, n)
	for k := range out {
		out[k] = r.u32(o + 4*(first+uint64(k)))
	}
	return out
}

// bitString reads width bits from bit at on.
func bitString(words []uint32, at, width uint32) (v uint32) {
	for k := range width {
		v |= words[(at+k)/32] >> ((at + k) % 32) & 1 << k
	}
	return v
}

// packed decodes n packed values.
func packed(words []uint32, n uint32) (values []uint32) {
	segments := (n + 127) / 128
	payloads := words[2*segments:]
	for s := range segments {
		cnt := min(n-128*s, 128)
		payload, h := payloads[words[2*s]:], words[2*s+1]
		b, hb, ib, en := h&63, h>>6&63, h>>12&15, h>>16&255
		first := len(values)
		for i := range cnt {
			values = append(values, bitString(payload, i*b, b))
		}
		exceptions := payload[(cnt*b+31)/32:]
		for j := range en {
			index := bitString(exceptions, j*ib, ib)
			values[first+int(index)] |= bitString(exceptions, en*ib+j*hb, hb) << b
		}
	}
	return values
}

// list decodes n docIDs.
func list(codec byte, words []uint32, n uint32) (docs []uint32) {
	switch codec {
	case 1:
		return words
	case 2:
		docID := ^uint32(0)
		for i, v := range packed(words[(n+127)/128:], n) {
			docID += v + 1
			docs = append(docs, docID)
			if (i%128 == 127 || uint32(i) == n-1) && words[i/128] != docID {
				return nil
			}
		}
	case 3:
		blocks := len(words) / 17
		for x := range uint32(512 * blocks) {
			if x%512 == 0 && words[16*blocks+int(x/512)] != uint32(len(docs)) {
				return nil
			}
			if words[x/32]>>(x%32)&1 == 1 {
				docs = append(docs, x)
			}
		}
	}
	return docs
}

func TestFormatReader(t *testing.T) {
	for _, s := range []*sample{tiny(), {}, shapes(5000), tiny().withTexts(), second()} {
		for _, codec := range []string{"raw", "parapfor", "bitset"} {
			s.meta.Codec = codec
			path := s.build(t)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s.checkReader(t, reader{data})
		}
	}
}

func (s *sample) checkReader(t *testing.T, r reader) {
	t.Helper()
	if r.u32(24) != s.meta.Docs || r.u32(28) != uint32(len(s.terms)) || r.u64(16) != uint64(len(r.data)) {
		t.Fatal("header")
	}
	lists, _ := r.section(2)
	hash, hashLen := r.section(5)
	at, freqAt, postings, tokens := uint64(0), uint64(0), uint64(0), uint64(0)
	for i, term := range s.terms {
		h := uint64(i)
		if got := r.text(3, 4, h); got != term {
			t.Fatalf("term %d is %q, want %q", h, got, term)
		}
		d := lists + 40*h
		n := r.u32(d + 32)
		if r.u64(d) != at || r.u64(d+8) != freqAt {
			t.Fatalf("list %q lies at %d and %d, want %d and %d", term, r.u64(d), r.u64(d+8), at, freqAt)
		}
		at = (at + uint64(r.u32(d+24)) + 3) / 4 * 4
		freqAt += uint64(r.u32(d + 28))
		if got := list(r.data[d+36], r.words(0, r.u64(d), uint64(r.u32(d+24))), n); !slices.Equal(got, s.docs[i]) {
			t.Fatalf("list %q is %v, want %v", term, got, s.docs[i])
		}
		freqs := packed(r.words(1, r.u64(d+8), uint64(r.u32(d+28))), n)
		sum := uint64(0)
		for k := range freqs {
			freqs[k]++
			sum += uint64(freqs[k])
		}
		if !slices.Equal(freqs, s.freqs[i]) || r.u64(d+16) != sum {
			t.Fatalf("frequencies of %q are %v, want %v", term, freqs, s.freqs[i])
		}
		postings, tokens = postings+uint64(n), tokens+sum

		sl := xxhash.Sum64String(term)
		for k := sl % (hashLen / 8); ; k = (k + 1) % (hashLen / 8) {
			got := r.u64(hash + 8*k)
			if got == 0 {
				t.Fatalf("term %q is not in the hash table", term)
			}
			if uint32(got) == uint32(h+1) && got>>32 == sl>>32 {
				break
			}
		}
	}
	if _, n := r.section(0); n != 4*at {
		t.Errorf("docids have %d bytes, want %d", n, 4*at)
	}
	if r.u64(32) != postings || r.u64(40) != tokens {
		t.Errorf("totals %d and %d, want %d and %d", r.u64(32), r.u64(40), postings, tokens)
	}
	lengths, _ := r.section(8)
	for d, name := range s.names {
		if r.text(6, 7, uint64(d)) != name || r.u32(lengths+4*uint64(d)) != s.lens[d] {
			t.Fatalf("document %d", d)
		}
	}
	var meta struct {
		Analysis struct {
			Stemmer   string   `json:"stemmer"`
			StopWords []string `json:"stop_words"`
		} `json:"analysis"`
	}
	s.checkReaderTexts(t, r)
	o, n := r.section(9)
	if err := json.Unmarshal(r.data[o:o+n], &meta); err != nil {
		t.Fatal(err)
	}
	if meta.Analysis.Stemmer != s.meta.Analysis.Stemmer || !slices.Equal(meta.Analysis.StopWords, s.meta.Analysis.StopWords) {
		t.Errorf("meta is %s", r.data[o:o+n])
	}
}

// checkReaderTexts inflates all blocks and cuts the texts out of them.
func (s *sample) checkReaderTexts(t *testing.T, r reader) {
	t.Helper()
	if !s.meta.Texts {
		if _, n := r.section(12); n != 0 { // zeros in version 1
			t.Fatalf("text-offsets have %d bytes", n)
		}
		return
	}
	if r.u32(8) != 2 || r.u32(12) != 13 {
		t.Fatalf("version %d has %d sections", r.u32(8), r.u32(12))
	}
	texts, _ := r.section(10)
	blocks, blocksLen := r.section(11)
	offsets, offsetsLen := r.section(12)
	if offsetsLen != 8*uint64(len(s.texts)+1) {
		t.Fatalf("text-offsets have %d bytes", offsetsLen)
	}
	left := r.u64(offsets + offsetsLen - 8)
	var all []byte
	for b := range blocksLen/8 - 1 {
		block := r.data[texts+r.u64(blocks+8*b) : texts+r.u64(blocks+8*b+8)]
		size := min(left, 16384)
		left -= size
		if uint64(len(block)) < size {
			var err error
			if block, err = io.ReadAll(flate.NewReader(bytes.NewReader(block))); err != nil || uint64(len(block)) != size {
				t.Fatalf("block %d of %d bytes, want %d: %v", b, len(block), size, err)
			}
		}
		all = append(all, block...)
	}
	for d, text := range s.texts {
		at := offsets + 8*uint64(d)
		if got := string(all[r.u64(at):r.u64(at+8)]); got != text {
			t.Fatalf("text %d is %.40q, want %.40q", d, got, text)
		}
	}
}
