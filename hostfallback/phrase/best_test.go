package phrase

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// source makes an index of documents of the words 0 to words-1, whose lists have codecs in turn.
func source(t rapid.TB, docs [][]int, words int) *plan.Source {
	src := &plan.Source{Docs: uint32(len(docs)), Lengths: make([]uint32, len(docs))}
	postings, freqs, values := make([][]uint32, words), make([][]uint32, words), make([][]uint32, words)
	for d, text := range docs {
		src.Lengths[d] = uint32(len(text))
		for w := range words {
			n, next := uint32(0), 0
			for i, one := range text {
				if one == w {
					values[w] = append(values[w], uint32(i-next))
					n, next = n+1, i+1
				}
			}
			if n > 0 {
				postings[w], freqs[w] = append(postings[w], uint32(d)), append(freqs[w], n)
			}
		}
	}
	for w := range words {
		h, err := src.Append([]codec.ID{codec.Bitset, codec.ParaPFor, codec.Raw}[w%3], postings[w], codec.DefaultOptions())
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

// hit is a document with its score.
type hit struct{ doc, score uint32 }

// ranking returns the k best documents.
func ranking(all []hit, k int) []hit {
	slices.SortFunc(all, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc)) })
	return all[:min(k, len(all))]
}

// TestBest compares rankings of exact phrases with the count of the matches in each text.
func TestBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const words = 6
		docs := make([][]int, rapid.IntRange(1, 600).Draw(t, "documents"))
		random := rapid.IntRange(0, 1<<30).Draw(t, "seed")
		draw := func(n int) int {
			random = (random*1103515245 + 12345) & (1<<31 - 1)
			return random >> 8 % n
		}
		longest := rapid.IntRange(1, 300).Draw(t, "longest")
		for d := range docs {
			for range 1 + draw(longest) {
				docs[d] = append(docs[d], min(draw(words), draw(words)))
			}
		}
		src := source(t, docs, words)
		p := plan.Phrase{Kind: plan.Exact}
		for i := range rapid.IntRange(2, 4).Draw(t, "slots") {
			p.Slots = append(p.Slots, plan.Slot{Offset: uint32(i), Lists: []plan.Handle{plan.Handle(rapid.IntRange(0, words-1).Draw(t, "word"))}})
		}
		norm := plan.NewNorm(0.9, 0.4, float64(longest)/2)
		best := &Best{K: rapid.IntRange(1, 20).Draw(t, "k"), Weight: 1 << 30, Norm: norm}
		score := func(freq uint64, doc uint32) uint32 {
			return plan.Contribution(best.Weight, norm.TFOf(freq, src.Lengths[doc]))
		}
		var want []hit
		var matches []uint32
		for d, text := range docs {
			n := uint64(0)
			for from := range max(len(text)-len(p.Slots)+1, 0) {
				same := true
				for i, s := range p.Slots {
					same = same && text[from+i] == int(s.Lists[0])
				}
				if same {
					n++
				}
			}
			if n > 0 {
				want, matches = append(want, hit{uint32(d), score(n<<plan.FreqBits, uint32(d))}), append(matches, uint32(d))
			}
		}
		var all, few plan.Made
		if err := Make(t.Context(), src, &p, nil, &all); err != nil || !slices.Equal(all.Docs, matches) {
			t.Fatalf("%v in %v, want %v; %v", p.Slots, all.Docs, matches, err)
		}
		if err := Make(t.Context(), src, &p, best, &few); err != nil {
			t.Fatal(err)
		}
		for _, made := range []*plan.Made{&all, &few} {
			var got []hit
			for i, doc := range made.Docs {
				got = append(got, hit{doc, score(made.Freqs[i], doc)})
			}
			if got, want := ranking(got, best.K), ranking(want, best.K); !slices.Equal(got, want) {
				t.Fatalf("the best %d of %v are %v, want %v", best.K, p.Slots, got, want)
			}
		}
	})
}

// TestTies ranks documents of equal scores: the first ones are the best, and no others are looked at.
func TestTies(t *testing.T) {
	docs := make([][]int, 1000)
	for d := range docs {
		docs[d] = []int{0, 1, 2}
	}
	src := source(t, docs, 3)
	p := plan.Phrase{Slots: []plan.Slot{{Lists: []plan.Handle{0}}, {Offset: 1, Lists: []plan.Handle{1}}}}
	var made plan.Made
	best := &Best{K: 5, Weight: 1 << 30, Norm: plan.NewNorm(0.9, 0.4, 3)}
	if err := Make(t.Context(), src, &p, best, &made); err != nil || made.Candidates != 5 || len(made.Docs) != 5 || made.Docs[4] != 4 {
		t.Errorf("documents %v of %d, %v; want the first 5", made.Docs, made.Candidates, err)
	}
}

// TestMemory makes a list again, which takes the memory of the list before.
func TestMemory(t *testing.T) {
	testneeds.Sequential(t)
	src := source(t, [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {0, 1, 0, 1}}, 5)
	p := plan.Phrase{}
	for i := range 5 {
		p.Slots = append(p.Slots, plan.Slot{Offset: uint32(i), Lists: []plan.Handle{plan.Handle(i)}})
	}
	var made plan.Made
	allocations := testing.AllocsPerRun(100, func() {
		if err := Make(t.Context(), src, &p, nil, &made); err != nil || len(made.Docs) != 1 {
			t.Errorf("documents %v, %v", made.Docs, err)
		}
	})
	if allocations > 8 {
		t.Errorf("%v allocations", allocations)
	}
}

// TestBestAdd: the k best of the documents that Add takes are the k best of all, also of fractional frequencies and long documents.
func TestBestAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Best{scores: []uint32{1, 2, 3}}
		k, weight := rapid.IntRange(1, 12).Draw(t, "k"), rapid.Uint32Range(1, 1<<31).Draw(t, "weight")
		norm := plan.NewNorm(rapid.Float64Range(0, 255).Draw(t, "k1"), rapid.Float64Range(0, 1).Draw(t, "b"), rapid.Float64Range(1, 1000).Draw(t, "mean"))
		b.Reset(k, weight, norm)
		longest := rapid.SampledFrom([]uint32{20, 2000, 1 << 31}).Draw(t, "longest")
		fraction := rapid.Bool().Draw(t, "fraction")
		var all, taken []hit
		for doc := range rapid.IntRange(0, 300).Draw(t, "documents") {
			freq := uint64(rapid.IntRange(1, 40).Draw(t, "frequency")) << plan.FreqBits
			if fraction {
				freq /= 3
			}
			length := rapid.Uint32Range(1, longest).Draw(t, "length")
			one := hit{uint32(doc), plan.Contribution(weight, norm.TFOf(freq, length))}
			all = append(all, one)
			if score, ok := b.Add(freq, length); ok {
				if taken = append(taken, hit{uint32(doc), score}); score != one.score {
					t.Fatalf("document %d: score %d, want %d", doc, score, one.score)
				}
			}
		}
		if got, want := ranking(taken, k), ranking(all, k); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
