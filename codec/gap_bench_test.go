package codec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkGapCodecs decodes uniform lists of one docID in k in cache. The names
// contain the bits of a docID.
func BenchmarkGapCodecs(b *testing.B) {
	const n = 1 << 14
	for _, k := range []int{20, 180} {
		docs := uniformList(n, n*k)
		for _, id := range append([]ID{ParaPFor}, gapCodecs...) {
			l := encode(b, id, docs, DefaultOptions())
			dst := make([]uint32, 0, n)
			b.Run(fmt.Sprintf("%v/1of%d/%.2fbits", id, k, float64(len(l.Words))*32/n), func(b *testing.B) {
				for b.Loop() {
					if _, err := l.AppendTo(dst); err != nil {
						b.Fatal(err)
					}
				}
				reportRate(b, n)
			})
		}
	}
}

// BenchmarkBlocks decodes random blocks of a list.
func BenchmarkBlocks(b *testing.B) {
	const n = 1 << 16
	docs := uniformList(n, n*20)
	for _, id := range append([]ID{ParaPFor}, gapCodecs...) {
		var blocks Blocks
		if err := blocks.Open(encode(b, id, docs, DefaultOptions())); err != nil {
			b.Fatal(err)
		}
		b.Run(id.String(), func(b *testing.B) {
			var buf [SegmentLen]uint32
			rng := rand.New(rand.NewPCG(3, 3))
			for b.Loop() {
				x := rng.Uint32N(docs[n-1])
				if _, err := blocks.Decode(buf[:0], blocks.Find(x)); err != nil {
					b.Fatal(err)
				}
			}
			reportRate(b, SegmentLen)
		})
	}
}
