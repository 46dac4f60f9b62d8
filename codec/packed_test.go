package codec

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bitReader reads a stream of bits one by one.
type bitReader struct {
	words []uint32
	pos   int
}

func (r *bitReader) read(n int) (v uint32) {
	for i := range n {
		v |= r.words[r.pos/32] >> (r.pos % 32) & 1 << i
		r.pos++
	}
	return v
}

// readPacked is an oracle for packed values: a slow reader by the description of the
// format, which shares no code with the decoder.
func readPacked(n int, words []uint32) (values []uint32) {
	nseg := (n + 127) / 128
	payload := 2 * nseg
	for seg := range nseg {
		count := min(n-128*seg, 128)
		header := words[2*seg+1]
		b, hb, ib, en := int(header%64), int(header/64%64), int(header/4096%16), int(header/65536)
		r := bitReader{words: words[payload+int(words[2*seg]):]}
		for range count {
			values = append(values, r.read(b))
		}
		r.pos = (r.pos + 31) / 32 * 32
		indexes := make([]uint32, en)
		for i := range indexes {
			indexes[i] = r.read(ib)
		}
		for _, i := range indexes {
			values[128*seg+int(i)] += r.read(hb) << b
		}
	}
	return values
}

// drawValues draws values of mixed size, so that segments have exceptions.
func drawValues(t *rapid.T) []uint32 {
	small := rapid.Uint32Range(0, 1<<rapid.IntRange(0, 31).Draw(t, "bits")-1)
	one := rapid.OneOf(small, small, small, rapid.Uint32())
	return rapid.SliceOfN(one, 0, 400).Draw(t, "values")
}

func TestPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t)
		opt := Options{ExceptionRatio: rapid.Float64Range(0, MaxExceptionRatio).Draw(t, "ratio")}
		out, err := AppendPacked([]uint32{1, 2}, values, opt)
		if err != nil || out[0] != 1 || out[1] != 2 {
			t.Fatalf("prefix %v, %v", out[:2], err)
		}
		words := out[2:]
		if got := readPacked(len(values), words); !slices.Equal(got, values) {
			t.Fatalf("the oracle reads %v", got)
		}
		if !checkTotalPacked(t, uint32(len(values)), words) { // compares At with AppendTo
			t.Fatal("not valid")
		}
		freqs := slices.Clone(values)
		for i := range freqs {
			freqs[i]++ // a value of 2^32-1 wraps and comes back
		}
		if got, err := AppendFreqs(nil, freqs, opt); err != nil || !slices.Equal(got, words) {
			t.Fatalf("frequencies have the words %v, want %v, %v", got, words, err)
		}
		p, err := NewPacked(uint32(len(values)), words)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.AppendTo(nil); err != nil || !slices.Equal(got, values) {
			t.Fatalf("%v, %v", got, err)
		}
		for range min(len(values), rapid.IntRange(0, 200).Draw(t, "looked up")) {
			i := rapid.IntRange(0, len(values)-1).Draw(t, "index")
			if got, err := p.At(uint32(i)); err != nil || got != values[i] {
				t.Fatalf("value %d is %d, want %d, %v", i, got, values[i], err)
			}
		}
		for seg, want := range slices.Collect(slices.Chunk(values, SegmentLen)) {
			var buf [SegmentLen]uint32
			if n, err := p.Decode(seg, &buf); err != nil || !slices.Equal(buf[:n], want) {
				t.Fatalf("segment %d: %v, %v", seg, buf[:n], err)
			}
		}
	})
}

// The gaps of a list are packed values, which the oracle can read.
func TestGapsAreDocumented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := slices.Sorted(slices.Values(drawValues(t)))
		docs = slices.Compact(docs)
		l := encode(t, ParaPFor, docs, DefaultOptions())
		nseg := (len(docs) + 127) / 128
		docID := uint32(math.MaxUint32)
		for i, v := range readPacked(len(docs), l.Words[nseg:]) {
			docID += v + 1
			if docID != docs[i] {
				t.Fatalf("docID %d is %d, want %d", i, docID, docs[i])
			}
			if last := l.Words[i/128]; (i%128 == 127 || i == len(docs)-1) && last != docID {
				t.Fatalf("segment %d ends at %d, want %d", i/128, last, docID)
			}
		}
	})
}

// Every set of exceptions of a short segment, up to the largest ratio.
func TestExceptionPositions(t *testing.T) {
	const n = 10
	for mask := range 1 << n {
		values := make([]uint32, n)
		for i := range values {
			values[i] = uint32(i % 2)
			if mask>>i&1 != 0 {
				values[i] |= ^uint32(1)
			}
		}
		words, err := AppendPacked(nil, values, Options{ExceptionRatio: MaxExceptionRatio})
		if err != nil || !slices.Equal(readPacked(n, words), values) || !checkTotalPacked(t, n, words) {
			t.Fatalf("mask %b: %v, %v", mask, words, err)
		}
	}
}

