package build

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/index/hdl"
)

// randomTexts returns documents of a few words, which come in runs, with distinct names.
func randomTexts(n int) (docs []text) {
	r := rand.New(rand.NewPCG(20, 8))
	for i := range n {
		var words []string
		for range r.IntN(9) {
			words = append(words, fmt.Sprintf("w%d", i/50+r.IntN(4)))
		}
		docs = append(docs, text{fmt.Sprintf("doc%d", i), strings.Join(words, " ")})
	}
	return docs
}

// TestRenumber: a random numbering moves each document with its length, its text and its
// postings, and is the same in each build.
func TestRenumber(t *testing.T) {
	docs := randomTexts(700)
	columns := slices.Clone(docs) // of two fields
	for i := range columns {
		columns[i].text = strings.Replace(columns[i].text, " ", "\t", 1)
	}
	for _, opt := range []Options{{}, {Impacts: 8}, {Fields: []string{"title", "body"}, Positions: true}} {
		docs := docs
		if opt.Fields != nil {
			docs = columns
		}
		opt.Store = hdl.StoreText
		plainPath, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.tsv": asText(docs)})...)
		if err != nil {
			t.Fatal(err)
		}
		plain := load(t, plainPath)
		opt.Renumber = RenumberRandom
		path, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.tsv": asText(docs)})...)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.tsv": asText(docs)})...)
		if err != nil {
			t.Fatal(err)
		}
		one, err1 := os.ReadFile(path)
		two, err2 := os.ReadFile(again)
		if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
			t.Errorf("two builds differ: %v, %v", err1, err2)
		}
		got := load(t, path)
		old := make(map[string]uint32)
		for d, name := range plain.names {
			old[name] = uint32(d)
		}
		moved := 0
		back := collection{names: plain.names, lengths: make([]uint32, len(docs)), lists: make(map[string][]posting)}
		for d, name := range got.names {
			back.lengths[old[name]] = got.lengths[d]
			if old[name] != uint32(d) {
				moved++
			}
		}
		for term, list := range got.lists {
			for _, p := range list {
				back.lists[term] = append(back.lists[term], posting{old[got.names[p.doc]], p.freq})
			}
			slices.SortFunc(back.lists[term], func(a, b posting) int { return int(a.doc) - int(b.doc) })
		}
		if back.String() != plain.String() {
			t.Errorf("%+v: other documents or lists", opt)
		}
		if moved < 600 {
			t.Errorf("%d of %d documents moved", moved, len(docs))
		}
		f, err := hdl.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for d, name := range got.names {
			text, err := f.Document(uint32(d))
			if want := strings.ReplaceAll(docs[old[name]].text, "\t", "\n"); err != nil || text != want {
				t.Fatalf("document %d: text %q, want %q; %v", d, text, want, err)
			}
		}
		whole, err := hdl.Open(plainPath)
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		for i, field := range f.Source().Fields {
			for d, name := range got.names {
				if want := whole.Source().Fields[i].Lengths[old[name]]; field.Lengths[d] != want {
					t.Fatalf("document %d has the length %d in %s, want %d", d, field.Lengths[d], field.Name, want)
				}
			}
		}
		if opt.Positions {
			moved, want := positionsOf(t, f), positionsOf(t, whole)
			for term, list := range moved {
				for d, places := range list {
					if !slices.Equal(places, want[term][old[got.names[d]]]) {
						t.Fatalf("%s in document %d: other positions", term, d)
					}
				}
			}
		}
	}
}

// TestPermutation: the numbering is the same with every version, so that files can be compared. A document may stay.
func TestPermutation(t *testing.T) {
	if got, want := permutation(8), []uint32{7, 1, 0, 4, 5, 2, 3, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestRenumberSizes: line codecs prefer random docIDs, gap codecs the order of the input (Ao
// et al. 2011, section 6.2).
func TestRenumberSizes(t *testing.T) {
	ids := permutation(100_000)
	var clustered, random []uint32
	r := rand.New(rand.NewPCG(20, 9))
	for d := range uint32(100_000) { // runs of 1,000 documents differ in density
		if r.Float64() < []float64{0.02, 0.3}[d/1000%7%2] {
			clustered, random = append(clustered, d), append(random, ids[d])
		}
	}
	slices.Sort(random)
	size := func(id codec.ID, docs []uint32) int { return codec.Size(id, docs, codec.DefaultOptions()) }
	if c, r := size(codec.LRC, clustered), size(codec.LRC, random); r >= c {
		t.Errorf("lrc: %d words in random order, %d clustered", r, c)
	}
	if c, r := size(codec.ParaPFor, clustered), size(codec.ParaPFor, random); r <= c {
		t.Errorf("parapfor: %d words in random order, %d clustered", r, c)
	}
}
