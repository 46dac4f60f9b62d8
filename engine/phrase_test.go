package engine

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/index/analyze"
	"heddle/engine/index/build"
	"heddle/engine/index/querylang"
)

// scripts are words of five scripts; the first of each are prefixes of others, and "the" and "и" are stop words.
var scripts = [][]string{
	{"loom", "loo", "the", "weft", "red"},
	{"ткань", "тка", "и", "нить", "ёлка"},
	{"αργαλειός", "αργ", "the", "νήμα"},
	{"נול", "נו", "חוט", "the"},
	{"織物", "糸", "機織", "the"},
}

// places are the positions of the terms of a document.
type places map[string][]int

// slotsOf returns the positions of the slots of a phrase in a document, relative offsets, and the terms of each slot.
func slotsOf(e *querylang.Expr, a *analyze.Analyzer, terms []string) (slots [][]string, offsets []int) {
	at := 0
	for _, arg := range e.Args {
		if arg.Op == querylang.Prefix {
			var some []string
			for _, t := range terms {
				if strings.HasPrefix(t, arg.Term) {
					some = append(some, t)
				}
			}
			slots, offsets = append(slots, some), append(offsets, at)
			at++
			continue
		}
		tokens, last := a.Tokenizer(), -1
		for token := range tokens.Tokens([]byte(arg.Term)) {
			slots, offsets = append(slots, []string{string(token.Term)}), append(offsets, at+int(token.Position))
			last = int(token.Position)
		}
		if at += last + 1; last < 0 { // a stop word
			at++
		}
	}
	return slots, offsets
}

// frequency counts the matches of a phrase in a document by all combinations of positions. Of a sloppy phrase without common
// terms it is 1 for a match.
func frequency(e *querylang.Expr, slots [][]string, offsets []int, doc places) (n int) {
	positions := make([][]int, len(slots))
	for i, s := range slots {
		for _, t := range s {
			positions[i] = append(positions[i], doc[t]...)
		}
		slices.Sort(positions[i])
	}
	var chosen []int
	var all func(f func())
	all = func(f func()) {
		if len(chosen) == len(positions) {
			f()
			return
		}
		for _, p := range positions[len(chosen)] {
			chosen = append(chosen, p)
			all(f)
			chosen = chosen[:len(chosen)-1]
		}
	}
	starts := map[string]bool{}
	all(func() {
		least, most, first := math.MaxInt, math.MinInt, 0
		rises := true
		for i, p := range chosen {
			shifted := p - offsets[i]
			if e.Op != querylang.Phrase {
				shifted = p
			}
			if shifted < least {
				least, first = shifted, i
			}
			most = max(most, shifted)
			rises = rises && (i == 0 || p > chosen[i-1] && p-chosen[i-1] <= int(e.Distance))
		}
		switch {
		case e.Op == querylang.Phrase && e.Distance > 0:
			if most-least <= int(e.Distance) {
				starts["any"] = true
			}
		case e.Op == querylang.Phrase && most == least, e.Op == querylang.Near && most-least < int(e.Distance):
			starts[fmt.Sprint(first, least)] = true
		case e.Op == querylang.Ordered && rises:
			starts[fmt.Sprint(chosen[0])] = true
		}
	})
	if e.Op == querylang.Ordered { // each slot takes its first occurrence
		n = 0
		for _, p := range positions[0] {
			ok := true
			for _, next := range positions[1:] {
				i, _ := slices.BinarySearch(next, p+1)
				if ok = i < len(next) && next[i]-p <= int(e.Distance); !ok {
					break
				}
				p = next[i]
			}
			if ok {
				n++
			}
		}
		if n > len(starts) {
			panic("a greedy window that is no window")
		}
		return n
	}
	return len(starts)
}

// repeats tells whether two slots have a common term.
func repeats(slots [][]string) bool {
	seen := map[string]bool{}
	for _, s := range slots {
		for _, t := range s {
			if seen[t] {
				return true
			}
			seen[t] = true
		}
	}
	return false
}

// drawPhrase draws a phrase or window.
func drawPhrase(t *rapid.T, words []string) (e querylang.Expr) {
	e.Op = rapid.SampledFrom([]querylang.Op{querylang.Phrase, querylang.Phrase, querylang.Near, querylang.Ordered}).Draw(t, "op")
	e.Distance = uint32(rapid.IntRange(1, 5).Draw(t, "distance"))
	if e.Op == querylang.Phrase && rapid.Bool().Draw(t, "exact") {
		e.Distance = 0
	}
	for range rapid.IntRange(1, 4).Draw(t, "words") {
		one := querylang.Expr{Term: rapid.SampledFrom(words).Draw(t, "word")}
		if rapid.IntRange(0, 5).Draw(t, "prefix") == 0 && one.Term != "the" && one.Term != "и" {
			one.Op = querylang.Prefix
			one.Term = string([]rune(one.Term)[:1])
		}
		e.Args = append(e.Args, one)
	}
	return e
}

