package rank

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSelectGreatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) key { return key(rapid.Uint64Max(50).Draw(t, "key")) }), 1, 200).Draw(t, "keys")
		k := rapid.IntRange(1, len(keys)).Draw(t, "k")
		want := slices.Clone(keys)
		slices.Sort(want)
		slices.Reverse(want)
		selectGreatest(keys, k)
		if keys[k-1] != want[k-1] {
			t.Fatalf("key %d is %d, want %d", k, keys[k-1], want[k-1])
		}
		got := slices.Clone(keys)
		slices.Sort(got[:k])
		slices.Reverse(got[:k])
		if !slices.Equal(got[:k], want[:k]) {
			t.Errorf("the greatest are %v, want %v", got[:k], want[:k])
		}
	})
}

// TestSelectInOrder: keys in order, or in two orders, are selected in linear time. In quadratic time the test would
// take minutes.
func TestSelectInOrder(t *testing.T) {
	const n, k = 1 << 20, 700_000
	for name, at := range map[string]func(i int) int{
		"ascending": func(i int) int { return i }, "descending": func(i int) int { return n - i },
		"up and down": func(i int) int { return min(2*i, 2*(n-i)-1) }, "down and up": func(i int) int { return max(2*i-n, n-2*i-1) },
	} {
		keys := make([]key, n)
		for i := range keys {
			keys[i] = key(at(i))
		}
		selectGreatest(keys, k)
		if least, next := slices.Min(keys[:k]), slices.Max(keys[k:]); keys[k-1] != least || least <= next {
			t.Errorf("%s: key %d is %d, the least of the greatest %d, the greatest other one %d", name, k, keys[k-1], least, next)
		}
	}
}

// TestAppendSorted covers few keys and many, close to each other and far apart, and many in one bucket.
func TestAppendSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 2*fewKeys), rapid.IntRange(0, 4000)).Draw(t, "keys")
		r := rand.New(rand.NewPCG(6, rapid.Uint64().Draw(t, "seed")))
		shift, clusters := rapid.IntRange(0, 63).Draw(t, "shift"), rapid.SliceOfN(rapid.Uint64(), 1, 5).Draw(t, "clusters")
		keys := make([]key, n)
		for i := range keys {
			keys[i] = key(clusters[r.IntN(len(clusters))] + r.Uint64()>>shift)
		}
		before := []key{3, 1, 2}
		want := slices.Concat(before, slices.Sorted(slices.Values(keys)))
		if got := appendSorted(before, keys); !slices.Equal(got, want) {
			t.Errorf("%d keys: %x, want %x", n, got, want)
		}
	})
}
