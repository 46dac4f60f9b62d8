package positions

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// packed packs values in pieces.
func packed(values []uint32, piece int) *Reader {
	var w Writer
	r := &Reader{}
	for part := range slices.Chunk(values, piece) {
		r.Words, r.Directory = w.Append(r.Words, r.Directory, part)
	}
	r.Words, r.Directory = w.Finish(r.Words, r.Directory)
	r.Count = w.Count()
	return r
}

// TestAppend reads every range of random values of all widths.
func TestAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(t, "width")
		value := rapid.Custom(func(t *rapid.T) uint32 {
			if rapid.IntRange(0, 15).Draw(t, "long") == 0 {
				return rapid.Uint32().Draw(t, "any")
			}
			return uint32(rapid.Uint64Range(0, 1<<width-1).Draw(t, "value"))
		})
		values := rapid.SliceOfN(value, 0, 3*BlockLen*rapid.IntRange(1, 4).Draw(t, "blocks")).Draw(t, "values")
		r := packed(values, rapid.IntRange(1, 300).Draw(t, "piece"))
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		for range 8 {
			from := rapid.IntRange(0, len(values)).Draw(t, "from")
			to := rapid.IntRange(from, len(values)).Draw(t, "to")
			got, err := r.Append([]uint32{7}, uint64(from), uint64(to-from))
			if err != nil || !slices.Equal(got[1:], values[from:to]) || got[0] != 7 {
				t.Fatalf("%d to %d: %v, %v, want %v", from, to, got, err, values[from:to])
			}
		}
	})
}

// TestExtremes has blocks of values of 32 bits, many groups, and no values.
func TestExtremes(t *testing.T) {
	for _, values := range [][]uint32{nil, {0}, slices.Repeat([]uint32{math.MaxUint32}, 300), slices.Repeat([]uint32{0, 0, 0, 1 << 31}, 5000)} {
		r := packed(values, 1000)
		got, err := r.Append(nil, 0, uint64(len(values)))
		if err != nil || !slices.Equal(got, values) || r.Validate() != nil {
			t.Errorf("%d values: %v, %v", len(values), err, r.Validate())
		}
		if _, err := r.Append(nil, uint64(len(values)), 1); err == nil {
			t.Errorf("%d values: one more is no error", len(values))
		}
	}
}

// TestDescending reads every range of a block whose exceptions do not ascend.
func TestDescending(t *testing.T) {
	values := make([]uint32, BlockLen)
	values[5], values[50], values[90] = 9, 9, 9
	r := packed(values, BlockLen)
	block, s, err := r.block(0)
	if err != nil || s.exceptions() != 3 {
		t.Fatalf("%d exceptions, %v", s.exceptions(), err)
	}
	rest, at := block[s.lowWords():], 2*(indexBits+s.high())
	for k := range uint(indexBits) { // 90 becomes 3
		rest[(at+k)/32] = rest[(at+k)/32]&^(1<<((at+k)%32)) | 3>>k&1<<((at+k)%32)
	}
	if r.Validate() == nil {
		t.Error("Validate finds no damage")
	}
	for from := range uint64(BlockLen) {
		for n := range BlockLen + 1 - from {
			if got, err := r.Append(nil, from, n); err == nil && uint64(len(got)) != n {
				t.Fatalf("%d values from %d: %d", n, from, len(got))
			}
		}
	}
}

// FuzzReader reads any words with any directory.
func FuzzReader(f *testing.F) {
	bytes := func(words []uint32) (b []byte) {
		for _, w := range words {
			b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
		}
		return b
	}
	for _, values := range [][]uint32{nil, {3, 0, 1 << 20}, slices.Repeat([]uint32{5, 9, 1 << 31}, 700)} {
		r := packed(values, 99)
		f.Add(bytes(r.Words), bytes(r.Directory), uint16(len(values)), uint16(0))
	}
	f.Add([]byte{1, 2, 3, 4}, slices.Repeat([]byte{0xff}, 24), uint16(4000), uint16(3))
	words := func(b []byte) (w []uint32) {
		for ; len(b) >= 4; b = b[4:] {
			w = append(w, uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24)
		}
		return w
	}
	f.Fuzz(func(t *testing.T, data, directory []byte, count, first uint16) {
		r := &Reader{Words: words(data), Directory: words(directory), Count: uint64(count)}
		valid := r.Validate() == nil
		n := uint64(count) - min(uint64(first), uint64(count))
		got, err := r.Append(nil, uint64(first), n)
		if uint64(first) <= uint64(count) && valid && (err != nil || uint64(len(got)) != n) {
			t.Fatalf("valid words: %d values of %d, %v", len(got), n, err)
		}
		if err == nil && uint64(len(got)) != n {
			t.Fatalf("%d values of %d", len(got), n)
		}
	})
}
