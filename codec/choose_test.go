package codec

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name     string
		want     ID
		docs     []uint32
		universe uint32
		choice   Choice
	}{
		{"empty", Auto, nil, 1000, Choice{Raw, LeastCost}},
		{"one", Auto, []uint32{700}, 1000, Choice{Raw, LeastCost}},
		{"two", Auto, []uint32{1, 2}, 1 << 20, Choice{Raw, LeastCost}},
		{"dense", Auto, every(2, 1000), 2000, Choice{Bitset, Dense}},
		{"dense and asked for another", ParaPFor, every(2, 1000), 2000, Choice{Bitset, Dense}},
		{"one in 31, smaller than raw no more", ParaPFor, every(31, 10000), 310000, Choice{ParaPFor, Asked}},
		{"one in 29", ParaPFor, every(29, 10000), 290000, Choice{Bitset, Dense}},
		{"dense, but no bitset is wanted", ParaPFor, every(2, 1000), 0, Choice{ParaPFor, Asked}},
		{"asked for a bitset", Bitset, every(2, 1000), 1 << 20, Choice{Bitset, Asked}},
		{"asked for a bitset too large", Bitset, every(1000, 1000), 1 << 20, Choice{Raw, NotSmaller}},
		{"asked for lrc", LRC, every(17, 1000), 1 << 20, Choice{LRC, Asked}},
		{"asked for lrc, too short", LRC, every(17, 9), 1 << 20, Choice{Raw, NotSmaller}},
		{"asked for raw", Raw, every(17, 1000), 1 << 20, Choice{Raw, Asked}},
		{"too far apart to pack", Auto, []uint32{0, 1 << 30, 1 << 31, 3 << 30}, math.MaxUint32, Choice{Raw, LeastCost}},
	} {
		if got := Choose(c.want, c.docs, c.universe, DefaultOptions()); got != c.choice {
			t.Errorf("%s: %v, want %v", c.name, got, c.choice)
		}
	}
	if got := Choose(Auto, every(2, 1000), 0, DefaultOptions()); got.ID == Bitset {
		t.Error("a bitset is chosen where none is wanted")
	}
}

// For every wanted codec and every list, the list survives, takes no more words than
// docIDs, and has the codec of the rule.
func TestChooseRule(t *testing.T) {
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				universe := rapid.Uint32Range(1, 1<<20).Draw(t, "universe")
				n := rapid.IntRange(0, 2000).Draw(t, "n")
				docs := g.List(rapid.Uint64().Draw(t, "seed"), n, uint64(universe))
				opt := DefaultOptions()
				want := rapid.SampledFrom(append(slices.Clone(ids), Auto)).Draw(t, "want")
				got := Choose(want, docs, universe, opt)
				l := encode(t, got.ID, docs, opt)
				if len(l.Words) > len(docs) {
					t.Fatalf("%v: %d words for %d docIDs", got, len(l.Words), len(docs))
				}
				if back, err := l.AppendTo(nil); err != nil || !slices.Equal(back, docs) {
					t.Fatalf("%v: another list comes back, %v", got, err)
				}
				switch bitset := len(encode(t, Bitset, docs, opt).Words); {
				case 32*len(docs) > int(universe) && bitset < len(docs):
					if (got != Choice{Bitset, Dense}) {
						t.Fatalf("%v of a dense list", got)
					}
				case want == Auto:
					size, time := Cost(got.ID, len(docs), len(l.Words))
					for _, id := range Candidates() {
						if s, t2 := Cost(id, len(docs), Size(id, docs, opt)); s+t2 < size+time-1e-9 {
							t.Fatalf("%v costs %v, %v costs %v", got, size+time, id, s+t2)
						}
					}
				case got.ID != want && (got != Choice{Raw, NotSmaller} || Size(want, docs, opt) < len(docs)):
					t.Fatalf("%v, though %v takes %d words for %d docIDs", got, want, Size(want, docs, opt), len(docs))
				}
			})
		})
	}
}

func TestCost(t *testing.T) {
	if size, time := Cost(ParaPFor, 0, 0); size != 0 || time != 0 {
		t.Errorf("an empty list costs %v and %v", size, time)
	}
	if size, time := Cost(Raw, 100, 100); size != 32 || math.Abs(time-0.585) > 1e-9 { // 2 * (0.39 + 12.5/64) / 2, to a thousandth
		t.Errorf("a raw docID costs %v and %v", size, time)
	}
	for _, id := range ids {
		if _, time := Cost(id, 1, 1); time <= 0 {
			t.Errorf("%v has no stated speed", id)
		}
	}
}
