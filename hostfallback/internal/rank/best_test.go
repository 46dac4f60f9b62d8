package rank

import (
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
