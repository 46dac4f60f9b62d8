package codec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var lineCodecs = []ID{LRC, LRCPFor, LRCSeg, SegLRC, HSLRC128, HSLRC256}

// BenchmarkLines decodes whole lists in cache, and looks up single docIDs, half of which
// are in the list. The names contain the bits of a docID.
func BenchmarkLines(b *testing.B) {
	const n = 1 << 14
	docs := uniformList(n, n*60)
	for _, id := range lineCodecs {
		l := encode(b, id, docs, Options{})
		name := fmt.Sprintf("%v/%.2fbits", id, float64(len(l.Words))*32/n)
		b.Run("decode/"+name, func(b *testing.B) {
			dst := make([]uint32, 0, n)
			for b.Loop() {
				if _, err := l.AppendTo(dst); err != nil {
					b.Fatal(err)
				}
			}
			reportRate(b, n)
		})
		b.Run("find/"+name, func(b *testing.B) {
			v, err := l.Lines()
			if err != nil {
				b.Fatal(err)
			}
			xs := make([]uint32, 4096)
			for i := range xs {
				if xs[i] = rand.Uint32N(n * 60); i%2 == 0 {
					xs[i] = docs[rand.IntN(n)]
				}
			}
			for b.Loop() {
				for _, x := range xs {
					v.Find(x)
				}
			}
			reportRate(b, len(xs))
		})
	}
}
