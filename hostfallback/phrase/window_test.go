package phrase

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// indri counts the unordered windows of a text as UnorderedWindowNode of Indri: from each occurrence of each word of the window on, all
// words must begin within the size. Equal words are words of their own, with the same occurrences.
func indri(text, words []int, size int) (n uint64) {
	type occurrence struct{ at, word int }
	var all []occurrence
	for i, w := range words {
		for at, one := range text {
			if one == w {
				all = append(all, occurrence{at, i})
			}
		}
	}
	slices.SortFunc(all, func(a, b occurrence) int { return cmp.Or(a.at-b.at, a.word-b.word) })
	for i, first := range all {
		found := map[int]bool{}
		for _, next := range all[i:] {
			if next.at+1-first.at > size {
				break
			}
			found[next.word] = true
		}
		if len(found) == len(words) {
			n++
		}
	}
	return n
}

// TestWindows compares unordered windows with the rule of Indri, also of equal words: one red is enough for NEAR/5(red red).
func TestWindows(t *testing.T) {
	if n := indri([]int{0}, []int{0, 0}, 5); n != 1 {
		t.Errorf("two equal words have %d windows in a text of one", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.IntRange(0, 2)
		docs := rapid.SliceOfN(rapid.SliceOfN(word, 0, 12), 1, 20).Draw(t, "documents")
		words, size := rapid.SliceOfN(word, 2, 4).Draw(t, "words"), rapid.IntRange(1, 8).Draw(t, "size")
		p := plan.Phrase{Kind: plan.Near, Distance: uint32(size)}
		for _, w := range words {
			p.Slots = append(p.Slots, plan.Slot{Lists: []plan.Handle{plan.Handle(w)}})
		}
		var made plan.Made
		if err := Make(t.Context(), source(t, docs, 3), &p, nil, &made); err != nil {
			t.Fatal(err)
		}
		for d, text := range docs {
			got := uint64(0)
			if i, ok := slices.BinarySearch(made.Docs, uint32(d)); ok {
				got = made.Freqs[i] >> plan.FreqBits
			}
			if want := indri(text, words, size); got != want {
				t.Fatalf("NEAR/%d of %v in %v: %d windows, want %d", size, words, text, got, want)
			}
		}
	})
}
