package filter

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// TestSet compares the methods of a set with its documents. One in two sets has its docIDs.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		universe := rapid.Uint32Range(1, 700).Draw(t, "universe")
		most := int(universe) / sparse
		if rapid.Bool().Draw(t, "dense") {
			most = int(universe)
		}
		docs := rapid.SliceOfNDistinct(rapid.Uint32Range(0, universe-1), 0, most, rapid.ID).Draw(t, "docs")
		slices.Sort(docs)
		bits := make([]uint64, plan.FilterWords(universe))
		for _, x := range docs {
			bits[x/64] |= 1 << (x % 64)
		}
		s, err := New(universe, bits)
		if err != nil {
			t.Fatal(err)
		}
		if few := len(docs)*sparse <= int(universe); (s.Docs != nil) != few || few && !slices.Equal(s.Docs, docs) || int(s.Count()) != len(docs) {
			t.Fatalf("docIDs %v of %d in a universe of %d, want %v", s.Docs, s.Count(), universe, docs)
		}
		all := make([]uint32, universe+3) // some are behind the universe
		for x := range all {
			all[x] = uint32(x)
			next := uint64(Never)
			if i, _ := slices.BinarySearch(docs, uint32(x)); i < len(docs) {
				next = uint64(docs[i])
			}
			if got := s.Next(uint64(x)); got != next {
				t.Fatalf("%d follows %d, want %d", got, x, next)
			}
		}
		if n := s.Keep(all); !slices.Equal(all[:n], docs) {
			t.Fatalf("kept %v, want %v", all[:n], docs)
		}
		base := 64 * rapid.IntRange(0, len(bits)+1).Draw(t, "base")
		set := []uint64{^uint64(0), ^uint64(0), 0x5555}
		s.And(set, uint32(base))
		for i, word := range []uint64{^uint64(0), ^uint64(0), 0x5555} {
			if at := base/64 + i; at < len(bits) {
				word &= bits[at]
			} else {
				word = 0
			}
			if set[i] != word {
				t.Fatalf("word %d from document %d: %x, want %x", i, base, set[i], word)
			}
		}
	})
}

// TestDocsBound: docIDs take no more memory than the bits.
func TestDocsBound(t *testing.T) {
	for n, want := range map[int]bool{2: true, 3: false} {
		s, err := New(2*sparse, []uint64{1<<n - 1})
		if err != nil || (s.Docs != nil) != want {
			t.Errorf("%d of %d documents: docIDs %v, %v", n, 2*sparse, s.Docs, err)
		}
	}
}
