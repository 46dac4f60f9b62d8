package build

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPiles adds drawn chunks as the builder does, and reads the lists back in the order of
// their terms: first from empty memory, then from used memory.
func TestPiles(t *testing.T) {
	term := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\x00\xff")), 0, 5)
	rapid.Check(t, func(r *rapid.T) {
		var all piles
		var part postings
		for range 2 {
			all.reset()
			want := map[string][]posting{}
			base := uint32(0)
			for range rapid.IntRange(0, 5).Draw(r, "chunks") {
				part.reset()
				n := rapid.Uint32Range(1, 100).Draw(r, "documents")
				for range rapid.IntRange(0, 10).Draw(r, "terms") {
					text := term.Draw(r, "term")
					e := part.entry(part.find(text, hashTerm(text)))
					if e.docs > 0 { // drawn before
						continue
					}
					docs := rapid.SliceOfNDistinct(rapid.Uint32Range(0, n-1), 0, int(n), rapid.ID).Draw(r, "docs")
					for _, d := range slices.Sorted(slices.Values(docs)) {
						f := rapid.SampledFrom([]uint32{1, 2, 3, 1 << 20}).Draw(r, "freq")
						part.put(e, d, f)
						want[string(text)] = append(want[string(text)], posting{base + d, f})
					}
				}
				all.add(&part, base)
				base += n
			}
			if got := all.memory(); all.empty() != (len(want) == 0) || (got == 0) != (len(want) == 0) {
				r.Fatalf("%d bytes of %d terms", got, len(want))
			}
			checkLists(r, all.cursor(), want)
		}
	})
}

// checkLists reads all lists of c.
func checkLists(r *rapid.T, c cursor, want map[string][]posting) {
	var l list
	for _, term := range slices.Sorted(maps.Keys(want)) {
		if err := c.next(&l); err != nil {
			r.Fatal(err)
		}
		var m merged
		if err := m.add(&l); err != nil {
			r.Fatal(err)
		}
		var got []posting
		for i := range m.docs {
			got = append(got, posting{m.docs[i], m.freqs[i]})
		}
		if string(l.term) != term || !slices.Equal(got, want[term]) || int(l.docs) != len(got) {
			r.Fatalf("list %q of %d postings is %v, want %q: %v", l.term, l.docs, got, term, want[term])
		}
	}
	if err := c.next(&l); err != io.EOF {
		r.Fatalf("behind the last list: %v, term %q", err, l.term)
	}
}

// TestPilesCountTheirMemory: joining the piles takes at most the memory that they counted for it.
func TestPilesCountTheirMemory(t *testing.T) {
	for _, name := range []string{"%d", "a long common beginning %d", "%[1]d %[1]d"} {
		var p piles
		for base := uint32(0); base < 100_000; base += 1000 {
			var chunk postings
			for doc := range uint32(1000) {
				term := fmt.Appendf(nil, name, (base+doc)*7919%30_000)
				chunk.put(chunk.entry(chunk.find(term, hashTerm(term))), doc, 1)
			}
			p.add(&chunk, base)
		}
		c := p.cursor().(*pileCursor)
		for l := (list{}); c.next(&l) == nil; {
		}
		// A block of the arena, a page of entries and the first slots are there in any case.
		joined := uint64(cap(c.data)) + c.last.memory() - min(c.last.memory(), blockSize+pageSize*(entrySize+sortSize)+firstSlots*4)
		if joined > p.joining {
			t.Errorf("terms like %q: joining took %d bytes, %d counted", name, joined, p.joining)
		}
	}
}
