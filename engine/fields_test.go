package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/index/build"
	"heddle/engine/index/querylang"
)

// fielded is documents of fields: the words of each field of each document.
type fielded []map[string][]string

var fieldWords = []string{"loom", "loo", "weft", "red", "reed"}

func drawFielded(t *rapid.T) (docs fielded) {
	for range rapid.IntRange(1, 25).Draw(t, "documents") {
		one := map[string][]string{}
		for _, f := range []string{"title", "body"} {
			one[f] = rapid.SliceOfN(rapid.SampledFrom(fieldWords), 0, 7).Draw(t, f)
		}
		docs = append(docs, one)
	}
	return docs
}

// lines is the documents as JSON lines.
func (docs fielded) lines() string {
	var b strings.Builder
	for i, d := range docs {
		line, _ := json.Marshal(map[string]string{"id": fmt.Sprint(i), "title": strings.Join(d["title"], " "), "body": strings.Join(d["body"], " ")})
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// frequency is the number of places where a leaf matches in a field.
func (docs fielded) frequency(e *querylang.Expr, doc int, field string) (n int) {
	words := docs[doc][field]
	want := e.Args
	if e.Op != querylang.Phrase {
		want = []querylang.Expr{*e}
	}
	for at := range len(words) - len(want) + 1 {
		ok := true
		for i, w := range want {
			ok = ok && (words[at+i] == w.Term || w.Op == querylang.Prefix && strings.HasPrefix(words[at+i], w.Term))
		}
		if ok {
			n++
		}
	}
	return n
}

// matches tells whether a document matches; words without a field are searched in fields.
func (docs fielded) matches(e *querylang.Expr, doc int, fields []querylang.Field) bool {
	switch e.Op {
	case querylang.And, querylang.Or, querylang.Not:
		n := 0
		for i := range e.Args {
			if docs.matches(&e.Args[i], doc, fields) {
				n++
			} else if e.Op == querylang.Not && i == 0 {
				return false
			}
		}
		return e.Op == querylang.Or && n > 0 || e.Op == querylang.And && n == len(e.Args) || e.Op == querylang.Not && n == 1
	}
	if e.Op == querylang.All {
		return e.Field == "" || len(docs[doc][e.Field]) > 0
	}
	return slices.ContainsFunc(fieldsOf(e, fields), func(f querylang.Field) bool { return docs.frequency(e, doc, f.Name) > 0 })
}

// score is the score of a document by the formula of BM25 in each field.
func (docs fielded) score(q *Query, e *querylang.Expr, doc int, fields []querylang.Field) (sum float64) {
	switch e.Op {
	case querylang.All:
		return 0
	case querylang.Not:
		return docs.score(q, &e.Args[0], doc, fields)
	case querylang.And, querylang.Or:
		for i := range e.Args {
			sum += docs.score(q, &e.Args[i], doc, fields)
		}
		return sum
	}
	best := 0.0
	for _, f := range fieldsOf(e, fields) {
		one := 0.0
		count, total := 0.0, 0.0
		for _, d := range docs {
			count, total = count+float64(min(len(d[f.Name]), 1)), total+float64(len(d[f.Name]))
		}
		idf := func(words ...string) float64 { // of the most frequent one
			most := 0
			for _, w := range words {
				n := 0
				for d := range docs {
					n += min(docs.frequency(&querylang.Expr{Term: w}, d, f.Name), 1)
				}
				most = max(most, n)
			}
			if most == 0 {
				return 0
			}
			return math.Log1p((count - float64(most) + 0.5) / (float64(most) + 0.5))
		}
		tf := func(n int) float64 {
			if n == 0 {
				return 0
			}
			return float64(n) / (float64(n) + 0.9*(0.6+0.4*float64(len(docs[doc][f.Name]))*count/total))
		}
		weight := f.Weight
		if e.Weight > 0 {
			weight *= e.Weight
		}
		switch e.Op {
		case querylang.Term:
			one = weight * idf(e.Term) * tf(docs.frequency(e, doc, f.Name))
		case querylang.Prefix:
			var words []string
			for _, w := range fieldWords {
				if strings.HasPrefix(w, e.Term) {
					words = append(words, w)
				}
			}
			for _, w := range words {
				part := weight * idf(words...) * tf(docs.frequency(&querylang.Expr{Term: w}, doc, f.Name))
				if one += part; q.Expansion.Best {
					one = max(one-part, part)
				}
			}
		case querylang.Phrase:
			all := 0.0
			for _, a := range e.Args {
				all += idf(a.Term)
			}
			one = weight * all * tf(docs.frequency(e, doc, f.Name))
		}
		best, sum = max(best, one), sum+one
	}
	if q.Tie != nil {
		return best + *q.Tie*(sum-best)
	}
	return sum
}

// fieldsOf is the fields of a leaf.
func fieldsOf(e *querylang.Expr, fields []querylang.Field) []querylang.Field {
	if e.Field != "" {
		return []querylang.Field{{Name: e.Field, Weight: 1}}
	}
	return fields
}

func drawFieldQuery(t *rapid.T, depth int) (e querylang.Expr) {
	if rapid.IntRange(0, 7).Draw(t, "every") == 0 {
		return querylang.Expr{Op: querylang.All, Field: rapid.SampledFrom([]string{"", "title", "body"}).Draw(t, "field")}
	}
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
		e.Op = rapid.SampledFrom([]querylang.Op{querylang.Term, querylang.Term, querylang.Prefix, querylang.Phrase}).Draw(t, "op")
		e.Field = rapid.SampledFrom([]string{"", "", "title", "body"}).Draw(t, "field")
		e.Term = rapid.SampledFrom(append(fieldWords, "none")).Draw(t, "word")
		switch e.Op {
		case querylang.Prefix:
			e.Term = e.Term[:2]
		case querylang.Phrase:
			e.Args = []querylang.Expr{{Term: e.Term}, {Term: rapid.SampledFrom(fieldWords).Draw(t, "second")}}
			e.Term = ""
		}
		if rapid.IntRange(0, 3).Draw(t, "weighted") == 0 {
			e.Weight = 2.5
		}
		return e
	}
	e.Op = rapid.SampledFrom([]querylang.Op{querylang.And, querylang.Or, querylang.Or, querylang.Not}).Draw(t, "op")
	for range rapid.IntRange(2, 3).Draw(t, "operands") {
		e.Args = append(e.Args, drawFieldQuery(t, depth-1))
	}
	return e
}

// TestFieldsOracle compares random queries on random documents of two fields with a plain evaluator: documents and scores, of
// a file, and of a collection with deleted documents, which gives the same scores bit for bit.
func TestFieldsOracle(t *testing.T) {
	e := onThread(t)
	queries := 6
	if os.Getenv("HEDDLE_TEST_FULL") != "" {
		queries = 1000
	}
	rapid.Check(t, func(t *rapid.T) {
		docs := drawFielded(t)
		x, c := docs.open(t, e)
		snapshot, err := x.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Close()
		for range queries {
			q := Query{K: 100, Total: TotalExact, Names: true, QueryFields: rapid.SampledFrom([]string{"", "title^3,body", "body"}).Draw(t, "fields")}
			if q.Expansion.Best = rapid.Bool().Draw(t, "best"); rapid.Bool().Draw(t, "dismax") {
				tie := rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "tie")
				q.Tie = &tie
			}
			fields, err := querylang.ParseFields(q.QueryFields)
			if err != nil {
				t.Fatal(err)
			}
			if fields == nil {
				fields = []querylang.Field{{Name: "title", Weight: 1}, {Name: "body", Weight: 1}}
			}
			want := drawFieldQuery(t, 3)
			if q.Text = want.String(); rapid.Bool().Draw(t, "words") { // of a text without operators
				q.Match = rapid.SampledFrom(Matches()).Draw(t, "match")
				q.K = rapid.SampledFrom([]int{1, 5, 100}).Draw(t, "k")
				words := rapid.SliceOfN(rapid.SampledFrom(fieldWords), 1, 3).Draw(t, "text")
				q.Literal, q.Text = rapid.Bool().Draw(t, "literal"), strings.Join(words, " ")
				want = querylang.Expr{Op: querylang.Or}
				for _, w := range words {
					want.Args = append(want.Args, querylang.Expr{Term: w})
				}
				if every := (querylang.Expr{Op: querylang.And, Args: want.Args}); q.Match == And || q.Match == AndOr && len(docs.all(&every, fields)) >= q.K {
					want = every
				}
			}
			all := docs.all(&want, fields)
			h, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", q.Text, err)
			}
			if len(h.Docs) != min(len(all), q.K) || h.Total.Value != uint64(len(all)) {
				t.Fatalf("%+v in\n%s: %v of %v, want %v", q, docs.lines(), h.Docs, h.Total, all)
			}
			for i, d := range h.Docs {
				if s := docs.score(&q, &want, int(d), fields); !slices.Contains(all, d) || math.Abs(h.Scores[i]-s) > 1e-5*max(s, 1e-3) || i > 0 && h.Scores[i] > h.Scores[i-1] {
					t.Fatalf("%+v in\n%s: document %d has the score %v, want %v", q, docs.lines(), d, h.Scores[i], s)
				}
				w, err := snapshot.ExplainScore(t.Context(), q, d)
				if err != nil || w.Score != h.Scores[i] {
					t.Fatalf("%+v in\n%s: document %d has the score %v, explained as %+v; %v", q, docs.lines(), d, h.Scores[i], w, err)
				}
				sum := 0.0
				for _, p := range w.Parts {
					sum += p.Score
				}
				if sum != w.Score {
					t.Fatalf("%+v in\n%s: document %d: the parts %+v add up to %v, want %v", q, docs.lines(), d, w.Parts, sum, w.Score)
				}
			}
			if q.Match != AndOr {
				sorted := q
				sorted.Sort = []string{"score"}
				if got, err := x.Search(t.Context(), sorted); err != nil || !slices.Equal(got.Docs, h.Docs) || !slices.Equal(got.Scores, h.Scores) || got.Total != h.Total {
					t.Fatalf("%+v in\n%s: %v %v of %v, want %v %v of %v; %v", sorted, docs.lines(), got.Docs, got.Scores, got.Total, h.Docs, h.Scores, h.Total, err)
				}
				plain := q
				plain.K, plain.Total = 0, 0
				if h, err := x.Search(t.Context(), plain); err != nil || !slices.Equal(h.Docs, all) {
					t.Fatalf("%+v in\n%s: %v, want %v; %v", plain, docs.lines(), h.Docs, all, err)
				}
				plain.CountOnly, plain.Filter = true, &Filter{Docs: []uint32{0, uint32(len(docs) / 2)}}
				permitted := slices.DeleteFunc(slices.Clone(all), func(d uint32) bool { return d != 0 && d != uint32(len(docs)/2) })
				if h, err := x.Search(t.Context(), plain); err != nil || h.Count != uint64(len(permitted)) {
					t.Fatalf("%+v in\n%s: %d documents, want %v; %v", plain, docs.lines(), h.Count, permitted, err)
				}
			}
			if got, err := c.Search(t.Context(), q); err != nil || !slices.Equal(got.Names, h.Names) || !slices.Equal(got.Scores, h.Scores) || got.Total != h.Total {
				t.Fatalf("%+v in\n%s: a collection has %v %v %v, want %v %v; %v", q, docs.lines(), got.Names, got.Scores, got.Total, h.Names, h.Scores, err)
			}
		}
	})
}

