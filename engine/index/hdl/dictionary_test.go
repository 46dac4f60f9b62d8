package hdl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"heddle/engine/plan"
)

func TestDictionary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := rapid.SliceOfNDistinct(rapid.StringN(0, 3, -1), 0, 200, rapid.ID).Draw(t, "terms")
		d, err := NewDictionary(terms)
		if err != nil {
			t.Fatal(err)
		}
		if d.Terms() != len(terms) {
			t.Fatalf("%d terms, want %d", d.Terms(), len(terms))
		}
		oracle := map[string]plan.Handle{}
		for h, term := range terms {
			oracle[term] = plan.Handle(h)
			if got := d.Term(plan.Handle(h)); got != term {
				t.Fatalf("term %d is %q, want %q", h, got, term)
			}
		}
		queries := append(rapid.SliceOf(rapid.StringN(0, 3, -1)).Draw(t, "queries"), terms...)
		for _, q := range queries {
			want, there := oracle[q]
			if got, ok := d.Lookup(q); got != want || ok != there {
				t.Fatalf("Lookup(%q) = %d, %v, want %d, %v", q, got, ok, want, there)
			}
		}
	})
}

func TestDictionaryErrors(t *testing.T) {
	for name, terms := range map[string][]string{
		"twice":    {"a", "b", "a"},
		"empty":    {"", ""},
		"too long": {strings.Repeat("x", MaxTermLen+1)},
	} {
		if _, err := NewDictionary(terms); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewDictionary([]string{strings.Repeat("x", MaxTermLen)}); err != nil {
		t.Error(err)
	}
}

// TestDictionaryCollisions puts all terms behind one slot, at the end of the
// table: probing must go around and compare the terms themselves.
func TestDictionaryCollisions(t *testing.T) {
	terms := []string{"a", "b", "c", "d", "e"}
	d, err := NewDictionary(terms)
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range terms {
		hash := xxhash.Sum64String(wanted)
		clear(d.slots)
		at := hash & uint64(len(d.slots)-1)
		for _, h := range []plan.Handle{3, 1, 4, 2, 0} {
			insert(d.slots, at|hash>>32<<32, h) // the same slot and the same tag
		}
		if h, ok := d.Lookup(wanted); !ok || terms[h] != wanted {
			t.Errorf("Lookup(%q) = %d, %v", wanted, h, ok)
		}
	}
}

func TestSlotCount(t *testing.T) {
	for n := uint64(0); n < 5000; n++ {
		slots := slotCount(n)
		if slots&(slots-1) != 0 || 3*(slots-n) < slots || slots > 2 && slots/2 > n+n/2 {
			t.Fatalf("%d slots for %d terms", slots, n)
		}
	}
	if got := slotCount(1<<32 - 1); got != 1<<33 {
		t.Errorf("%d slots for the most terms", got)
	}
}

func TestLookupAllocates(t *testing.T) {
	f := mustOpen(t, tiny().build(t))
	if n := testing.AllocsPerRun(100, func() {
		f.Lookup("warp")
		f.Lookup("shuttle")
	}); n != 0 {
		t.Errorf("Lookup allocates %v times", n)
	}
}

// BenchmarkLookup looks terms up in an order that no cache predicts. The queries
// themselves lie side by side, as in a batch.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = fmt.Sprintf("term%07d", i)
		}
		d, err := NewDictionary(terms)
		if err != nil {
			b.Fatal(err)
		}
		order := rand.New(rand.NewPCG(5, 6)).Perm(n)
		for _, name := range []string{"hit", "miss"} {
			queries := make([]string, n)
			for i, j := range order {
				if queries[i] = fmt.Sprintf("term%07d", j); name == "miss" {
					queries[i] = fmt.Sprintf("miss%07d", j)
				}
			}
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if _, ok := d.Lookup(queries[i]); ok != (name == "hit") {
						b.Fatal(queries[i])
					}
					if i++; i == n {
						i = 0
					}
				}
			})
		}
	}
}

// TestNameAllocates: the name alone is on the heap.
func TestNameAllocates(t *testing.T) {
	f := mustOpen(t, tiny().build(t))
	if n := testing.AllocsPerRun(100, func() { f.DocName(0) }); n > 1 {
		t.Errorf("DocName allocates %v times", n)
	}
}

// TestInlineEnds: the last docID is the last document.
func TestInlineEnds(t *testing.T) {
	var docs, freqs [1]uint32
	for gap, bad := range map[byte]bool{47: false, 49: true} {
		f := fields{rest: []byte{gap}}
		if f.postings(docs[:], freqs[:], 24) != bad {
			t.Errorf("docID %d out of 24 documents: bad %v", gap>>1, !bad)
		}
	}
}
