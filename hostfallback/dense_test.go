package hostfallback

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
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
		if got := and(acc, a, b); got != count(acc) {
			t.Fatalf("and counts %d of %d", got, count(acc))
		}
		if got := andMore(acc, c); got != len(want) {
			t.Fatalf("andMore counts %d of %d", got, len(want))
		}
		dst := make([]uint32, len(want)+3)
		if got := dst[:expand(dst, acc, 1000)]; !slices.Equal(got, want) {
			t.Fatalf("expand: %v, want %v", got, want)
		}
		join(acc, a)
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

// Which queries go word by word: those of two dense lists, and of Bitset lists.
func TestDenseLead(t *testing.T) {
	const docs = 1 << 16
	r := rand.New(rand.NewPCG(3, 2))
	for _, c := range []struct {
		id    codec.ID
		n     int
		dense bool
	}{
		{codec.Raw, docs / 20, false},
		{codec.Raw, docs / 10, true},
		{codec.ParaPFor, docs / 20, false},
		{codec.ParaPFor, docs / 10, true},
		{codec.Bitset, docs / 20, true},
		{codec.Raw, 100, false},
	} {
		src := source(t, docs, []codec.ID{c.id}, uniform(r, c.n, docs))
		st := open(t, src, Options{})
		table, err := st.tables.auto(0)
		if err != nil {
			t.Fatal(err)
		}
		var l lead
		if err := l.open(st, 0, table, everywhere); err != nil {
			t.Fatal(err)
		}
		if l.dense != c.dense {
			t.Errorf("%d docIDs as %v: dense %t", c.n, c.id, l.dense)
		}
		if err := l.open(st, 0, nil, everywhere); err != nil || l.dense {
			t.Errorf("%d docIDs as %v under bs: dense %t, %v", c.n, c.id, l.dense, err)
		}
	}
}
