package feedback

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// model is documents in memory, with plain formulas.
type model [][]string

func (m model) df(word string) (n float64) {
	for _, d := range m {
		if slices.Contains(d, word) {
			n++
		}
	}
	return n
}

// scores are the scores of BM25 of all documents.
func (m model) scores(query map[string]float64) []float64 {
	tokens := 0
	for _, d := range m {
		tokens += len(d)
	}
	out := make([]float64, len(m))
	for i, d := range m {
		for w, weight := range query {
			if tf := count(d, w); tf > 0 {
				n := float64(len(m))
				out[i] += weight * math.Log1p((n-m.df(w)+0.5)/(m.df(w)+0.5)) * tf / (tf + 0.9*(0.6+0.4*float64(len(d))*n/float64(tokens)))
			}
		}
	}
	return out
}

func count(words []string, word string) (n float64) {
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}

// ranking are the best documents, those of score 0 excluded.
func ranking(scores []float64, k int) (docs []int) {
	for d, s := range scores {
		if s > 0 {
			docs = append(docs, d)
		}
	}
	slices.SortStableFunc(docs, func(a, b int) int {
		if math.Abs(scores[a]-scores[b]) < 1e-7 {
			return 0
		}
		return map[bool]int{true: -1, false: 1}[scores[a] > scores[b]]
	})
	return docs[:min(k, len(docs))]
}

// rm3 is the query of RM3 by its formula.
func (m model) rm3(query []string, docs, terms int, weight float64) map[string]float64 {
	own := map[string]float64{}
	for _, w := range query {
		own[w] += 1 / float64(len(query))
	}
	first := map[string]float64{}
	for _, w := range query {
		first[w]++
	}
	scores := m.scores(first)
	values := map[string]float64{}
	for _, d := range ranking(scores, docs) {
		var kept []string
		for _, w := range m[d] {
			if len(w) >= 2 && len(w) <= 20 && m.df(w) <= 0.1*float64(len(m)) {
				kept = append(kept, w)
			}
		}
		for _, w := range kept {
			values[w] += scores[d] / float64(len(kept))
		}
	}
	chosen := slices.Sorted(maps.Keys(values))
	slices.SortStableFunc(chosen, func(a, b string) int {
		if math.Abs(values[a]-values[b]) < 1e-9 {
			return 0
		}
		return map[bool]int{true: -1, false: 1}[values[a] > values[b]]
	})
	total := 0.0
	for _, w := range chosen[:min(terms, len(chosen))] {
		total += values[w]
	}
	out := map[string]float64{}
	for w, v := range own {
		out[w] += weight * v
	}
	for _, w := range chosen[:min(terms, len(chosen))] {
		out[w] += (1 - weight) * values[w] / total
	}
	return out
}

// random draws documents and their lines.
func random(r *rand.Rand) (m model, lines []string) {
	for i := range 120 {
		topic := r.IntN(12)
		words := []string{"all"}
		for range 3 + r.IntN(12) {
			words = append(words, []string{fmt.Sprintf("t%dw%d", topic, r.IntN(6)), fmt.Sprint("common", r.IntN(3)), "x", fmt.Sprint("rare", r.IntN(60))}[r.IntN(4)])
		}
		m, lines = append(m, words), append(lines, fmt.Sprintf("d%d\t%s", i, strings.Join(words, " ")))
	}
	return m, lines
}

