package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/syntax"
)

// operatorQueries draws texts with operators over the terms of rankedCorpus.
func operatorQueries(n int) []string {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	term := func() string {
		switch r.IntN(12) {
		case 0:
			return "unknown"
		case 1:
			return fmt.Sprintf("t%d*", 1+r.IntN(4))
		case 2:
			return fmt.Sprintf("(t%d OR t%d)", r.IntN(rankedTerms), r.IntN(rankedTerms))
		case 3:
			return fmt.Sprintf("t%d^%v", r.IntN(rankedTerms), float64(1+r.IntN(20))/4)
		}
		return fmt.Sprintf("t%d", r.IntN(rankedTerms))
	}
	texts := []string{"+t3 t9 -t0", "-t0 t3", "t1*", "t0 t1*", "t10~1 -t1", "+/t1[0-3]/ t*9^2", "[t1 TO t12] -t1?", "NOT t?? t3 ", "+t1* -t10", "t3 AND t9", "t3 OR t9", "unknown t1 -unknown", "+unknown t1", "unknown*"}
	for len(texts) < n {
		text := term()
		for range 1 + r.IntN(4) {
			text += []string{" ", " AND ", " OR ", " NOT ", " +", " -"}[r.IntN(6)] + term()
		}
		if strings.ContainsAny(text, "+-*AON") {
			texts = append(texts, text)
		}
	}
	return texts
}

// TestOperators compares ranked queries with operators with their documents without scores,
// and with the scores of their terms under Or.
func TestOperators(t *testing.T) {
	testneeds.OneCaller(t)
	texts := operatorQueries(pick(200, 60))
	for _, impacts := range []uint8{0, 8} {
		opt := backendOptions(t)
		opt.Results = 1 << 20
		x := rankedCorpus(500).open(t, impacts, opt)
		for _, match := range []Match{Or, And, AndOr} {
			var want []ranking
			found := 0
			for _, text := range texts {
				q := Query{Text: text, Match: match}
				terms, weights, err := x.WeightedTerms(q)
				if err != nil {
					t.Fatal(err)
				}
				all := mustRank(t, x, Query{Terms: terms, Weights: weights}, rankOptions{K: plan.MaxK})
				set := Query{Text: text, Match: min(match, And)}
				if match == AndOr {
					set.Match = Or
				}
				docs, err := x.Search(t.Context(), set)
				if err != nil {
					t.Fatal(err)
				}
				var r ranking
				for i, d := range all.Docs {
					if _, ok := slices.BinarySearch(docs.Docs, d); ok && len(r.Docs) < 7 {
						r.Docs, r.Scores = append(r.Docs, d), append(r.Scores, all.Scores[i])
					}
				}
				found += len(r.Docs)
				if len(r.Docs) != min(len(docs.Docs), 7) {
					t.Fatalf("%s: %d documents match, %d have a score", text, len(docs.Docs), len(r.Docs))
				}
				if impacts == 0 && strings.ContainsAny(text, querylang.Tolerance) {
					r = blendedRanking(t, x, q, docs.Docs)
				}
				want = append(want, r)
				for range 2 { // the second answer is from the result cache
					sameRanking(t, mustRank(t, x, Query{Text: text}, rankOptions{Mode: match, K: 7}), r)
				}
			}
			if found < len(texts) {
				t.Errorf("%d documents for %d queries", found, len(texts))
			}
			qs := make([]Query, 0, 2*len(texts))
			for _, text := range texts {
				qs = append(qs, Query{Text: text}, Query{Terms: []string{"t2"}})
			}
			var out rankings
			if err := x.rankMany(t.Context(), qs, rankOptions{Mode: match, K: 7}, &out); err != nil {
				t.Fatal(err)
			}
			for i, r := range want {
				docs, scores := out.Query(2 * i)
				sameRanking(t, ranking{Docs: docs, Scores: scores}, r)
			}
		}
	}
}

// blendedRanking returns the ranking of a query with prefixes or tolerant words. It holds the scores to sums over the
// leaves of the query: the terms of a leaf have the document frequency of the most frequent one.
func blendedRanking(t *testing.T, x *served, q Query, docs []uint32) ranking {
	join := querylang.Or
	if q.Match == And {
		join = querylang.And
	}
	e, err := querylang.Parse(q.Text, join)
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint32]float64{}
	var add func(e *querylang.Expr)
	add = func(e *querylang.Expr) {
		args := e.Args
		switch e.Op {
		case querylang.Not:
			args = args[:1]
		case querylang.Term, querylang.Prefix, querylang.Expand:
			terms, weights, err := x.WeightedTerms(Query{Expr: e})
			if err != nil {
				t.Fatal(err)
			}
			st := x.Statistics(terms...)
			if e.Op != querylang.Term {
				most := slices.Max(append(slices.Collect(maps.Values(st.DF)), 0))
				for _, term := range terms {
					st.DF[term] = most
				}
			}
			all := mustRank(t, x, Query{Terms: terms, Weights: weights}, rankOptions{K: plan.MaxK, Statistics: &st})
			for i, d := range all.Docs {
				want[d] += all.Scores[i]
			}
		}
		for i := range args {
			add(&args[i])
		}
	}
	add(&e)
	got := mustRank(t, x, Query{Text: q.Text}, rankOptions{Mode: q.Match, K: 7})
	best := slices.SortedFunc(slices.Values(docs), func(a, b uint32) int { return cmp.Compare(want[b], want[a]) })
	if len(got.Docs) != min(7, len(docs)) {
		t.Fatalf("%s: %d documents of %d", q.Text, len(got.Docs), len(docs))
	}
	for i, d := range got.Docs {
		if math.Abs(got.Scores[i]-want[d]) > 1e-5*(1+want[d]) || math.Abs(want[d]-want[best[i]]) > 1e-5*(1+want[d]) {
			t.Fatalf("%s: place %d: document %d of score %v, want score %v, and %d of %v", q.Text, i, d, got.Scores[i], want[d], best[i], want[best[i]])
		}
	}
	return got
}

