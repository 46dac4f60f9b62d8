package gather

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// mention is a posting of the wanted lists.
type mention struct{ doc, freq uint32 }

// TestPiles adds drawn chunks as the builder does, and reads the lists back in the order of
// their terms: first from empty memory, then from used memory.
func TestPiles(t *testing.T) {
	term := drawnTerms()
	rapid.Check(t, func(r *rapid.T) {
		var all Piles
		var part Tally
		for range 2 {
			all.Reset()
			want := map[string][]mention{}
			base := uint32(0)
			for range rapid.IntRange(0, 5).Draw(r, "chunks") {
				part.Reset()
				kept := uint32(0)
				for _, words := range rapid.SliceOfN(rapid.SliceOfN(term, 0, 8), 0, 30).Draw(r, "documents") {
					freqs := map[string]uint32{}
					for _, w := range words {
						n := rapid.SampledFrom([]uint32{1, 2, 1 << 20}).Draw(r, "n")
						if before := part.Count([]byte(w), n); before != freqs[w] {
							r.Fatalf("%q occurred %d times, counted %d", w, freqs[w], before)
						}
						freqs[w] += n
					}
					keep := rapid.IntRange(0, 9).Draw(r, "keep") > 0
					if part.End(keep); !keep {
						continue
					}
					for w, n := range freqs {
						want[w] = append(want[w], mention{base + kept, n})
					}
					kept++
				}
				records, groups := part.Append(nil, nil)
				all.Add(records, groups, base)
				base += kept + rapid.Uint32Range(0, 1<<20).Draw(r, "gap")
			}
			if got := all.Memory(); all.Empty() != (len(want) == 0) || (got == 0) != (len(want) == 0) {
				r.Fatalf("%d bytes of %d terms", got, len(want))
			}
			checkLists(r, all.Cursor(), want)
		}
	})
}

// checkLists reads all lists of c.
func checkLists(r *rapid.T, c Cursor, want map[string][]mention) {
	var l List
	for _, term := range slices.Sorted(maps.Keys(want)) {
		if err := c.Next(&l); err != nil {
			r.Fatal(err)
		}
		var m batch
		if err := m.add(&l, false); err != nil {
			r.Fatal(err)
		}
		var got []mention
		for i := range m.docs {
			got = append(got, mention{m.docs[i], m.freqs[i]})
		}
		if string(l.Term) != term || !slices.Equal(got, want[term]) || int(l.Docs) != len(got) {
			r.Fatalf("list %q of %d postings is %v, want %q: %v", l.Term, l.Docs, got, term, want[term])
		}
	}
	if err := c.Next(&l); err != io.EOF {
		r.Fatalf("behind the last list: %v, term %q", err, l.Term)
	}
}

// drawnTerms generates terms that share beginnings: short ones, and long ones.
func drawnTerms() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		head := rapid.SampledFrom([]string{"", "", "loom", "warpweft", "warp\x00eft0123456", "a long common beginning"}).Draw(t, "head")
		return head + string(rapid.SliceOfN(rapid.SampledFrom([]byte("ab\x00\xff")), 0, 5).Draw(t, "end"))
	})
}

// TestPilesCountTheirMemory: joining the piles takes at most the memory that they counted for it.
func TestPilesCountTheirMemory(t *testing.T) {
	for _, name := range []string{"%d", "a long common beginning %d", "%[1]d %[1]d"} {
		var p Piles
		for base := uint32(0); base < 100_000; base += 1000 {
			var chunk Tally
			for doc := range uint32(1000) {
				chunk.Count(fmt.Appendf(nil, name, (base+doc)*7919%30_000), 1)
				chunk.End(true)
			}
			records, groups := chunk.Append(nil, nil)
			p.Add(records, groups, base)
		}
		c := p.Cursor().(*pileCursor)
		for l := (List{}); c.Next(&l) == nil; {
		}
		terms := uint64(len(c.terms.pages)) * pageSize
		joined := uint64(cap(c.data)+cap(c.lists)+cap(c.ids)*4+len(c.terms.Slots)*4+c.terms.long.used*blockSize) + terms*(joinedSize+sortSize)
		// A block of the arena, a page of entries and the first slots are there in any case.
		if fixed := uint64(blockSize + pageSize*(joinedSize+sortSize) + firstSlots*4); joined > p.joining+fixed {
			t.Errorf("terms like %q: joining took %d bytes, %d counted", name, joined, p.joining)
		}
	}
}

// TestLexicon compares a lexicon with a map.
func TestLexicon(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var x lexicon[joined]
		for range 2 { // the second time in used memory
			x.reset()
			want := map[string]uint32{}
			for _, term := range rapid.SliceOfN(drawnTerms(), 0, 200).Draw(r, "terms") {
				room := rapid.SampledFrom([]int{0, 40}).Draw(r, "room") // behind the term
				b := append(make([]byte, 0, len(term)+room), term...)
				copy(b[len(b):cap(b)], "other bytes behind the term, of no effect")
				id, known := want[term]
				if got := x.Find(b); known && got != id || !known && got != uint32(len(want)) {
					r.Fatalf("term %q has number %d, want %d of %d", term, got, id, len(want))
				} else if want[term] = got; string(x.appendTerm([]byte("x"), x.at(got))) != "x"+term {
					r.Fatalf("entry %d of %q is %q", got, term, x.appendTerm(nil, x.at(got)))
				}
			}
			var got []string
			for _, id := range x.sorted() {
				got = append(got, string(x.appendTerm(nil, x.at(id))))
			}
			if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				r.Fatalf("sorted: %q", got)
			}
		}
	})
}

// TestAppendSized: appendSized is appendBytes, for lengths of one byte and of more.
func TestAppendSized(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 16_383, 16_384} {
		data := bytes.Repeat([]byte{byte(n)}, n)
		got := appendSized([]byte("x"), func(dst []byte) []byte { return append(dst, data...) })
		if !bytes.Equal(got, AppendBytes([]byte("x"), data)) {
			t.Errorf("%d bytes", n)
		}
	}
}