// open builds an index and a collection of lines.
func open(t *testing.T, lines []string, opt build.Options) (e *engine.Engine, s *engine.Snapshot) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.hdl")
	opt.Format, opt.Stdin = build.Text, strings.NewReader(strings.Join(lines, "\n"))
	if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	x, err := e.OpenIndex(t.Context(), path, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = x.Snapshot(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return e, s
}

// TestRM3 compares queries and rankings with the plain formulas, on an index file and a collection of several segments.
func TestRM3(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 5))
	m, lines := random(r)
	opt := build.DefaultOptions()
	opt.Store = hdl.StoreText
	e, s := open(t, lines, opt)
	c, err := e.OpenCollection(t.Context(), t.TempDir()+"/c", engine.CollectionOptions{Create: &engine.CollectionSettings{Store: hdl.StoreText}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for part := range slices.Chunk(lines, 50) {
		var docs []engine.Document
		for _, line := range part {
			name, text, _ := strings.Cut(line, "\t")
			docs = append(docs, engine.Document{Name: name, Members: map[string]any{"text": text}})
		}
		if _, err := c.Add(t.Context(), slices.Values(docs)); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		query := []string{fmt.Sprintf("t%dw%d", r.IntN(12), r.IntN(6)), fmt.Sprint("rare", r.IntN(60))}
		if r.IntN(2) == 0 {
			query = append(query, query[0])
		}
		docs, terms, weight := 1+r.IntN(12), 1+r.IntN(12), float64(r.IntN(5))/4
		want := m.rm3(query, docs, terms, weight)
		scores := m.scores(want)
		for kind, x := range map[string]Index{"file": Of(s), "collection": OfCollection(c)} {
			q, err := RM3{Docs: docs, Terms: terms, Weight: &weight}.Expand(t.Context(), x, engine.Query{Text: strings.Join(query, " "), K: 120, Names: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range q.Terms {
				if math.Abs(q.Weights[i]-want[w]) > 1e-5 {
					t.Fatalf("%s: %v %d %d %v: %v %v, want %v", kind, query, docs, terms, weight, q.Terms, q.Weights, want)
				}
			}
			h, err := x.Search(t.Context(), q)
			if err != nil || len(h.Names) != len(ranking(scores, 120)) {
				t.Fatalf("%s: %v: %d documents, want %d; %v", kind, query, len(h.Names), len(ranking(scores, 120)), err)
			}
			for i, name := range h.Names {
				var d int
				if fmt.Sscanf(name, "d%d", &d); math.Abs(h.Scores[i]-scores[d]) > 1e-5*scores[d]+1e-6 {
					t.Fatalf("%s: %v: %s has the score %v, want %v", kind, query, name, h.Scores[i], scores[d])
				}
			}
		}
	}
}

// TestLike compares the terms with the plain formula.
func TestLike(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 6))
	m, lines := random(r)
	opt := build.DefaultOptions()
	opt.Store = hdl.StoreText
	_, s := open(t, lines, opt)
	found := 0
	for d := range m {
		l := Like{Terms: 1 + r.IntN(4), MinFrequency: 1 + r.IntN(2), MinDocuments: 1 + r.IntN(10)}
		var want []string
		value := func(w string) float64 {
			return count(m[d], w) * (1 + math.Log(float64(len(m)+1)/(m.df(w)+1)))
		}
		for _, w := range slices.Compact(slices.Sorted(slices.Values(m[d]))) {
			if count(m[d], w) >= float64(l.MinFrequency) && m.df(w) >= float64(l.MinDocuments) {
				want = append(want, w)
			}
		}
		slices.SortStableFunc(want, func(a, b string) int {
			switch {
			case value(a) > value(b):
				return -1
			case value(a) < value(b):
				return 1
			}
			return 0
		})
		want = want[:min(len(want), l.Terms)]
		slices.Sort(want)
		q, err := l.Query(t.Context(), Of(s), fmt.Sprint("d", d), engine.Query{K: 3})
		if len(want) == 0 {
			if engine.CodeOf(err) != engine.InvalidOption {
				t.Errorf("document %d without terms: %v", d, err)
			}
			continue
		}
		if found++; err != nil || !slices.Equal(q.Terms, want) || slices.Max(q.Weights) != 1 || q.K != 3 {
			t.Errorf("document %d, %+v: %v %v, want %v; %v", d, l, q.Terms, q.Weights, want, err)
		}
	}
	if found < 50 {
		t.Errorf("%d documents have terms", found)
	}
}

// TestFields spreads terms over the fields of an index, with their weights.
func TestFields(t *testing.T) {
	opt := build.DefaultOptions()
	opt.Store, opt.Fields = hdl.StoreText, []string{"title", "body"}
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("d%d\tother%d\tthing%d", i, i, i))
	}
	_, s := open(t, append(lines, "a\tred loom\tloom loom", "b\tloom\tweft"), opt)
	for _, r := range []func(engine.Query) (engine.Query, error){
		func(q engine.Query) (engine.Query, error) { return Like{}.Query(t.Context(), Of(s), "a", q) },
		func(q engine.Query) (engine.Query, error) { return RM3{}.Expand(t.Context(), Of(s), q) },
	} {
		if _, err := r(engine.Query{Text: "loom", K: 1, QueryFields: "titel"}); err == nil || !strings.Contains(err.Error(), "no document has the field titel") {
			t.Errorf("an unknown field: %v", err)
		}
	}
	none := 0.0 // no term is taken: all documents have the words
	_, both := open(t, []string{"a\tred\tloom", "b\tred\tloom"}, opt)
	if q, err := (RM3{Weight: &none}).Expand(t.Context(), Of(both), engine.Query{Text: "loom", K: 3}); err != nil || !slices.Equal(q.Terms, []string{"body:loom"}) || !slices.Equal(q.Weights, []float64{1}) {
		t.Errorf("a query without a model: %v %v %v", q.Terms, q.Weights, err)
	}
	q, err := Like{MinDocuments: 2}.Query(t.Context(), Of(s), "a", engine.Query{QueryFields: "title^3,body"})
	if err != nil || !slices.Equal(q.Terms, []string{"title:loom", "body:loom"}) || !slices.Equal(q.Weights, []float64{3, 1}) {
		t.Errorf("%v %v %v", q.Terms, q.Weights, err)
	}
	if q, err = (RM3{}).Expand(t.Context(), Of(s), engine.Query{Text: "weft", K: 3}); err != nil || !slices.Equal(q.Terms, []string{"body:loom", "title:loom", "body:weft"}) || !slices.Equal(q.Weights, []float64{0.25, 0.25, 0.75}) {
		t.Errorf("%v %v %v", q.Terms, q.Weights, err)
	}
}