// all is the documents that match.
func (docs fielded) all(e *querylang.Expr, fields []querylang.Field) (all []uint32) {
	for d := range docs {
		if docs.matches(e, d, fields) {
			all = append(all, uint32(d))
		}
	}
	return all
}

// open returns the documents as a file, and as a collection of several segments with deleted documents in front of each.
func (docs fielded) open(t *rapid.T, e *Engine) (*Index, *Collection) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "fields")
	must(err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	opt := build.DefaultOptions()
	opt.Format, opt.Fields, opt.Positions, opt.Stdin = build.JSONL, []string{"title", "body"}, true, strings.NewReader(docs.lines())
	if rapid.Bool().Draw(t, "shuffled") {
		opt.Fields = []string{"body", "title"}
	}
	path := filepath.Join(dir, "x.hdl")
	_, err = build.Build(t.Context(), path, []string{"-"}, opt)
	must(err)
	x, err := e.OpenIndex(t.Context(), path, IndexOptions{})
	must(err)
	t.Cleanup(func() { x.Close() })
	c, err := e.OpenCollection(t.Context(), filepath.Join(dir, "c"), CollectionOptions{Create: &CollectionSettings{Fields: opt.Fields, Positions: true}})
	must(err)
	t.Cleanup(func() { c.Close() })
	n := 0
	for part := range slices.Chunk(docs, 10) {
		some := []Document{{Name: "gone", Members: map[string]any{"title": "loom red", "body": "reed reed loom"}}}
		for _, d := range part {
			some = append(some, Document{Name: fmt.Sprint(n), Members: map[string]any{"title": strings.Join(d["title"], " "), "body": strings.Join(d["body"], " ")}})
			n++
		}
		_, err = c.Add(t.Context(), slices.Values(some))
		must(err)
		_, err = c.Delete(t.Context(), "gone")
		must(err)
	}
	return x, c
}