// The number of exceptions never exceeds the ratio.
func TestExceptionRatio(t *testing.T) {
	values := make([]uint32, SegmentLen)
	for i := range 76 {
		values[i] = 1 << 31 // worth an exception, were it allowed
	}
	for _, c := range []struct {
		ratio float64
		spike int
		en    uint
	}{{0.6, 76, 76}, {0.6, 70, 70}, {0.5, 64, 64}, {0.5, 65, 0}, {0.1, 12, 12}, {0.1, 13, 0}, {0, 1, 0}} {
		v := slices.Clone(values)
		clear(v[c.spike:])
		words, err := AppendPacked(nil, v, Options{ExceptionRatio: c.ratio})
		if err != nil || header(words[1]).en() != c.en {
			t.Errorf("ratio %v, %d large values: %d exceptions, want %d (%v)", c.ratio, c.spike, header(words[1]).en(), c.en, err)
		}
	}
	if maxExceptions(SegmentLen) != 76 || maxExceptions(1) != 0 {
		t.Error("the largest share of exceptions has changed")
	}
}

func TestOutOfRange(t *testing.T) {
	words, err := AppendPacked(nil, make([]uint32, 130), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPacked(130, words)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.At(130); err == nil {
		t.Error("At takes index 130 of 130")
	}
	s, err := encode(t, ParaPFor, []uint32{1, 2}, Options{}).Segments()
	if err != nil {
		t.Fatal(err)
	}
	var buf [SegmentLen]uint32
	for _, seg := range []int{-1, 1, 2, math.MaxInt} {
		if _, err := p.Decode(seg, &buf); seg != 1 && err == nil {
			t.Errorf("Packed.Decode takes segment %d of 2", seg)
		}
		if _, err := s.Decode(seg, &buf); err == nil {
			t.Errorf("Segments.Decode takes segment %d of 1", seg)
		}
	}
}

// TestGapsThatWrap: gaps whose sum exceeds 2^32 and ends, modulo 2^32, at the skip entry are an error.
func TestGapsThatWrap(t *testing.T) {
	tables := gapTables{last: []uint32{5}}
	if tables.checkEnd(Rice, 0, 5) != nil || tables.checkEnd(Rice, 0, 1<<32+5) == nil {
		t.Error("docID 2^32 + 5 agrees with the skip entry 5")
	}
	const first, second = 0xc0000000, 0xfffffff1 // gaps of 32 bits
	list := encode(t, ParaPFor, []uint32{first, second}, Options{})
	at := slices.Index(list.Words, second-first-1)
	if at < 0 || list.Words[0] != second {
		t.Fatalf("no plain gap in the words %x", list.Words)
	}
	list.Words[at] += 1<<32 + 5 - second // the docID becomes 2^32 + 5
	list.Words[0] = 5
	if docs, err := list.AppendTo(nil); err == nil {
		t.Errorf("a sum of gaps that wraps gives %d", docs)
	}
	s, err := list.Segments()
	if err != nil {
		t.Fatal(err)
	}
	var buf [SegmentLen]uint32
	if n, err := s.Decode(0, &buf); err == nil {
		t.Errorf("a sum of gaps that wraps gives %d", buf[:n])
	}
}

// The generated loops that pack and unpack agree with the bit reader for every width and length.
func TestUnpack(t *testing.T) {
	var src [SegmentLen]uint32
	for i := range src {
		src[i] = uint32(i+1) * 0x9e3779b9
	}
	for b := range uint(33) {
		for n := range SegmentLen + 1 {
			words := slices.Clone(src[:(n*int(b)+31)/32])
			if used := n * int(b) % 32; used > 0 {
				words[len(words)-1] &= 1<<used - 1
			}
			want := make([]uint32, n)
			r := bitReader{words: words}
			for i := range want {
				want[i] = r.read(int(b))
			}
			above := slices.Clone(want) // with bits that do not count
			for i := range above {
				above[i] |= ^uint32(0) << b
			}
			if packed := appendLow(nil, above, b); !slices.Equal(packed, words) {
				t.Fatalf("pack %d values of %d bits: %v, want %v", n, b, packed, words)
			}
			got := make([]uint32, n)
			unpack(got, words, b)
			if !slices.Equal(got, want) {
				t.Fatalf("unpack %d values of %d bits: %v, want %v", n, b, got, want)
			}
			sum := uint64(1000)
			for i, v := range want {
				sum += uint64(v) + 1
				want[i] = uint32(sum)
			}
			if end := unpackGaps(got, got, 32, 1000); end != sum || !slices.Equal(got, want) {
				t.Fatalf("unpackGaps in place, %d of %d bits: %v to %d, want %v to %d", n, b, got, end, want, sum)
			}
			clear(got)
			if end := unpackGaps(got, words, b, 1000); end != sum || !slices.Equal(got, want) {
				t.Fatalf("unpackGaps, %d of %d bits: %v to %d, want %v to %d", n, b, got, end, want, sum)
			}
		}
	}
}
