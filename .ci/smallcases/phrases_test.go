package smallcases

import (
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/phrase"
)

// phrases makes the lists of phrases of each kind, of words whose positions have exceptions, over lists of each codec with random access, of
// which one has a bitset, and compares them with pure Go. One document has more occurrences
// than the kernels take, and one more than they take of sloppy phrases.
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
				n = 200
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
		for _, words := range [][]plan.Handle{{0, 1}, {2, 3}, {3, 2, 1}, {1, 1}, {0, 4}} {
			p := &plan.Phrase{Kind: kind, Distance: 2}
			for i, h := range words {
				p.Slots = append(p.Slots, plan.Slot{Offset: uint32(i), Lists: []plan.Handle{h}})
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
		left := i%5 == 4 || p.Kind == plan.Sloppy && (i%5 == 1 || i%5 == 2)
		if left != (made[i] == nil) || !left && (!slices.Equal(made[i].Docs, want.Docs) || !slices.Equal(made[i].Freqs, want.Freqs)) {
			t.Errorf("phrase %d of the kind %d: %v, want %v", i%5, p.Kind, made[i], want)
		}
		if i%5 == 0 && len(want.Docs) < 5 {
			t.Errorf("phrases of the kind %d have %d documents", p.Kind, len(want.Docs))
		}
	}
	if st.Positions == 0 {
		t.Error("no positions")
	}
}
