package docset

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
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
		dst := make([]uint32, len(want)+Slack)
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

// TestOrTwoBits compares with OrBits of one set after the other.
func TestOrTwoBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "set")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		draw := func() []uint32 {
			set := make([]uint32, 2*r.IntN(24))
			dense := r.IntN(2) == 0
			for i := range set {
				if set[i] = r.Uint32(); dense {
					set[i] = ^uint32(0)
				}
			}
			return set
		}
		a, b := draw(), draw()
		want := slices.Clone(words)
		fullA := OrBits(want, a)
		full := OrBits(want, b) || fullA
		if got := OrTwoBits(words, a, b); got != full || !slices.Equal(words, want) {
			t.Fatalf("%x, full %t; want %x, full %t", words, got, want, full)
		}
	})
}

// TestExpand compares words of every density with their bits one by one, and writes up to Slack
// docIDs behind the last one.
func TestExpand(t *testing.T) {
	word := rapid.Custom(func(t *rapid.T) uint64 {
		x := rapid.Uint64().Draw(t, "word")
		for range rapid.IntRange(0, 3).Draw(t, "more bits") {
			x |= rapid.Uint64().Draw(t, "or")
		}
		return x &^ (0xff << rapid.SampledFrom([]int{64, 0, 24, 56}).Draw(t, "empty byte"))
	})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.OneOf(word, rapid.Just(^uint64(0)), rapid.Just(uint64(0))), 0, 20).Draw(t, "words")
		base := rapid.SampledFrom([]uint32{0, 64, 1000, 1<<32 - 64*20}).Draw(t, "base")
		var want []uint32
		for i, x := range words {
			for k := range 64 {
				if x>>k&1 != 0 {
					want = append(want, base+uint32(64*i+k))
				}
			}
		}
		dst := make([]uint32, len(want)+Slack)
		if got := dst[:Expand(dst, words, base)]; !slices.Equal(got, want) {
			t.Fatalf("%x: %v, want %v", words, got, want)
		}
	})
}
