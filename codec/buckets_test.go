package codec

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

func TestBuckets(t *testing.T) {
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				universe := rapid.Uint32Range(1, math.MaxUint32).Draw(t, "universe")
				bucket := rapid.SampledFrom([]uint32{1, 8, 16, 32, 64, 128, 256}).Draw(t, "bucket")
				n := rapid.IntRange(0, 3000).Draw(t, "n")
				docs := g.List(rapid.Uint64().Draw(t, "seed"), n, uint64(universe))
				checkBuckets(t, docs, BucketShift(uint32(len(docs)), universe, bucket))
			})
		})
	}
	checkBuckets(t, []uint32{math.MaxUint32}, 31)
	checkBuckets(t, []uint32{0, math.MaxUint32}, 12)
	checkBuckets(t, []uint32{0, 1, 2}, 0)
}

// checkBuckets compares every entry with its definition and looks up docIDs.
func checkBuckets(tb rapid.TB, docs []uint32, shift uint8) {
	tb.Helper()
	table := AppendBuckets([]uint32{42}, docs, shift)
	if table[0] != 42 {
		tb.Fatal("AppendBuckets changed what was in dst")
	}
	table = table[1:]
	if len(docs) == 0 {
		if !slices.Equal(table, []uint32{0}) {
			tb.Fatalf("table of the empty list: %v", table)
		}
		return
	}
	d := int(docs[len(docs)-1]>>shift) + 1
	if len(table) != d+1 || table[d] != uint32(len(docs)) {
		tb.Fatalf("%d entries for %d buckets, the last %d of %d", len(table), d, table[len(table)-1], len(docs))
	}
	for h := range d {
		want, _ := slices.BinarySearchFunc(docs, h, func(x uint32, h int) int { return int(x>>shift) - h })
		if table[h] != uint32(want) {
			tb.Fatalf("entry %d is %d, want %d", h, table[h], want)
		}
	}
	for i, x := range docs {
		if h := x >> shift; table[h] > uint32(i) || table[h+1] <= uint32(i) {
			tb.Fatalf("docID %d at index %d is not in its bucket %d, %d to %d", x, i, h, table[h], table[h+1])
		}
	}
}

// BucketShift agrees with the definition in section 4.4, by trial of all numbers.
func TestBucketShift(t *testing.T) {
	naive := func(n, universe, bucket uint64) uint8 {
		k := 0
		for universe > 1<<k {
			k++
		}
		m := 0
		for m < k && n > bucket<<m {
			m++
		}
		return uint8(min(k-m, 31)) // 32 is not a shift in OpenCL C
	}
	values := []uint32{1, 2, 3, 15, 16, 17, 255, 256, 257, 1000, 1 << 16, 1<<16 + 1, 1053372, 1 << 31, 1<<31 + 1, math.MaxUint32}
	for _, n := range append(values, 0) {
		for _, universe := range append(values, 0) {
			for _, bucket := range []uint32{1, 8, 16, 32, 64, 128, 256} {
				got := BucketShift(n, universe, bucket)
				if want := naive(uint64(n), uint64(universe), uint64(bucket)); got != want {
					t.Fatalf("BucketShift(%d, %d, %d) is %d, want %d", n, universe, bucket, got, want)
				}
			}
		}
	}
	// HS256 of a GOV list of 8600 docIDs: 2^6 buckets of 2^21 docIDs.
	if got := BucketShift(8600, 1053372, 256); got != 21-6 {
		t.Errorf("shift is %d, want 15", got)
	}
}
