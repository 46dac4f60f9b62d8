package phrase

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback/phrase"
)

const (
	words     = 9
	documents = 500
)

// generators make the gap before the next position of a word in a document, or end its positions.
var generators = map[string]func(r *rand.Rand, doc, word, n int) (gap uint32, more bool){
	"one":   func(r *rand.Rand, _, _, n int) (uint32, bool) { return r.Uint32N(12), n < 1 },
	"few":   func(r *rand.Rand, _, word, n int) (uint32, bool) { return r.Uint32N(9), r.IntN(word+2) > 0 && n < 20 },
	"dense": func(r *rand.Rand, _, _, n int) (uint32, bool) { return r.Uint32N(2), n < 40 && r.IntN(30) > 0 },
	"bursts": func(r *rand.Rand, _, _, n int) (uint32, bool) {
		if n%7 == 0 {
			return r.Uint32N(3) << 12, n < 35
		}
		return r.Uint32N(3), true
	},
	"equal": func(_ *rand.Rand, doc, _, n int) (uint32, bool) { return uint32(n % 3), n < doc%6 },
	"far":   func(r *rand.Rand, _, _, n int) (uint32, bool) { return r.Uint32N(3) << 28, n < 6 },
	"long": func(r *rand.Rand, doc, word, n int) (uint32, bool) {
		return r.Uint32N(20), n < doc%5*100 && (doc+word)%90 < 9
	},
}

// positionsOf draws the positions of a generator, by word and document. No generator leaves a word without documents.
func positionsOf(next func(r *rand.Rand, doc, word, n int) (uint32, bool)) []map[uint32][]uint32 {
	r, at := rand.New(rand.NewPCG(42, 0)), make([]map[uint32][]uint32, words)
	for w := range at {
		at[w] = map[uint32][]uint32{}
		for d := range documents {
			position := uint32(1<<32 - 1)
			for n := 0; r.IntN(words) > 0 || n > 0; n++ {
				gap, more := next(r, d, w, n)
				if !more {
					break
				}
				position += gap + 1
				at[w][uint32(d)] = append(at[w][uint32(d)], position)
			}
		}
	}
	return at
}

