package harness

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/bench/workload"
)

// TestSemiSort compares the order with a stable sort by the class of the length.
func TestSemiSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOf(rapid.Uint32()).Draw(t, "lengths of the shortest lists")
		batch, want := make([]workload.Query, len(lengths)), make([]int, len(lengths))
		for i := range batch {
			batch[i].Terms, want[i] = []string{fmt.Sprint(i)}, i
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(bits.Len32(lengths[a]), bits.Len32(lengths[b])) })
		var s semiSort
		s.order(batch, func(i int) uint32 { return lengths[i] })
		if !slices.Equal(s.from, want) {
			t.Fatalf("%v has the order %v, want %v", lengths, s.from, want)
		}
		for i, q := range s.queries {
			if q.Terms[0] != fmt.Sprint(want[i]) {
				t.Fatalf("place %d has query %s, want %d", i, q.Terms[0], want[i])
			}
		}
	})
}
