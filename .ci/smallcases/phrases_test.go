package smallcases

import (
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// phrases makes the lists of phrases of words whose positions have exceptions, over lists of each codec with random access, of which one has a
// bitset. One document has more occurrences than the kernels take.
func phrases(t *testing.T, backend plan.Backend) {
	src := &plan.Source{Docs: universe, Lengths: make([]uint32, universe)}
	var freqs, values [][]uint32
	var at []map[uint32][]uint32
	for i, name := range []string{"spread", "jumps", "dense", "tiles", "few"} {
		docs := lists[name]
		h, err := src.Append([]codec.ID{codec.ParaPFor, codec.Raw, codec.Bitset}[i%3], docs, codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		var f, v []uint32
		places := map[uint32][]uint32{}
		for j, d := range docs {
			n := 1 + d%3*uint32(i%2)
			if j == 0 { // a document of all lists
				n = 200
				if name == "few" {
					n = 17000
				}
			}
			position := uint32(0xffffffff)
			for k := range n {
				gap := (d + k + uint32(i)) % 2
				if k%50 == 1 {
					gap = 5000
				}
				v = append(v, gap)
				position += gap + 1
				places[d] = append(places[d], position)
			}
			f = append(f, n)
		}
		if err := src.AppendFreqs(h, f, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		freqs, values, at = append(freqs, f), append(values, v), append(at, places)
	}
	src.SetPositions(freqs, values)
	store, err := backend.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var all []*plan.Phrase
	for _, words := range [][]plan.Handle{{0, 1}, {2, 3}, {3, 2, 1}, {1, 1}, {0, 4}} {
		p := new(plan.Phrase)
		for i, h := range words {
			p.Slots = append(p.Slots, plan.Slot{Offset: uint32(i), Lists: []plan.Handle{h}})
		}
		all = append(all, p)
	}
	var st plan.Stats
	made, err := store.(plan.PhraseStore).Phrases(t.Context(), all, &st)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, p := range all {
		var docs []uint32
		var times []uint64
		for d := range uint32(universe) {
			n := uint64(0)
			for _, start := range at[p.Slots[0].Lists[0]][d] {
				if !slices.ContainsFunc(p.Slots, func(s plan.Slot) bool {
					_, has := slices.BinarySearch(at[s.Lists[0]][d], start+s.Offset)
					return !has
				}) {
					n++
				}
			}
			if n > 0 {
				docs, times = append(docs, d), append(times, n<<plan.FreqBits)
			}
		}
		found += len(docs)
		if long := i == len(all)-1; long != (made[i] == nil) || !long && (!slices.Equal(made[i].Docs, docs) || !slices.Equal(made[i].Freqs, times)) {
			t.Errorf("phrase %d: %v, want %v, %v", i, made[i], docs, times)
		}
	}
	if found < 50 || st.Positions == 0 {
		t.Errorf("%d documents, %d positions", found, st.Positions)
	}
}
