package codec

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The seeds of the targets run as tests. Words are little-endian bytes, without an
// incomplete last word.

func toWords(data []byte) []uint32 {
	words := make([]uint32, len(data)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return words
}

func toBytes(words []uint32) (data []byte) {
	for _, w := range words {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return data
}

// fuzzList encodes arbitrary gaps and decodes arbitrary words. Valid lists must survive
// another round of encoding, canonical lists with the same words.
func fuzzList(f *testing.F, id ID) {
	for _, l := range victims(f) {
		if l.Codec == id {
			f.Add(l.Len, toBytes(l.Words))
		}
	}
	f.Fuzz(func(t *testing.T, n uint32, data []byte) {
		checkEncoder(t, id, data)
		l := List{Codec: id, Len: n, Words: toWords(data)}
		if !checkTotal(t, l) {
			return
		}
		docs, err := l.AppendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, id, docs, DefaultOptions())
		if words := encode(t, id, docs, Options{}).Words; canonical(id) && !slices.Equal(words, l.Words) {
			t.Fatalf("%x and %x are the same list", l.Words, words)
		}
	})
}

// checkEncoder reads bytes as gaps of mixed width. A byte below 128 is a gap. A larger
// byte shifts the next byte by up to 24 bits.
func checkEncoder(tb rapid.TB, id ID, data []byte) {
	tb.Helper()
	var docs []uint32
	next := uint64(0)
	for i := 0; i < len(data); i++ {
		gap := uint64(data[i])
		if gap >= 128 && i+1 < len(data) {
			i++
			gap = uint64(data[i]) << (gap % 25)
		}
		if next+gap >= universeFor(id) {
			break
		}
		docs = append(docs, uint32(next+gap))
		next += gap + 1
	}
	checkRoundTrip(tb, id, docs, Options{ExceptionRatio: MaxExceptionRatio * float64(len(data)%8) / 7, RPFDLevels: len(data) % (MaxRPFDLevels + 1)})
	checkLine(tb, docs)
}

func FuzzRaw(f *testing.F)      { fuzzList(f, Raw) }
func FuzzParaPFor(f *testing.F) { fuzzList(f, ParaPFor) }
func FuzzBitset(f *testing.F)   { fuzzList(f, Bitset) }
func FuzzVByte(f *testing.F)    { fuzzList(f, VByte) }
func FuzzRice(f *testing.F)     { fuzzList(f, Rice) }
func FuzzPFD(f *testing.F)      { fuzzList(f, PFD) }
func FuzzNewPFD(f *testing.F)   { fuzzList(f, NewPFD) }
func FuzzRPFD(f *testing.F)     { fuzzList(f, RPFD) }

// FuzzPacked reads arbitrary words as packed values, and packs the bytes.
func FuzzPacked(f *testing.F) {
	for _, values := range [][]uint32{nil, {0}, {1 << 31}, {1, 2, 3, 1 << 20, 5, 6}, make([]uint32, 129)} {
		words, err := AppendPacked(nil, values, Options{ExceptionRatio: 0.5})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint32(len(values)), toBytes(words))
	}
	f.Fuzz(func(t *testing.T, n uint32, data []byte) {
		values := toWords(data)
		if checkTotalPacked(t, n, values) && !slices.Equal(readPacked(int(n), values), unpackAll(t, n, values)) {
			t.Fatal("decoder and oracle disagree")
		}
		for i := range values { // shorter values, so that widths vary
			values[i] >>= values[i] % 32
		}
		words, err := AppendPacked(nil, values, Options{ExceptionRatio: MaxExceptionRatio * float64(n%8) / 7})
		if err != nil || !slices.Equal(unpackAll(t, uint32(len(values)), words), values) {
			t.Fatalf("values came back as others: %v", err)
		}
	})
}

func unpackAll(tb rapid.TB, n uint32, words []uint32) []uint32 {
	tb.Helper()
	p, err := NewPacked(n, words)
	if err != nil {
		tb.Fatal(err)
	}
	values, err := p.AppendTo(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return values
}
