package hdl

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heddle/engine/plan/testneeds"
)

// reader reads a file by FORMAT.md, sentence by sentence, and shares no code with the
// package. If it reads a file of the Writer, the document is true.
type reader struct{ data []byte }

func (r reader) u32(at uint64) uint32 { return binary.LittleEndian.Uint32(r.data[at:]) }
func (r reader) u64(at uint64) uint64 { return binary.LittleEndian.Uint64(r.data[at:]) }

// section gives offset and length of section i; 0 for one that the file does not have.
func (r reader) section(i uint64) (offset, length uint64) {
	for e := uint64(64); e < 64+24*uint64(r.u32(12)); e += 24 {
		if uint64(r.u32(e)) == i {
			return r.u64(e + 8), r.u64(e + 16)
		}
	}
	return 0, 0
}

// front decodes n front-coded strings.
func front(b []byte, n int) (all []string) {
	before := ""
	for range n {
		lengths := []uint64{uint64(b[0] / 16), uint64(b[0] % 16)}
		b = b[1:]
		for i := range lengths {
			if lengths[i] == 15 {
				lengths[i] += varint(&b)
			}
		}
		before = before[:lengths[0]] + string(b[:lengths[1]])
		b = b[lengths[1]:]
		all = append(all, before)
	}
	return all
}

// varint cuts a varint from b.
func varint(b *[]byte) (v uint64) {
	for shift := 0; ; shift += 7 {
		c := (*b)[0]
		*b = (*b)[1:]
		if v |= uint64(c&127) << shift; c < 128 {
			return v
		}
	}
}

// code is the Huffman code of names: from codes, as strings of bits, to bytes.
func (r reader) code() map[string]byte {
	at, _ := r.section(6)
	codes, next := map[string]byte{}, uint32(0)
	for length := range 13 {
		for s := range 256 {
			if n := int(r.data[at+uint64(s/2)]) >> (4 * (s % 2)) & 15; n == length && n > 0 {
				codes[fmt.Sprintf("%0*b", n, next)] = byte(s)
				next++
			}
		}
		next <<= 1
	}
	return codes
}

// name gives name d.
func (r reader) name(codes map[string]byte, d uint64) string {
	names, _ := r.section(6)
	offsets, _ := r.section(7)
	bits := ""
	for _, b := range r.data[names+128+r.u64(offsets+d/16*8) : names+128+r.u64(offsets+d/16*8+8)] {
		bits += fmt.Sprintf("%08b", b)
	}
	var plain []byte
	for code := ""; len(bits) > 0; bits = bits[1:] {
		code += bits[:1]
		if b, ok := codes[code]; ok {
			plain, code = append(plain, b), ""
		}
	}
	return front(plain, int(d%16)+1)[d%16]
}

// term gives term h.
func (r reader) term(h uint64) string {
	terms, _ := r.section(3)
	offsets, _ := r.section(4)
	return front(r.data[terms+r.u64(offsets+h/16*8):terms+r.u64(offsets+h/16*8+8)], int(h%16)+1)[h%16]
}

// lengths gives the lengths of all documents.
func (r reader) lengths() (all []uint32) {
	at := uint64(0)
	for left := r.u32(24); left > 0; left -= min(left, 65536) {
		n := uint64(r.words(8, at, 1)[0])
		all = append(all, packed(r.words(8, at+1, n), min(left, 65536))...)
		at += 1 + n
	}
	return all
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
	testneeds.Sequential(t)
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
	if r.u32(8) != 5 || r.u32(56) != 1 || r.u32(24) != s.meta.Docs || r.u32(28) != uint32(len(s.terms)) || r.u64(16) != uint64(len(r.data)) {
		t.Fatal("header")
	}
	lists, listsLen := r.section(2)
	descriptors := r.data[lists : lists+listsLen]
	blocks, _ := r.section(13)
	at, freqAt, postings, tokens := uint64(0), uint64(0), uint64(0), uint64(0)
	for i, term := range s.terms {
		h := uint64(i)
		if got := r.term(h); got != term {
			t.Fatalf("term %d is %q, want %q", h, got, term)
		}
		if e := blocks + h/128*24; h%128 == 0 && (r.u64(e) != listsLen-uint64(len(descriptors)) || r.u64(e+8) != at || r.u64(e+16) != freqAt) {
			t.Fatalf("block %d starts at %d, %d and %d", h/128, r.u64(e), r.u64(e+8), r.u64(e+16))
		}
		head := varint(&descriptors)
		n := uint32(head / 2)
		sum := uint64(0)
		var docs, freqs []uint32
		if head%2 == 1 {
			docID := ^uint32(0)
			for range n {
				code, freq := varint(&descriptors), uint32(1)
				if code%2 == 0 {
					freq = uint32(2 + varint(&descriptors))
				}
				docID += 1 + uint32(code/2)
				docs, freqs = append(docs, docID), append(freqs, freq)
				sum += uint64(freq)
			}
		} else {
			codec, words, freqWords := varint(&descriptors), varint(&descriptors), varint(&descriptors)
			sum = uint64(n) + varint(&descriptors)
			docs = list(byte(codec), r.words(0, at, words), n)
			for _, f := range packed(r.words(1, freqAt, freqWords), n) {
				freqs = append(freqs, f+1)
			}
			at = (at + words + 3) / 4 * 4
			freqAt += freqWords
		}
		if !slices.Equal(docs, s.docs[i]) {
			t.Fatalf("list %q is %v, want %v", term, docs, s.docs[i])
		}
		if !slices.Equal(freqs, s.freqs[i]) {
			t.Fatalf("frequencies of %q are %v, want %v", term, freqs, s.freqs[i])
		}
		for _, f := range freqs {
			sum -= uint64(f)
			tokens += uint64(f)
		}
		if postings += uint64(n); sum != 0 {
			t.Fatalf("the tokens of %q are %d too many", term, sum)
		}
	}
	if len(descriptors) > 0 {
		t.Errorf("%d bytes behind the descriptors", len(descriptors))
	}
	if _, n := r.section(0); n != 4*at {
		t.Errorf("docids have %d bytes, want %d", n, 4*at)
	}
	if r.u64(32) != postings || r.u64(40) != tokens {
		t.Errorf("totals %d and %d, want %d and %d", r.u64(32), r.u64(40), postings, tokens)
	}
	if !slices.Equal(r.lengths(), s.lens) {
		t.Fatal("lengths")
	}
	codes := r.code()
	for d, name := range s.names {
		if got := r.name(codes, uint64(d)); got != name {
			t.Fatalf("document %d is %q, want %q", d, got, name)
		}
	}
	var meta struct {
		Analysis struct {
			Rules     int      `json:"rules"`
			Stemmer   string   `json:"stemmer"`
			StopWords []string `json:"stop_words"`
		} `json:"analysis"`
	}
	s.checkReaderTexts(t, r)
	s.checkReaderField(t, r)
	checkReaderSums(t, r)
	o, n := r.section(9)
	if err := json.Unmarshal(r.data[o:o+n], &meta); err != nil {
		t.Fatal(err)
	}
	if meta.Analysis.Rules != 1 || meta.Analysis.Stemmer != s.meta.Analysis.Stemmer || !slices.Equal(meta.Analysis.StopWords, s.meta.Analysis.StopWords) {
		t.Errorf("meta is %s", r.data[o:o+n])
	}
}

