package codec

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// checkBlocks decodes every block alone, the last block first. It looks up the docIDs
// of the list, their neighbours and the ends of the range.
func checkBlocks(tb rapid.TB, l List, docs []uint32) {
	tb.Helper()
	var b Blocks
	if err := b.Open(l); err != nil {
		tb.Fatal(err)
	}
	if b.Start(b.Count()) != len(docs) || b.Count() > 0 && b.Start(0) != 0 || b.Count() == 0 && len(docs) > 0 {
		tb.Fatalf("%d blocks of %d docIDs, the end at %d", b.Count(), len(docs), b.Start(b.Count()))
	}
	block := make([]int, len(docs)) // the block of each docID
	for k := b.Count() - 1; k >= 0; k-- {
		from, to := b.Start(k), b.Start(k+1)
		got, err := b.Decode([]uint32{7}, k)
		if err != nil || got[0] != 7 || !slices.Equal(got[1:], docs[from:to]) {
			tb.Fatalf("block %d, docIDs %d to %d: %v, %v", k, from, to, got, err)
		}
		for i := from; i < to; i++ {
			block[i] = k
		}
	}
	find := func(x uint32) {
		tb.Helper()
		i, in := slices.BinarySearch(docs, x)
		k := b.Find(x)
		switch {
		case in && k != block[i]:
			tb.Fatalf("docID %d is in block %d, Find says %d of %d", x, block[i], k, b.Count())
		case k < 0 || k > b.Count():
			tb.Fatalf("Find(%d) is %d of %d", x, k, b.Count())
		case k == b.Count() && i < len(docs):
			tb.Fatalf("Find(%d) is beyond the end, docID %d is behind it", x, docs[i])
		case k < b.Count() && (i < b.Start(k) || i > b.Start(k+1)):
			tb.Fatalf("docID %d has its place at %d, Find says %d to %d", x, i, b.Start(k), b.Start(k+1))
		}
	}
	find(0)
	find(math.MaxUint32)
	for _, d := range docs {
		find(d)
		find(d - 1)
		find(d + 1)
	}
}

func TestBlocks(t *testing.T) {
	for _, id := range ids {
		for _, g := range codectest.Generators() {
			t.Run(id.String()+"/"+g.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					n := rapid.IntRange(0, 1500).Draw(t, "n")
					universe := rapid.Uint64Range(0, universeFor(id)).Draw(t, "universe")
					docs := g.List(rapid.Uint64().Draw(t, "seed"), n, universe)
					checkBlocks(t, encode(t, id, docs, DefaultOptions()), docs)
				})
			})
		}
	}
}

// checkTotalBlocks checks, for any words, that methods return for every block, and that
// a block fails if and only if the list fails.
func checkTotalBlocks(tb rapid.TB, l List, good bool) {
	tb.Helper()
	var b Blocks
	if err := b.Open(l); err != nil {
		checkCorrupt(tb, err, len(l.Words))
		if good {
			tb.Fatal(err)
		}
		return
	}
	for _, x := range []uint32{0, 1, 511, 512, 1 << 20, math.MaxUint32} {
		if k := b.Find(x); k < 0 || k > b.Count() {
			tb.Fatalf("Find(%d) is %d of %d", x, k, b.Count())
		}
	}
	all := true
	for k := b.Count() - 1; k >= 0; k-- {
		got, err := b.Decode([]uint32{7}, k)
		if err != nil {
			checkCorrupt(tb, err, len(l.Words))
			all = false
		}
		if got[0] != 7 || err != nil && len(got) > 1 || disorder(got[1:]) != 0 || uint64(len(got)-1) > uint64(l.Len) {
			tb.Fatalf("block %d: %v, %v", k, got, err)
		}
	}
	if all != good {
		tb.Fatalf("blocks good: %v, list good: %v", all, good)
	}
}
