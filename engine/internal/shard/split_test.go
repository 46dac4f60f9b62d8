package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// whole is a source with the lists that it was made of.
type whole struct {
	plan.Source
	docs, freqs [][]uint32
}

// add appends a list, with frequencies if the other lists of the source have them.
func (w *whole) add(t testing.TB, id codec.ID, docs []uint32, freq func(i int) uint32) {
	t.Helper()
	h, err := w.Append(id, docs, codec.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	w.docs = append(w.docs, docs)
	if freq == nil {
		return
	}
	freqs := make([]uint32, len(docs))
	for i := range freqs {
		freqs[i] = freq(i)
	}
	if err := w.AppendFreqs(h, freqs, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	w.freqs = append(w.freqs, freqs)
}

// random has lists of every kind in every codec, with frequencies.
func random(t testing.TB, docs uint32, most int, seed uint64) *whole {
	r := rand.New(rand.NewPCG(seed, uint64(docs)))
	w := &whole{Source: plan.Source{Docs: docs, Freqs: []uint32{}}}
	if docs < 1<<24 {
		w.Lengths = make([]uint32, docs)
		for d := range w.Lengths {
			w.Lengths[d] = r.Uint32N(500)
		}
	}
	for i, g := range codectest.Generators() {
		for _, id := range codec.IDs() {
			if list := g.Gen(r, r.IntN(most), uint64(docs)); id != codec.Bitset || len(list) == 0 || list[len(list)-1] < 1<<24 {
				w.add(t, id, list, func(int) uint32 { return 1 + r.Uint32()>>(r.IntN(8)+8*(i%3+1)) })
			}
		}
	}
	return w
}

// check compares parts with their whole and returns their postings.
func (w *whole) check(t testing.TB, parts []Part, n int) (postings []uint64) {
	t.Helper()
	if len(parts) != n {
		t.Fatalf("%d parts, want %d", len(parts), n)
	}
	end := uint64(0)
	at := make([]int, len(w.docs))
	for i, p := range parts {
		if uint64(p.First) != end {
			t.Fatalf("part %d starts at document %d, the one before ends at %d", i, p.First, end)
		}
		end += uint64(p.Source.Docs)
		if err := p.Source.Validate(); err != nil {
			t.Fatalf("part %d: %v", i, err)
		}
		if len(p.Source.Lists) != len(w.Lists) || p.Source.Impacts != w.Impacts || (p.Source.Freqs == nil) != (w.Freqs == nil) {
			t.Fatalf("part %d has %d lists, impacts of %d bits, frequencies: %t", i, len(p.Source.Lists), p.Source.Impacts, p.Source.Freqs != nil)
		}
		if len(w.Lengths) > 0 && (uint32(len(p.Source.Lengths)) != p.Source.Docs || p.Source.Docs > 0 && &p.Source.Lengths[0] != &w.Lengths[p.First]) {
			t.Fatalf("part %d has %d lengths of %d documents, or copies", i, len(p.Source.Lengths), p.Source.Docs)
		}
		total := uint64(0)
		for h := range w.docs {
			got, err := p.Source.List(plan.Handle(h)).AppendTo(nil)
			if err != nil {
				t.Fatalf("part %d, list %d: %v", i, h, err)
			}
			for j := range got {
				got[j] += p.First
			}
			want := w.docs[h][at[h]:]
			j, _ := slices.BinarySearchFunc(want, end, func(d uint32, end uint64) int { return min(int(int64(d)-int64(end)), 0)*2 + 1 })
			if want = want[:j]; !slices.Equal(got, want) {
				t.Fatalf("part %d, list %d (%v): documents %d, want %d", i, h, w.Lists[h].Codec, got, want)
			}
			if l := p.Source.Lists[h]; l.Codec != w.Lists[h].Codec && l.Codec != codec.Raw || n > 1 && l.Words > l.Len {
				t.Fatalf("part %d, list %d: %v of %d in %d words, was %v", i, h, l.Codec, l.Len, l.Words, w.Lists[h].Codec)
			}
			if w.Freqs != nil {
				f, err := p.Source.Freq(plan.Handle(h))
				if err != nil {
					t.Fatal(err)
				}
				values, err := f.AppendTo(nil)
				for k := range values {
					values[k]++
				}
				if err != nil || !slices.Equal(values, w.freqs[h][at[h]:at[h]+j]) {
					t.Fatalf("part %d, list %d: frequencies %d, want %d, %v", i, h, values, w.freqs[h][at[h]:at[h]+j], err)
				}
			}
			at[h] += j
			total += uint64(j)
		}
		postings = append(postings, total)
	}
	if end != uint64(w.Docs) {
		t.Fatalf("parts of %d documents, want %d", end, w.Docs)
	}
	return postings
}

func TestSplit(t *testing.T) {
	for _, docs := range []uint32{0, 1, 2, 1000, 1<<14 + 1, 300_000, math.MaxUint32} {
		w := random(t, docs, 150, 1)
		if docs > 1 {
			w.add(t, codec.ParaPFor, []uint32{docs - 2, docs - 1}, func(int) uint32 { return math.MaxUint32 })
			w.add(t, codec.LRC, []uint32{0}, func(int) uint32 { return 1 })
		}
		for _, n := range []int{1, 2, 7, 40} {
			t.Run(fmt.Sprintf("%d documents in %d parts", docs, n), func(t *testing.T) {
				parts, err := Split(t.Context(), &w.Source, n)
				if err != nil {
					t.Fatal(err)
				}
				w.check(t, parts, n)
			})
		}
	}
}

// TestSplitNothing cuts a source without lists, and one of empty lists.
func TestSplitNothing(t *testing.T) {
	for _, w := range []*whole{{Source: plan.Source{Docs: 10}}, {Source: plan.Source{Docs: 10, Freqs: []uint32{}}}} {
		for range 2 {
			parts, err := Split(t.Context(), &w.Source, 4)
			if err != nil {
				t.Fatal(err)
			}
			w.check(t, parts, 4)
			for i, p := range parts { // even shares all the same
				if p.Source.Docs < 2 || p.Source.Docs > 3 {
					t.Errorf("part %d has %d of 10 documents", i, p.Source.Docs)
				}
			}
			freq := func(int) uint32 { return 1 }
			if w.Freqs == nil {
				freq = nil
			}
			w.add(t, codec.Rice, nil, freq)
		}
	}
}

// TestSplitEvenly has documents of very different numbers of terms.
func TestSplitEvenly(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	w := &whole{Source: plan.Source{Docs: 200_000}}
	for range 100 {
		docs := make([]uint32, 1000)
		for i := range docs { // most are in the first documents
			docs[i] = uint32(float64(w.Docs) * math.Pow(r.Float64(), 4))
		}
		slices.Sort(docs)
		w.add(t, codec.ParaPFor, slices.Compact(docs), nil)
	}
	for _, n := range []int{2, 3, 7} {
		parts, err := Split(t.Context(), &w.Source, n)
		if err != nil {
			t.Fatal(err)
		}
		postings := w.check(t, parts, n)
		if least, most := slices.Min(postings), slices.Max(postings); float64(most) > 1.1*float64(least) {
			t.Errorf("%d parts of %d postings", n, postings)
		}
	}
}

// TestSplitPieces has more lists than one piece takes. The parts do not depend on which
// goroutine cuts which.
func TestSplitPieces(t *testing.T) {
	w := &whole{Source: plan.Source{Docs: 5000}}
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 30_000 {
		w.add(t, codec.IDs()[i%3], []uint32{r.Uint32N(2000), 2000 + r.Uint32N(3000)}, nil)
	}
	if n := len(piecesOf(&w.Source)); n < 3 {
		t.Fatalf("%d pieces", n-1)
	}
	first, err := Split(t.Context(), &w.Source, 3)
	if err != nil {
		t.Fatal(err)
	}
	w.check(t, first, 3)
	again, err := Split(t.Context(), &w.Source, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if !slices.Equal(first[i].Source.Words, again[i].Source.Words) || !slices.Equal(first[i].Source.Lists, again[i].Source.Lists) {
			t.Errorf("part %d differs from one call to the next", i)
		}
	}
	for _, bad := range []int{0, 29_999} { // a piece that fails keeps none waiting
		damaged := w.Source
		damaged.Words = slices.Clone(w.Words)
		damaged.Words[w.Lists[bad].Off] = 5000
		if parts, err := Split(t.Context(), &damaged, 3); parts != nil || !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("list %d", bad)) {
			t.Errorf("list %d is damaged: %v", bad, err)
		}
	}
}

func TestSplitErrors(t *testing.T) {
	w := random(t, 3000, 300, 2)
	h := slices.IndexFunc(w.Lists, func(l plan.List) bool { return l.Codec == codec.ParaPFor && l.Len > 130 })
	cases := map[string]func(src *plan.Source){
		fmt.Sprintf("docIDs of list %d", h): func(src *plan.Source) { src.Words[src.Lists[h].Off] ^= 1 << 30 },
		fmt.Sprintf("frequencies of list %d", h): func(src *plan.Source) {
			src.Freqs[src.Lists[h].FreqOff+1] = 1 << 31
		},
		"outside the": func(src *plan.Source) { src.Lists[h].Off += 1 << 40 },
		"has docID":   func(src *plan.Source) { src.Docs /= 2; src.Lengths = src.Lengths[:src.Docs] },
		"has docID 2999, there are 2999 documents": func(src *plan.Source) { src.Docs--; src.Lengths = src.Lengths[:src.Docs] },
		"unknown codec":     func(src *plan.Source) { src.Lists[h].Codec = 99 },
		"not a multiple of": func(src *plan.Source) { src.Lists[h].Off++ },
	}
	for want, spoil := range cases {
		src := w.Source
		src.Words, src.Freqs, src.Lists = slices.Clone(src.Words), slices.Clone(src.Freqs), slices.Clone(src.Lists)
		spoil(&src)
		if parts, err := Split(t.Context(), &src, 2); parts != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	// A wrong frequency in the first piece ends the pieces that wait for it.
	all := make([]uint32, pieceLoad)
	for d := range all {
		all[d] = uint32(d)
	}
	long := &whole{Source: plan.Source{Docs: pieceLoad, Freqs: []uint32{}}}
	for range 5 {
		long.add(t, codec.Bitset, all, func(int) uint32 { return 1 })
	}
	long.Freqs[long.Lists[0].FreqOff+1] = 1 << 31
	if _, err := Split(t.Context(), &long.Source, 2); err == nil || !strings.Contains(err.Error(), "frequencies of list 0") {
		t.Error(err)
	}
	if _, err := Split(t.Context(), &w.Source, 0); err == nil {
		t.Error("no parts at all")
	}
	for _, n := range []int{1, 4} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := Split(ctx, &w.Source, n); !errors.Is(err, context.Canceled) {
			t.Errorf("%d parts under a cancelled context: %v", n, err)
		}
	}
}
