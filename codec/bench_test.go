package codec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// gapList returns n docIDs with gaps of up to b bits, and a gap of exactly b bits in
// every segment. n is at most 2^(32-b), so that docIDs stay below 2^32.
func gapList(n, b int) []uint32 {
	rng := rand.New(rand.NewPCG(1, uint64(b)))
	docs := make([]uint32, n)
	docID := ^uint32(0)
	for i := range docs {
		gap := uint32(rng.Uint64N(1 << b))
		if i%SegmentLen == 0 && b > 0 {
			gap |= 1 << (b - 1)
		}
		docID += gap + 1
		docs[i] = docID
	}
	return docs
}

// reportRate adds the rate of n values an operation.
func reportRate(b *testing.B, n int) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gints/s")
}

// BenchmarkUnpack reads one segment in a loop, by width, as values and as docIDs.
func BenchmarkUnpack(b *testing.B) {
	for width := range 33 {
		src := make([]uint32, 4*width)
		for i := range src {
			src[i] = rand.Uint32()
		}
		var dst [SegmentLen]uint32
		b.Run(fmt.Sprintf("values/%02d", width), func(b *testing.B) {
			for b.Loop() {
				unpack(dst[:], src, uint(width))
			}
			reportRate(b, SegmentLen)
		})
		b.Run(fmt.Sprintf("docIDs/%02d", width), func(b *testing.B) {
			for b.Loop() {
				unpackGaps(dst[:], src, uint(width), 0)
			}
			reportRate(b, SegmentLen)
		})
	}
}

// BenchmarkAppendTo decodes whole lists in cache. The names of uniform lists contain
// the bits of a docID.
func BenchmarkAppendTo(b *testing.B) {
	const n = 1 << 14
	run := func(name string, l List) {
		dst := make([]uint32, 0, l.Len)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.AppendTo(dst); err != nil {
					b.Fatal(err)
				}
			}
			reportRate(b, int(l.Len))
		})
	}
	for _, width := range []int{0, 1, 4, 7, 8, 12, 16} {
		run(fmt.Sprintf("parapfor/%02d", width), encode(b, ParaPFor, gapList(n, width), Options{}))
	}
	for _, ratio := range []float64{0, 0.05, 0.1, 0.2, 0.4} {
		docs := uniformList(n, n*100)
		l := encode(b, ParaPFor, docs, Options{ExceptionRatio: ratio})
		run(fmt.Sprintf("uniform/ratio%v/%.3fbits", ratio, float64(len(l.Words))*32/n), l)
	}
	for _, k := range []int{1, 2, 4, 8, 16, 32} {
		run(fmt.Sprintf("bitset/1of%d", k), encode(b, Bitset, uniformList(n, n*k), Options{}))
	}
}

// uniformList draws n docIDs below universe, all sets of n with equal probability.
func uniformList(n, universe int) []uint32 {
	rng := rand.New(rand.NewPCG(2, 2))
	docs := make([]uint32, 0, n)
	for x := range universe { // selection sampling
		if rng.IntN(universe-x) < n-len(docs) {
			docs = append(docs, uint32(x))
		}
	}
	return docs
}

// BenchmarkAppend encodes a uniform list, one docID in 20.
func BenchmarkAppend(b *testing.B) {
	const n = 1 << 14
	docs := uniformList(n, n*20)
	for _, id := range ids {
		for _, ratio := range []float64{0, 0.1} {
			b.Run(fmt.Sprintf("%v/ratio%v", id, ratio), func(b *testing.B) {
				var dst []uint32
				for b.Loop() {
					dst, _ = Append(dst[:0], id, docs, Options{ExceptionRatio: ratio})
				}
				reportRate(b, n)
			})
		}
	}
}