// TestFieldsExpansions: the terms of a word are bounded in each field, in a collection as in a file, with the same errors.
func TestFieldsExpansions(t *testing.T) {
	e, err := New(t.Context(), Options{Backend: "host", Threads: 1, Limits: Limits{Expansions: 2}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	rapid.Check(t, func(t *rapid.T) {
		x, c := drawFielded(t).open(t, e)
		q := Query{K: 100, Total: TotalExact, Names: true}
		for _, q.Text = range []string{"*e*", "lo*", "*e* lo*", "title:*e*", "title:lo* AND *ee*", `"*e* loom"`, "NOT *e*", "none* titel:x", "red titel:(none* x)"} {
			for _, q.QueryFields = range []string{"", "body", "body,title", "title^2,body", "body,titel"} {
				for _, q.Expansion.Top = range []bool{false, true} {
					want, wrong := x.Search(t.Context(), q)
					got, err := c.Search(t.Context(), q)
					if fmt.Sprint(err) != fmt.Sprint(wrong) || !slices.Equal(got.Names, want.Names) || !slices.Equal(got.Scores, want.Scores) || got.Total != want.Total {
						t.Fatalf("%+v: %v %v of %v; %v, want %v %v of %v; %v", q, got.Names, got.Scores, got.Total, err, want.Names, want.Scores, want.Total, wrong)
					}
				}
			}
		}
	})
}
