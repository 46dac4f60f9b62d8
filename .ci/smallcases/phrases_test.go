package smallcases

import (
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/phrase"
)

// phrases makes the lists of phrases of each kind, of words whose positions have exceptions, over lists of each codec with random access, of
// which one has a bitset, and with alternatives, and compares them with pure Go. The first document has more occurrences of a word than the
// kernels take, and of another word more than they take of sloppy phrases.
func phrases(t *testing.T, backend plan.Backend) {
	src := &plan.Source{Docs: universe, Lengths: make([]uint32, universe)}
	var freqs, values [][]uint32
	for i, name := range []string{"spread", "jumps", "dense", "tiles", "few"} {
		docs := lists[name]
		h, err := src.Append([]codec.ID{codec.ParaPFor, codec.Raw, codec.Bitset}[i%3], docs, codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		var f, v []uint32
		for j, d := range docs {
			n := 1 + d%3*uint32(i%2)
			if j == 0 { // a document of all lists
				n = 100
				switch name {
				case "tiles":
					n = 4000
				case "few":
					n = 17000
				}
			}
			for k := range n {
				gap := (d + k + uint32(i)) % 2
				if k%50 == 1 {
					gap = 5000
				}
				v = append(v, gap)
			}
			f = append(f, n)
		}
		if err := src.AppendFreqs(h, f, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		freqs, values = append(freqs, f), append(values, v)
	}
	src.SetPositions(freqs, values)
	store, err := backend.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var all []*plan.Phrase
	for kind := plan.Exact; kind <= plan.Ordered; kind++ {
		for _, words := range [][][]plan.Handle{{{0}, {1}}, {{2}, {1}, {0}}, {{1}, {1}}, {{0}, {1, 2}}, {{4, 0}, {1}}, {{0}, {4}}, {{3}, {1}}} {
			if kind != plan.Sloppy && words[0][0] == 3 {
				continue // the document is walked there, which takes long
			}
			p := &plan.Phrase{Kind: kind, Distance: 2}
			for i, hs := range words {
				p.Slots = append(p.Slots, plan.Slot{Offset: uint32(i), Lists: hs})
			}
			all = append(all, p)
		}
	}
	var st plan.Stats
	made, err := store.(plan.PhraseStore).Phrases(t.Context(), all, &st)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range all {
		var want plan.Made
		if err := phrase.Make(t.Context(), src, p, nil, &want); err != nil {
			t.Fatal(err)
		}
		got, left := made[i], []uint32(nil)
		if first := p.Slots[0].Lists[0]; first > 2 || p.Slots[1].Lists[0] == 4 {
			left = []uint32{lists["few"][0]}
		}
		if got == nil || !slices.Equal(got.Left, left) {
			t.Fatalf("phrase %+v: %+v, left must be %v", p, got, left)
		}
		if err := phrase.Complete(t.Context(), src, p, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Freqs, want.Freqs) {
			t.Errorf("phrase %+v: %v, want %v", p, got, want)
		}
		if len(p.Slots) == 2 && p.Slots[1].Lists[0] == 1 && len(want.Docs) < 5 {
			t.Errorf("phrase %+v has %d documents", p, len(want.Docs))
		}
	}
	if st.Positions == 0 {
		t.Error("no positions")
	}
}