// TestRefused has wrong options, queries and indexes.
func TestRefused(t *testing.T) {
	opt := build.DefaultOptions()
	_, bare := open(t, []string{"a\tred loom"}, opt)
	opt.Store = hdl.StoreText
	_, s := open(t, []string{"a\tred loom"}, opt)
	two := 2.0
	for _, test := range []struct {
		r    RM3
		q    engine.Query
		want string
	}{
		{RM3{Docs: 1001}, engine.Query{Text: "red", K: 1}, "the number of documents is 1001"},
		{RM3{Terms: -1}, engine.Query{Text: "red", K: 1}, "the number of terms is -1"},
		{RM3{Weight: &two}, engine.Query{Text: "red", K: 1}, "the weight of the query is 2"},
		{RM3{}, engine.Query{Text: "red"}, "not ranked"},
		{RM3{}, engine.Query{Terms: []string{"red"}, K: 1}, "a query of words"},
		{RM3{}, engine.Query{Text: "red -loom", K: 1}, "omit operators"},
	} {
		if _, err := test.r.Expand(t.Context(), Of(s), test.q); engine.CodeOf(err) != engine.InvalidOption || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.q, err, test.want)
		}
	}
	if _, err := (RM3{}).Expand(t.Context(), Of(bare), engine.Query{Text: "red", K: 1}); engine.CodeOf(err) != engine.InvalidOption || !strings.Contains(err.Error(), "--store text") {
		t.Errorf("without texts: %v", err)
	}
	if q, err := (RM3{}).Expand(t.Context(), Of(s), engine.Query{Text: "none", K: 1}); err != nil || !slices.Equal(q.Terms, []string{"none"}) {
		t.Errorf("without documents: %+v %v", q, err)
	}
	if _, err := (Like{}).Query(t.Context(), Of(s), "none", engine.Query{K: 1}); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("an unknown document: %v", err)
	}
	if _, err := (Like{}).Query(t.Context(), Of(s), "a", engine.Query{K: 1, QueryFields: "title"}); engine.CodeOf(err) != engine.InvalidOption || !strings.Contains(err.Error(), "the index has no fields") {
		t.Errorf("a field of an index without fields: %v", err)
	}
	if _, err := (Like{MinFrequency: -1}).Query(t.Context(), Of(s), "a", engine.Query{K: 1}); engine.CodeOf(err) != engine.InvalidOption {
		t.Errorf("a wrong frequency: %v", err)
	}
}
