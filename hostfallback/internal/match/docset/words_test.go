package docset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec/codectest"
	"heddle/engine/plan/reference"
	"heddle/hostfallback/internal/hosttest"
)

func TestWordsOfList(t *testing.T) {
	w := NewWords([]uint32{0, 63, 64, 200, 201, math.MaxUint32}, 4)
	if !slices.Equal(w.Index, []uint32{0, 1, 3, math.MaxUint32 / 64}) || !slices.Equal(w.Bits, []uint64{1<<63 | 1, 1, 3 << 8, 1 << 63}) {
		t.Errorf("%+v", w)
	}
	for _, g := range codectest.Generators() {
		docs := g.List(6, 3000, 1<<20)
		if w := NewWords(docs, 0); len(w.Index) != CountWords(docs) {
			t.Errorf("%s: %d words, counted %d", g.Name, len(w.Index), CountWords(docs))
		}
	}
}

// expanded returns the docIDs of w.
func (w Words) expanded() (docs []uint32) {
	for i, x := range w.Bits {
		for k := range uint32(64) {
			if x>>k&1 != 0 {
				docs = append(docs, 64*w.Index[i]+k)
			}
		}
	}
	return docs
}

func TestAndWords(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for _, g := range codectest.Generators() {
		a, b := g.Gen(r, 2000, 1<<17), hosttest.Uniform(r, 30_000, 1<<16) // the bitset ends earlier
		set := make([]uint32, 1<<11)
		for _, x := range b {
			set[x/32] |= 1 << (x % 32)
		}
		w, want := NewWords(a, 0), reference.Intersect(a, b)
		if n := w.CountAnd(set); n != len(want) {
			t.Errorf("%s: counted %d docIDs, want %d", g.Name, n, len(want))
		}
		got, n := w.And(w, set) // in place
		if !slices.Equal(got.expanded(), want) || n != len(want) || slices.Contains(got.Bits, 0) {
			t.Errorf("%s: %d docIDs, counted %d, want %d, or a word is zero", g.Name, len(got.expanded()), n, len(want))
		}
		dst := make([]uint32, n+Slack)
		if !slices.Equal(dst[:got.Expand(dst)], want) {
			t.Errorf("%s: Expand writes other docIDs", g.Name)
		}
	}
}

func TestNonZero(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range 100 {
		docs, set := hosttest.Uniform(r, r.IntN(300), 1<<14), make([]uint64, 1<<8)
		for _, x := range docs {
			set[x/64] |= 1 << (x % 64)
		}
		want := NewWords(docs, 0)
		for i := range want.Index {
			want.Index[i] += 7
		}
		if got := NonZero(Words{make([]uint32, len(set)), set}, set, 7); !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Bits, want.Bits) {
			t.Fatalf("%v: words %v, want %v", docs, got.Index, want.Index)
		}
	}
}

func TestStretch(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for range 500 {
		docs := hosttest.Uniform(r, r.IntN(200), 2000)
		s := Interval{r.Uint32N(2100), r.Uint32N(2100)}
		if r.IntN(10) == 0 {
			s.Last = math.MaxUint32
		}
		var want []uint32
		for _, x := range docs {
			if x >= s.First && x <= s.Last {
				want = append(want, x)
			}
		}
		if s.First > s.Last {
			continue // no caller asks
		}
		if got := s.Cut(docs); !slices.Equal(got, want) {
			t.Fatalf("%+v of %v: %v", s, docs, got)
		}
		got := s.CutWords(NewWords(docs, 0)).expanded()
		if from, _ := slices.BinarySearch(got, s.First); !slices.Equal(s.Cut(got), want) || from >= 64 {
			t.Fatalf("%+v of the words of %v: %v", s, docs, got)
		}
	}
}
