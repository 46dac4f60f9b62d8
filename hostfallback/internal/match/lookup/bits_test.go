package lookup

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		n := r.IntN(20)
		a, b, c := make([]uint32, 2*n+1), make([]uint32, 2*n), make([]uint32, 2*n)
		var want []uint32 // bits of all three
		for i := range 2 * n {
			a[i], b[i], c[i] = r.Uint32()|r.Uint32(), r.Uint32()|r.Uint32(), r.Uint32()>>r.IntN(32)
			for k := range 32 {
				if (a[i]&b[i]&c[i])>>k&1 != 0 {
					want = append(want, uint32(1000+32*i+k))
				}
			}
		}
		acc := make([]uint64, n)
		if got := AndBits(acc, a, b); got != count(acc) {
			t.Fatalf("and counts %d of %d", got, count(acc))
		}
		if got := AndMoreBits(acc, c); got != len(want) {
			t.Fatalf("andMore counts %d of %d", got, len(want))
		}
		dst := make([]uint32, len(want)+3)
		if got := dst[:Expand(dst, acc, 1000)]; !slices.Equal(got, want) {
			t.Fatalf("expand: %v, want %v", got, want)
		}
		CopyBits(acc, a)
		for i, x := range acc {
			if uint32(x) != a[2*i] || uint32(x>>32) != a[2*i+1] {
				t.Fatalf("join: %x of %x", acc, a)
			}
		}
	}
}

func count(words []uint64) (n int) {
	for _, x := range words {
		n += bits.OnesCount64(x)
	}
	return n
}