// marks returns the documents of an index whose snippets have marks of a query.
func marks(t *rapid.T, x *Index, text string, docs int) (marked []uint32) {
	s, err := x.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := make([]uint32, docs)
	for d := range all {
		all[d] = uint32(d)
	}
	contents, err := s.Documents(t.Context(), Query{Text: text}, all, Fields{Snippet: &Snippet{Size: 1000, Mark: [2]string{"[", "]"}}})
	if err != nil {
		t.Fatal(err)
	}
	for d, c := range contents {
		if strings.Contains(c.Snippet, "[") {
			marked = append(marked, uint32(d))
		}
	}
	return marked
}

// TestPhraseOracle compares phrases and windows in random texts of five scripts with all combinations of positions: documents, and
// scores by the formula, marks in snippets; also as parts of boolean queries, and of queries with filters.
func TestPhraseOracle(t *testing.T) { phraseOracle(t, onThread(t)) }

// phraseOracle compares phrases of an engine.
func phraseOracle(t *testing.T, e *Engine) {
	queries := 4
	if os.Getenv("HEDDLE_TEST_FULL") != "" {
		queries = 2500
	}
	stops := []string{"the", "и"}
	analyzer, err := analyze.New(analyze.Settings{StopWords: stops, CJK: analyze.CJKUnigrams})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom(scripts).Draw(t, "script")
		var lines strings.Builder
		var docs []places
		var lengths []int
		df := map[string]int{}
		for d := range rapid.IntRange(1, 30).Draw(t, "documents") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "text"), " ")
			fmt.Fprintf(&lines, "%d\t%s\n", d, text)
			one, length := places{}, 0
			for token := range analyzer.Tokenizer().Tokens([]byte(text)) {
				one[string(token.Term)] = append(one[string(token.Term)], int(token.Position))
				length++
			}
			for term := range one {
				df[term]++
			}
			docs, lengths = append(docs, one), append(lengths, length)
		}
		terms := slices.Sorted(maps.Keys(df))
		dir, err := os.MkdirTemp("", "phrases")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		opt := build.DefaultOptions()
		opt.Format, opt.StopWords, opt.CJK, opt.Positions, opt.Store, opt.Stdin = build.Text, stops, analyze.CJKUnigrams, true, "text", strings.NewReader(lines.String())
		path := filepath.Join(dir, "x.hdl")
		if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
			t.Fatal(err)
		}
		x, err := e.OpenIndex(t.Context(), path, IndexOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		total, withTerms := 0, 0
		for _, n := range lengths {
			total += n
			withTerms += min(n, 1)
		}
		find := func(q Query) Hits {
			h, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", q.Text, err)
			}
			return h
		}
		for range queries {
			p := drawPhrase(t, words)
			slots, offsets := slotsOf(&p, analyzer, terms)
			if len(slots) == 0 || p.Op == querylang.Phrase && p.Distance > 0 && repeats(slots) {
				continue
			}
			var want, without []uint32
			scores := map[uint32]float64{}
			weight := 0.0
			for _, s := range slots {
				for _, term := range s {
					n := float64(df[term])
					if n > 0 {
						weight += math.Log1p((float64(withTerms) - n + 0.5) / (n + 0.5))
					}
				}
			}
			for d, doc := range docs {
				f := float64(frequency(&p, slots, offsets, doc))
				if f == 0 {
					without = append(without, uint32(d))
					continue
				}
				want = append(want, uint32(d))
				scores[uint32(d)] = weight * f / (f + 0.9*(1-0.4+0.4*float64(lengths[d])*float64(withTerms)/float64(total)))
			}
			text := p.String()
			if h := find(Query{Text: text}); !slices.Equal(h.Docs, want) {
				t.Fatalf("%s in\n%s: %v, want %v", text, &lines, h.Docs, want)
			}
			if h := find(Query{Text: "NOT " + text}); !slices.Equal(h.Docs, without) {
				t.Fatalf("NOT %s in\n%s: %v, want %v", text, &lines, h.Docs, without)
			}
			if h := find(Query{Text: text, CountOnly: true, Filter: &Filter{Docs: []uint32{0}}}); h.Count != uint64(len(slices.DeleteFunc(slices.Clone(want), func(d uint32) bool { return d > 0 }))) {
				t.Fatalf("%s in document 0 of\n%s: %d", text, &lines, h.Count)
			}
			marked := marks(t, x, text, len(docs))
			if !slices.Equal(marked, want) {
				t.Fatalf("%s in\n%s: marks in the snippets of %v, want %v", text, &lines, marked, want)
			}
			word := rapid.SampledFrom(words).Draw(t, "beside")
			only := find(Query{Text: "+" + word}).Docs
			both := slices.DeleteFunc(slices.Clone(want), func(d uint32) bool { return !slices.Contains(only, d) })
			if stop := slices.Contains(stops, word); stop {
				both = want
			}
			for _, q := range []string{text + " AND " + word, "+" + word + " +" + text} {
				if h := find(Query{Text: q}); !slices.Equal(h.Docs, both) {
					t.Fatalf("%s in\n%s: %v, want %v", q, &lines, h.Docs, both)
				}
			}
			h := find(Query{Text: text, K: 100, Total: TotalExact})
			if len(h.Docs) != len(want) || h.Total.Value != uint64(len(want)) {
				t.Fatalf("%s ranked: %v, want %v", text, h.Docs, want)
			}
			for i, d := range h.Docs {
				exact := len(slots) > 1 && !(p.Op == querylang.Phrase && p.Distance > 0)
				if exact && math.Abs(h.Scores[i]-scores[d]) > 1e-6*scores[d] || i > 0 && h.Scores[i] > h.Scores[i-1] {
					t.Fatalf("%s in\n%s: document %d has the score %v, want %v", text, &lines, d, h.Scores[i], scores[d])
				}
			}
			n := min(3, len(h.Docs)) // without the total, documents are passed over
			if few := find(Query{Text: text, K: 3}); !slices.Equal(few.Docs, h.Docs[:n]) || !slices.Equal(few.Scores, h.Scores[:n]) {
				t.Fatalf("the best 3 of %s in\n%s: %v of %v, want %v of %v", text, &lines, few.Docs, few.Scores, h.Docs[:n], h.Scores[:n])
			}
			if h := find(Query{Text: "+" + word + " " + text, K: 100}); !slices.Contains(stops, word) && len(h.Docs) != len(only) {
				t.Fatalf("+%s %s: %v, want the documents %v", word, text, h.Docs, only)
			}
		}
	})
}

