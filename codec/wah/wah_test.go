package wah

import (
	"math/rand/v2"
	"testing"
)

func TestBuilder(t *testing.T) {
	t.Run("wah32", testBuilder[uint32])
	t.Run("wah64", testBuilder[uint64])
}

func testBuilder[W Word](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := GroupBits[W]()
	for _, bits := range []uint64{0, 1, g - 1, g, g + 1, 2 * g, 63 * 31 * 3, 10000} {
		for _, p := range []float64{0, 0.001, 0.1, 0.5, 0.999, 1} {
			var b Builder[W]
			want := make([]uint64, Bitset(bits))
			for i := range bits {
				if r.Float64() < p {
					b.Add(i)
					want[i/64] |= 1 << (i % 64)
				}
			}
			words := b.AppendTo(nil, bits)
			got := make([]uint64, len(want))
			if err := Decompress(got, words, bits); err != nil {
				t.Fatalf("%d bits, p %v: %v", bits, p, err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%d bits, p %v: word %d is %x, want %x", bits, p, i, got[i], want[i])
				}
			}
		}
	}
}
