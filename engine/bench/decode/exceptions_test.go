package decode

import (
	"testing"

	"heddle/codec"
)

// TestPackedWords: sizes by hand. 32 values of 4 bits, two of which have 9 and 12 bits.
func TestPackedWords(t *testing.T) {
	values := make([]uint32, 32)
	for i := range values {
		values[i] = 8 + uint32(i%8)
	}
	values[5], values[20] = 300, 4000
	for _, test := range []struct {
		share float64
		want  int
	}{
		{0, 12},                    // 12 bits each
		{0.04, 10},                 // one exception: 9 bits each, and 5 bits of index with 3 of overflow
		{0.1, 5},                   // two: 4 bits each, and twice 5 bits of index with 8 of overflow
		{0.6, 4 + 1},               // the rest have the same width
		{1, (32*(5+12) + 31) / 32}, // all
	} {
		if got := packedWords(values, test.share); got != test.want {
			t.Errorf("share %.2f: %d words, want %d", test.share, got, test.want)
		}
	}
}

// TestLambdaSize: without exceptions, a line codec with widths in each block has the size
// of its encoder.
func TestLambdaSize(t *testing.T) {
	docs := make([]uint32, 5000)
	for i := range docs {
		docs[i] = uint32(37*i + i*i%19)
	}
	for _, id := range []codec.ID{codec.LRCSeg, codec.SegLRC, codec.HSLRC256} {
		got, err := lambdaSize(id, docs, 0)
		if want := codec.Size(id, docs, codec.DefaultOptions()); err != nil || got != want {
			t.Errorf("%v: %d words, the encoder makes %d (%v)", id, got, want, err)
		}
	}
}
