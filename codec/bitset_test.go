package codec

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

func TestBits(t *testing.T) {
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				universe := rapid.Uint64Range(1, 5000).Draw(t, "universe")
				docs := g.List(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 1500).Draw(t, "n"), universe)
				b, err := encode(t, Bitset, docs, Options{}).Bits()
				if err != nil {
					t.Fatal(err)
				}
				for x := range uint32(universe + 1100) { // two blocks and more behind the end
					i, in := slices.BinarySearch(docs, x)
					if b.Has(x) != in || b.Rank(x) != uint32(i) {
						t.Fatalf("docID %d: Has %v, Rank %d, want %v, %d", x, b.Has(x), b.Rank(x), in, i)
					}
				}
				if b.Has(math.MaxUint32) || b.Rank(math.MaxUint32) != uint32(len(docs)) {
					t.Fatal("wrong about the largest docID")
				}
				var some, want []uint32
				for i, d := range docs {
					if got := b.Select(uint32(i)); got != d {
						t.Fatalf("Select(%d) is %d, want %d", i, got, d)
					}
					if rapid.Bool().Draw(t, "ranked") {
						some, want = append(some, d), append(want, uint32(i))
					}
				}
				got := make([]uint32, len(some))
				if b.RankAll(got, some); !slices.Equal(got, want) {
					t.Fatalf("ranks of %v: %v, want %v", some, got, want)
				}
			})
		})
	}
}

func TestSelectOutOfRange(t *testing.T) {
	b, err := encode(t, Bitset, []uint32{4, 9}, Options{}).Bits()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Select(2) of two docIDs answers")
		}
	}()
	b.Select(2)
}

// The largest docIDs have the right size, without half a gigabyte of words.
func TestBitsetSize(t *testing.T) {
	for _, c := range []struct {
		last uint32
		want int
	}{{0, 17}, {511, 17}, {512, 34}, {math.MaxUint32, 17 << 23}} {
		if got := Size(Bitset, []uint32{c.last}, Options{}); got != c.want {
			t.Errorf("last docID %d: %d words, want %d", c.last, got, c.want)
		}
	}
	if got := Size(Bitset, nil, Options{}); got != 0 {
		t.Errorf("empty list: %d words", got)
	}
}