// TestPhraseWithoutPositions has the error of an index without positions, and the phrase of one word, which needs none.
func TestPhraseWithoutPositions(t *testing.T) {
	e := onThread(t)
	path := filepath.Join(t.TempDir(), "x.hdl")
	opt := build.DefaultOptions()
	opt.Format, opt.Stdin = build.Text, strings.NewReader("a\tred loom\nb\tloom\n")
	if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenIndex(t.Context(), path, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, text := range []string{`"red loom"`, `NEAR/3(red loom)`, `loom -"red lo*"`, `red-x "red-loom"`} {
		for _, k := range []int{0, 3} {
			if _, err := x.Search(t.Context(), Query{Text: text, K: k}); CodeOf(err) != InvalidQuery || !strings.Contains(err.Error(), "--positions") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	if h, err := x.Search(t.Context(), Query{Text: `"red"`, K: 3}); err != nil || len(h.Docs) != 1 {
		t.Errorf("a phrase of one word: %v, %v", h.Docs, err)
	}
}

// TestPhraseOfOnePlace: a phrase of which stop words leave a prefix alone scores as an OR of its terms, as MultiPhraseQuery of Lucene.
func TestPhraseOfOnePlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hdl")
	opt := build.DefaultOptions()
	opt.Format, opt.StopWords, opt.Positions, opt.Stdin = build.Text, []string{"the"}, true, strings.NewReader("a\tthe loom\nb\tloo loom weft\nc\tred loo loo\nd\tred\ne\tloom red weft\n")
	if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	x, err := onThread(t).OpenIndex(t.Context(), path, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, text := range []string{`"the lo*"`, `"lo* the"~2`, `NEAR/3(the lo*)`, `+"the lo*"`} {
		got, err := x.Search(t.Context(), Query{Text: text, K: 10})
		want, wrong := x.Search(t.Context(), Query{Text: "loo loom", K: 10})
		if err != nil || wrong != nil || len(got.Docs) != 4 || !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
			t.Errorf("%s: %v %v, %v; want %v %v, %v", text, got.Docs, got.Scores, err, want.Docs, want.Scores, wrong)
		}
	}
}
