package workload

import (
	"context"
	"math"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

func TestDigest(t *testing.T) {
	seen := make(map[uint64][]uint32)
	for _, docs := range [][]uint32{nil, {0}, {1}, {0, 1}, {1, 2}, {1, 2, 3}, {0, 0}, {2, 1}, {math.MaxUint32}} {
		d := Digest(docs)
		if other, ok := seen[d]; ok {
			t.Errorf("%v and %v have one digest", docs, other)
		}
		seen[d] = docs
	}
	r := plan.Results{Offsets: []uint64{0, 2, 2, 3}, Docs: []uint32{4, 5, 6}}
	got := make([]uint64, 3)
	Digests(got, &r)
	if want := []uint64{Digest([]uint32{4, 5}), Digest(nil), Digest([]uint32{6})}; !slices.Equal(got, want) {
		t.Errorf("digests %x, want %x", got, want)
	}
}

func TestEvenLists(t *testing.T) {
	lists, err := EvenLists{3, 1000}.Draw(context.Background(), 1)
	if err != nil || len(lists) != 3 {
		t.Fatal(len(lists), err)
	}
	for h, docs := range lists {
		if len(docs) != 1000 {
			t.Fatal(len(docs))
		}
		sum := 0
		for j := 1; j < len(docs); j++ {
			gap := docs[j] - docs[j-1]
			if gap < 1 || gap > 256 {
				t.Fatalf("a gap of %d", gap)
			}
			sum += int(gap)
		}
		if mean := sum / 999; mean < 115 || mean > 142 {
			t.Errorf("mean gap %d", mean)
		}
		src, err := EncodeAll(context.Background(), Universe(lists), lists, codec.DefaultOptions(), Always(codec.ParaPFor))
		if err != nil {
			t.Fatal(err)
		}
		if err := src.Validate(); err != nil {
			t.Fatal(err)
		}
		// Eight bits per value, and a small header.
		if words := src.Lists[h].Words; words < 250 || words > 250+4*8 {
			t.Errorf("list %d takes %d words", h, words)
		}
	}
}