// checkReaderField compares the entry of the only field.
func (s *sample) checkReaderField(t *testing.T, r reader) {
	t.Helper()
	o, n := r.section(15)
	with := map[uint32]bool{}
	for d, length := range s.lens {
		if length > 0 {
			with[uint32(d)] = true
		}
	}
	for _, docs := range s.docs {
		for _, d := range docs {
			with[d] = true
		}
	}
	if n != 64 || r.u32(o) != 0 || r.u32(o+4) != uint32(len(s.terms)) || r.u32(o+8) != 0 || r.u32(o+12) != uint32(len(with)) ||
		r.u64(o+16) != r.u64(48) || r.u64(o+24) != r.u64(32) || r.u64(o+32) != r.u64(40) || r.u64(o+40) != 0 || r.u64(o+48) != 0 || r.u64(o+56) != 0 {
		t.Fatalf("field % x, want %d documents with terms", r.data[o:o+n], len(with))
	}
}

// checkReaderSums computes the checksums of all blocks.
func checkReaderSums(t *testing.T, r reader) {
	t.Helper()
	sums, sumsLen := r.section(14)
	block := uint64(0)
	for e := uint64(64); e < 64+24*uint64(r.u32(12)); e += 24 {
		s := r.u32(e)
		o, n := r.u64(e+8), r.u64(e+16)
		if s == 14 {
			continue
		}
		for b := range slices.Chunk(r.data[o:o+(n+4095)/4096*4096], 65536) {
			if got := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)); got != r.u32(sums+4*block) {
				t.Fatalf("a block of section %d has the checksum %08x, want %08x", s, r.u32(sums+4*block), got)
			}
			block++
		}
	}
	if sumsLen != 4*block {
		t.Fatalf("%d bytes of checksums for %d blocks", sumsLen, block)
	}
}

// checkReaderTexts unpacks all blocks and cuts the documents out of them.
func (s *sample) checkReaderTexts(t *testing.T, r reader) {
	t.Helper()
	if !s.meta.stores() {
		if _, n := r.section(12); n != 0 {
			t.Fatalf("document-offsets have %d bytes", n)
		}
		return
	}
	documents, _ := r.section(10)
	blocks, blocksLen := r.section(11)
	offsets, offsetsLen := r.section(12)
	if offsetsLen != 8*uint64(len(s.texts)+1) {
		t.Fatalf("document-offsets have %d bytes", offsetsLen)
	}
	var opt []zstd.DOption
	if at, n := r.section(18); n > 0 {
		opt = append(opt, zstd.WithDecoderDicts(r.data[at:at+n]))
	}
	z, err := zstd.NewReader(nil, opt...)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	half := blocksLen / 2
	for b := range half/8 - 1 {
		block, err := z.DecodeAll(r.data[documents+r.u64(blocks+8*b):documents+r.u64(blocks+8*b+8)], nil)
		if err != nil {
			t.Fatalf("block %d: %v", b, err)
		}
		first, next := r.u64(blocks+half+8*b), r.u64(blocks+half+8*b+8)
		start := r.u64(offsets + 8*first)
		if want := r.u64(offsets+8*next) - start; uint64(len(block)) != want || next > first+1 && want > 16384 {
			t.Fatalf("block %d has %d bytes of %d documents, want %d", b, len(block), next-first, want)
		}
		for d := first; d < next; d++ {
			at := offsets + 8*d
			if got := string(block[r.u64(at)-start : r.u64(at+8)-start]); got != s.texts[d] {
				t.Fatalf("document %d is %.40q, want %.40q", d, got, s.texts[d])
			}
		}
	}
	if n := r.u64(blocks + blocksLen - 8); n != uint64(len(s.texts)) {
		t.Fatalf("blocks of %d documents, want %d", n, len(s.texts))
	}
}