// sourceOf makes lists of codecs in turn with these positions.
func sourceOf(t *testing.T, at []map[uint32][]uint32) *plan.Source {
	src := &plan.Source{Docs: documents, Lengths: make([]uint32, documents)}
	freqs, values := make([][]uint32, len(at)), make([][]uint32, len(at))
	for w, places := range at {
		docs := slices.Sorted(maps.Keys(places))
		for _, d := range docs {
			freqs[w] = append(freqs[w], uint32(len(places[d])))
			next := uint32(0)
			for _, p := range places[d] {
				values[w], next = append(values[w], p-next), p+1
			}
		}
		h, err := src.Append([]codec.ID{codec.ParaPFor, codec.Raw, codec.Bitset}[w%3], docs, codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, freqs[w], codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	src.SetPositions(freqs, values)
	return src
}

// drawn are phrases and windows of two to Slots words, some of them repeated.
func drawn(n int) (all []*plan.Phrase) {
	r := rand.New(rand.NewPCG(1, 0))
	for i := range n {
		p := &plan.Phrase{Kind: plan.PhraseKind(i % 4), Distance: []uint32{0, 1, 2, 3, 5, 10, 100, 1<<31 - 1, 1<<32 - 1}[r.IntN(9)]}
		order, offset := r.Perm(words), uint32(0)
		for j := range 2 + r.IntN(1+r.IntN(Slots-1)) {
			w := order[j]
			if r.IntN(5) < i/4%4 {
				w = order[0]
			}
			p.Slots = append(p.Slots, plan.Slot{Offset: offset, Lists: []plan.Handle{plan.Handle(w)}})
			offset += r.Uint32N(3)
		}
		all = append(all, p)
	}
	return all
}

// alternatives are phrases and windows of two or three words with several lists, some of which words have in common.
func alternatives(n int) (all []*plan.Phrase) {
	r := rand.New(rand.NewPCG(2, 0))
	for i := range n {
		p := &plan.Phrase{Kind: plan.PhraseKind(i % 4), Distance: []uint32{0, 1, 2, 3, 5, 10, 100}[r.IntN(7)]}
		order, offset := r.Perm(words), uint32(0)
		for range 2 + r.IntN(2) {
			var slot plan.Slot
			for k := range 1 + r.IntN(3) {
				slot.Lists = append(slot.Lists, plan.Handle(order[k]))
			}
			if order = order[len(slot.Lists):]; p.Kind != plan.Sloppy && r.IntN(2) == 0 {
				order = r.Perm(words)
			}
			slot.Offset = offset
			p.Slots = append(p.Slots, slot)
			offset += r.Uint32N(3)
		}
		if p.Kind != plan.Sloppy && i%9 == 0 { // more lists than the kernels take of a document
			for s := range p.Slots {
				p.Slots[s].Lists = nil
				for w := range words {
					p.Slots[s].Lists = append(p.Slots[s].Lists, plan.Handle(w))
				}
			}
		}
		all = append(all, p)
	}
	return all
}

// makesAll compares the lists of some phrases with plain Go.
func makesAll(t *testing.T, at []map[uint32][]uint32, all []*plan.Phrase, made func(i int) *plan.Made) {
	t.Helper()
	var found [plan.Ordered + 1]int
	for i, p := range all {
		want, got := plain(at, p), made(i)
		if got == nil || !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Freqs, want.Freqs) {
			t.Fatalf("%+v: %+v, want %+v", p, got, want)
		}
		found[p.Kind] += len(want.Docs)
	}
	if slices.Min(found[:]) < 20 {
		t.Errorf("documents by kind: %v", found)
	}
}

// TestKindsInGo compares phrases and windows of pure Go over the positions of each generator with plain Go, at once and with documents that are
// left.
func TestKindsInGo(t *testing.T) {
	testneeds.Sequential(t)
	for name, next := range generators {
		t.Run(name, func(t *testing.T) {
			at, all := positionsOf(next), append(drawn(200), alternatives(200)...)
			src := sourceOf(t, at)
			makesAll(t, at, all, func(i int) *plan.Made {
				made := new(plan.Made)
				if err := phrase.Make(t.Context(), src, all[i], nil, made); err != nil {
					t.Fatal(err)
				}
				return made
			})
			makesAll(t, at, all, func(i int) *plan.Made {
				whole, made := plain(at, all[i]), new(plan.Made)
				for k, d := range whole.Docs {
					if d%3 > 0 {
						made.Docs, made.Freqs = append(made.Docs, d), append(made.Freqs, whole.Freqs[k])
					}
				}
				for d := range uint32(documents) {
					if d%3 == 0 {
						made.Left = append([]uint32{d}, made.Left...)
					}
				}
				if err := phrase.Complete(t.Context(), src, all[i], made); err != nil {
					t.Fatal(err)
				}
				return made
			})
		})
	}
}

// TestKinds is TestKindsInGo on a device. The race detector gets one generator.
func TestKinds(t *testing.T) {
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		for name, next := range generators {
			if testneeds.Race && name != "few" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				at, all := positionsOf(next), append(drawn(200), alternatives(200)...)
				src, left := sourceOf(t, at), 0
				m, err := openOn(t.Context(), rt, src)
				if err != nil {
					t.Fatal(err)
				}
				defer m.close()
				m.set.Auto = []plan.Algorithm{plan.Bits, plan.BS}[len(name)%2] // with bitsets of all lists, or without
				made, err := m.run(t.Context(), all, new(plan.Stats))
				if err != nil {
					t.Fatal(err)
				}
				makesAll(t, at, all, func(i int) *plan.Made {
					if made[i] != nil && len(made[i].Left) > 0 {
						left++
						if err := phrase.Complete(t.Context(), src, all[i], made[i]); err != nil {
							t.Fatal(err)
						}
					}
					return made[i]
				})
				if left == 0 && slices.Contains([]string{"dense", "few"}, name) {
					t.Error("no documents are left")
				}
			})
		}
	})
}