// TestLanguage has the documents of queries whose meaning Lucene defines.
func TestLanguage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hdl")
	text := "a\tbone marrow\nb\tbone cell\nc\tmarrow cell\nd\tcomputers or 10 8 cells\ne\tCompiler title bone\n"
	for stemmer, prefixes := range map[string][]string{"none": {"d", "e"}, "english": {"d", "e"}} {
		opt := build.DefaultOptions()
		opt.Format, opt.Stdin, opt.Stem = build.Text, strings.NewReader(text), stemmer
		if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
			t.Fatal(err)
		}
		x, err := open(t.Context(), path, backendOptions(t))
		closed(t, x, err)
		for query, want := range map[string][]string{
			"+bone -cell":              {"a", "e"},
			"-cell +bone":              {"a", "e"},
			"bone -cell":               {"a", "e"},
			"+marrow bone":             {"a", "c"},
			"bone AND marrow":          {"a"},
			"bone AND (cell OR title)": {"b", "e"},
			"marrow or bone":           {"a", "b", "c", "d", "e"},
			"marrow OR 10":             {"a", "c", "d"},
			"comp*":                    prefixes,
			"COMP* -title":             {"d"},
			"10^-8":                    {"d"},
			"bone^2 nosuch^3":          {"a", "b", "e"},
			"nosuch*":                  nil,
		} {
			for _, k := range []int{0, 10} {
				hits, err := x.Search(t.Context(), Query{Text: query, K: k})
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, d := range hits.Docs {
					name, err := x.File().DocName(d)
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, name)
				}
				if slices.Sort(names); !slices.Equal(names, want) || hits.Count != uint64(len(want)) {
					t.Errorf("%s, %s with k %d: %q, want %q", stemmer, query, k, names, want)
				}
			}
		}
		for query, want := range map[string]uint64{`"title bone"`: 1, "title:bone": 0, "title bone": 1, "+title -bone": 1, "title*": 1, "tit*": 0, "title~1": 0} {
			hits, err := x.Search(t.Context(), Query{Text: query, Literal: true, Match: And})
			if err != nil || hits.Count != want {
				t.Errorf("%s as text: %d documents, %v, want %d", query, hits.Count, err, want)
			}
		}
		for query, want := range map[string]string{`bone "marrow`: "column 6: a quote without", "title:bone": "column 1: the index has no fields", "bone~3": "column 5: 3 edits"} {
			_, err := x.Search(t.Context(), Query{Text: query})
			if _, ok := errors.AsType[*syntax.Error](err); !ok || CodeOf(err) != InvalidQuery || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", query, err, want)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// noPrefixes is a dictionary that finds whole terms only.
type noPrefixes struct{ Dictionary }

// TestPrefixErrors has prefixes that an index cannot expand.
func TestPrefixErrors(t *testing.T) {
	c := testCorpus()
	x := openFile(t, backendOptions(t))
	for text, want := range map[string]string{
		"a.-/b*": "column 1: the analysis of the index makes 2 words of",
		"?!*":    "column 1: the analysis of the index makes 0 words of",
	} {
		_, err := x.Search(t.Context(), Query{Text: text})
		if CodeOf(err) != InvalidQuery || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if hits, err := x.Search(t.Context(), Query{Text: c.terms[0] + "*"}); err != nil || hits.Count == 0 {
		t.Errorf("%d documents, %v", hits.Count, err)
	}
	src, terms := &plan.Source{Docs: 1, Lengths: []uint32{1025}}, []string(nil)
	for i := range 1025 {
		h, err := src.Append(codec.Raw, []uint32{0}, codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, []uint32{1}, codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, fmt.Sprintf("m%04d", i))
	}
	dict, err := hdl.NewDictionary(terms)
	if err != nil {
		t.Fatal(err)
	}
	y, err := openSource(t.Context(), src, dict, backendOptions(t))
	closed(t, y, err)
	for _, text := range []string{"m*", "+m0001 m*", "m0001 NOT (+m0002 m*)"} { // the last two change no documents
		for _, k := range []int{0, 1} {
			if _, err := y.Search(t.Context(), Query{Text: text, K: k}); CodeOf(err) != InvalidQuery || !strings.Contains(err.Error(), "it stands for 1025 terms, and limits.expansions is 1024") {
				t.Errorf("%s, k %d: %v", text, k, err)
			}
		}
	}
	if hits, err := y.Search(t.Context(), Query{Text: "m0*", K: 1}); err != nil || hits.Count != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
	z, err := openSource(t.Context(), src, noPrefixes{dict}, backendOptions(t))
	closed(t, z, err)
	if _, err := z.Search(t.Context(), Query{Text: "m0*"}); CodeOf(err) != InvalidQuery || !strings.Contains(err.Error(), "whole terms only") {
		t.Errorf("%v", err)
	}
}

// TestInvalidBeside: SearchAll answers the valid queries beside invalid ones of each kind, in
// batches of every size, and returns the first error.
func TestInvalidBeside(t *testing.T) {
	testneeds.OneCaller(t)
	opt := backendOptions(t)
	opt.Limits.Terms = 100
	t1 := querylang.Expr{Term: "t1"}
	tree := func(op querylang.Op, args ...querylang.Expr) *querylang.Expr {
		return &querylang.Expr{Op: op, Args: args}
	}
	invalid := map[Code][]Query{
		InvalidQuery: {
			{Text: "heaven~3"}, {Text: "t1 OR"}, {Text: "[t2 TO t1]"}, {Text: "/t(1/"},
			{Terms: []string{"t1"}, Weights: []float64{-1}, K: 5}, {Terms: []string{"t1"}, Weights: []float64{1, 2}, K: 5},
			{Expr: tree(querylang.And)}, {Expr: tree(querylang.Prefer)}, {Expr: tree(querylang.Or, t1, *tree(querylang.And))},
			{Expr: tree(querylang.Not)}, {Expr: tree(querylang.Term, t1)},
		},
		Unsupported: {{Text: strings.Repeat("t1 ", 101)}, {Terms: make([]string, 101)}},
	}
	for _, candidates := range []uint64{1, 900, 0} {
		opt.BatchCandidates = candidates
		x := rankedCorpus(200).open(t, 0, opt)
		for _, k := range []int{0, 5} {
			for _, match := range []Match{Or, And} {
				r := rand.New(rand.NewPCG(uint64(k), candidates))
				var qs []Query
				var codes []Code // by query
				for range 120 {
					q, code := Query{Text: fmt.Sprintf("t%d t%d", r.IntN(20), r.IntN(20))}, OK
					if r.IntN(4) == 0 {
						code = []Code{InvalidQuery, Unsupported}[r.IntN(2)]
						q = invalid[code][r.IntN(len(invalid[code]))]
					}
					if code == OK || q.K == 0 {
						q.K = k
					}
					q.Match = match
					qs, codes = append(qs, q), append(codes, code)
				}
				hits, err := gather(t.Context(), x, qs)
				first := slices.IndexFunc(codes, func(c Code) bool { return c != OK })
				if e, ok := errors.AsType[*query.Error](err); !ok || e.Query != first || CodeOf(err) != codes[first] {
					t.Fatalf("k %d, %v: %v, want the error of query %d", k, match, err, first)
				}
				for i, h := range hits {
					if CodeOf(h.Err) != codes[i] {
						t.Fatalf("query %d: %v, want code %v", i, h.Err, codes[i])
					}
					if h.Err != nil {
						continue
					}
					if want, err := x.Search(t.Context(), qs[i]); err != nil || !slices.Equal(h.Docs, want.Docs) || !slices.Equal(h.Scores, want.Scores) {
						t.Fatalf("query %d beside invalid ones: %v, want %v, %v", i, h, want, err)
					}
				}
			}
		}
	}
}

// TestEqualTerms has words that stand for an equal term, of which one adds nothing to scores or has another document
// frequency: the scores are the sums of those of each word.
func TestEqualTerms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hdl")
	opt := build.DefaultOptions()
	opt.Format, opt.Stdin = build.Text, strings.NewReader("d0\ta a a a b\nd1\tc a\nd2\tcab b\n")
	if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	x, err := onThread(t).OpenIndex(t.Context(), path, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	scores := func(text string) map[uint32]float64 {
		h, err := x.Search(t.Context(), Query{Text: text, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		all := map[uint32]float64{}
		for i, d := range h.Docs {
			all[d] = h.Scores[i]
		}
		return all
	}
	for _, words := range [][2]string{{"{* TO cab}", "cab~2,1"}, {"[b TO c]", "cab~2,1"}, {"[b TO c]", "cab~"}, {"b c", "cab~2,1"}, {"[* TO c]", "c*"}} {
		both, first, second := scores(words[0]+" "+words[1]), scores(words[0]), scores(words[1])
		for d, got := range both {
			if want := first[d] + second[d]; math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: document %d has the score %v, want %v", words, d, got, want)
			}
		}
	}
}
