package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/syntax"
)

// TestRankWeights: a weight in the text, beside the terms and by repetition is the
// same.
func TestRankWeights(t *testing.T) {
	testneeds.OneCaller(t)
	x := openFile(t, backendOptions(t))
	for _, mode := range Matches() {
		opt := rankOptions{Mode: mode, K: 10}
		want := mustRank(t, x, Query{Terms: []string{"t000", "t111", "t111"}}, opt)
		if len(want.Docs) != 10 {
			t.Fatalf("%d documents", len(want.Docs))
		}
		for _, q := range []Query{
			{Text: "t111^2 t000"},
			{Text: "T111 T000 t111"},
			{Text: "t111/T111,t000"},
			{Text: "t000 T111/t111^1.0"},
			{Terms: []string{"t111", "t000"}, Weights: []float64{2, 1}},
			{Terms: []string{"t111", "t000", "t111"}, Weights: []float64{0.5, 1, 1.5}},
		} {
			sameRanking(t, mustRank(t, x, q, opt), want)
		}
		double := mustRank(t, x, Query{Text: "t111^4 t000^2"}, opt)
		for i := range double.Scores {
			double.Scores[i] /= 2
		}
		sameRanking(t, double, want)
	}
}

// TestRankScores holds scores to BM25 in floating point, summed over all documents.
func TestRankScores(t *testing.T) {
	testneeds.OneCaller(t)
	c := rankedCorpus(300)
	x := c.open(t, 0, backendOptions(t))
	docs := uint64(0) // with terms
	for _, doc := range c {
		docs += uint64(min(len(doc), 1))
	}
	average := float64(x.Statistics().Length) / float64(docs)
	for _, v := range bm25.Variants() {
		p := bm25.Params{Variant: v, K1: 1.2, B: 0.75}
		for _, q := range rankedQueries(60) {
			if q.Text != "" {
				continue
			}
			sums, total := make([]float64, len(c)), 0.0
			for i, term := range q.Terms {
				df := x.Statistics(term).DF[term]
				if df == 0 {
					continue
				}
				w := p.Weight(docs, df)
				if q.Weights != nil {
					w *= q.Weights[i]
				}
				total += w
				for d, doc := range c {
					if doc[term] > 0 {
						sums[d] += w * p.TF(doc[term], x.Source().Lengths[d], average)
					}
				}
			}
			got := mustRank(t, x, q, rankOptions{K: len(c), Scoring: &p})
			for i, d := range got.Docs {
				if math.Abs(got.Scores[i]-sums[d]) > total/(1<<20)+float64(len(q.Terms))/(1<<32) { // a posting of weight 0 counts 2^-32
					t.Fatalf("%s, %+v: document %d has score %v, want %v", p, q, d, got.Scores[i], sums[d])
				}
			}
		}
	}
}

// TestRankModes: And gives the documents of Search that Or gives too, with the same
// scores; AndOr is one of them. Ties go by docID.
func TestRankModes(t *testing.T) {
	testneeds.OneCaller(t)
	c := rankedCorpus(500)
	x := c.open(t, 0, backendOptions(t))
	byAnd, byOr := 0, 0
	for _, q := range rankedQueries(200) {
		for _, k := range []int{1, 7, plan.MaxK} {
			opt := rankOptions{K: k}
			or := mustRank(t, x, q, opt)
			opt.Mode = And
			and := mustRank(t, x, q, opt)
			opt.Mode = AndOr
			both := mustRank(t, x, q, opt)
			if len(and.Docs) == k {
				byAnd++
				sameRanking(t, both, and)
			} else {
				byOr++
				sameRanking(t, both, or)
			}
			ordered(t, or)
			ordered(t, and)
			if both.Stats.Queries != 1 || both.Stats.Matches != uint64(len(both.Docs)) {
				t.Errorf("stats of one query with %d documents: %+v", len(both.Docs), both.Stats)
			}
			if k < plan.MaxK {
				continue
			}
			terms, _ := weighted(t, x, q)
			found, err := x.search(t.Context(), Query{Terms: terms}, searchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			docs := slices.Clone(and.Docs)
			slices.Sort(docs)
			if !slices.Equal(docs, found.Docs) {
				t.Fatalf("%+v: ranked are %d, found %d", q, docs, found.Docs)
			}
			for i, d := range and.Docs {
				if j := slices.Index(or.Docs, d); j < 0 || or.Scores[j] != and.Scores[i] {
					t.Fatalf("%+v: document %d has score %v by And; by Or it is number %d", q, d, and.Scores[i], j)
				}
			}
		}
	}
	if byAnd == 0 || byOr == 0 {
		t.Errorf("%d queries by And, %d by Or", byAnd, byOr)
	}
}

func weighted(t testing.TB, x *served, q Query) ([]string, []float64) {
	t.Helper()
	if q.Text == "" {
		return q.Terms, q.Weights
	}
	terms, weights, err := x.WeightedTerms(q)
	if err != nil {
		t.Fatal(err)
	}
	return terms, weights
}

// ordered checks that scores descend and equal ones go by docID.
func ordered(t testing.TB, r ranking) {
	t.Helper()
	for i := 1; i < len(r.Docs); i++ {
		if cmp.Or(cmp.Compare(r.Scores[i], r.Scores[i-1]), cmp.Compare(r.Docs[i-1], r.Docs[i])) >= 0 {
			t.Fatalf("place %d: document %d of score %v behind %d of %v", i, r.Docs[i], r.Scores[i], r.Docs[i-1], r.Scores[i-1])
		}
	}
}

// TestRankMany gives the answers of Rank, however it cuts the queries into batches.
func TestRankMany(t *testing.T) {
	testneeds.OneCaller(t)
	c := rankedCorpus(400)
	qs := rankedQueries(pick(150, 50))
	single := c.open(t, 0, backendOptions(t))
	want := map[Match][]ranking{}
	for _, mode := range Matches() {
		for _, q := range qs {
			want[mode] = append(want[mode], mustRank(t, single, q, rankOptions{Mode: mode, K: 9}))
		}
	}
	for _, b := range batching()[:pick(6, 2)] {
		opt := backendOptions(t)
		opt.Workers, opt.BatchPostings = b.Workers, b.BatchCandidates
		x := c.open(t, 0, opt)
		for _, mode := range Matches() {
			var out rankings // reused, from long to short and back
			for _, n := range []int{len(qs), 1, 0, len(qs)} {
				if err := x.rankMany(t.Context(), qs[:n], rankOptions{Mode: mode, K: 9}, &out); err != nil {
					t.Fatal(err)
				}
				if out.Queries() != n || out.Stats.Queries != uint64(n) || out.Stats.Matches != uint64(len(out.Docs)) {
					t.Fatalf("%d queries: %d rankings, %+v", n, out.Queries(), out.Stats)
				}
				for i := range n {
					docs, scores := out.Query(i)
					sameRanking(t, ranking{Docs: docs, Scores: scores}, want[mode][i])
				}
			}
		}
	}
}

// TestRankConcurrently has many callers with other options each.
func TestRankConcurrently(t *testing.T) {
	x := rankedCorpus(400).open(t, 0, backendOptions(t))
	qs := rankedQueries(40)
	var wg sync.WaitGroup
	for i := range 6 {
		opt := rankOptions{Mode: Matches()[i%3], K: 1 + i*5}
		want := make([]ranking, len(qs))
		for j, q := range qs {
			want[j] = mustRank(t, x, q, opt)
		}
		wg.Go(func() {
			err := x.rankBatches(t.Context(), qs, opt, func(first int, r *rankings) error {
				for j := range r.Queries() {
					docs, _ := r.Query(j)
					if !slices.Equal(docs, want[first+j].Docs) {
						return fmt.Errorf("query %d: %d, want %d", first+j, docs, want[first+j].Docs)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestRankErrors has wrong queries and options, alone and in a batch, and an index
// that answers all the same.
func TestRankErrors(t *testing.T) {
	testneeds.OneCaller(t)
	x := rankedCorpus(50).open(t, 0, backendOptions(t))
	good := Query{Text: "t0"}
	for name, test := range map[string]struct {
		q    Query
		opt  rankOptions
		want string
	}{
		"k is below 0": {good, rankOptions{}, "k = -1 is not from 1 to 10000"},
		"k is great":   {good, rankOptions{K: 10001}, "k = 10001 is not from 1 to 10000"},
		"mode":         {good, rankOptions{K: 1, Mode: 3}, "unknown match(3)"},
		"accumulators": {good, rankOptions{K: 1, Accumulators: 9}, "accumulators 9"},
		"scoring":      {good, rankOptions{K: 1, Scoring: &bm25.Params{K1: -1}}, "k1 = -1 is not from 0 to 255"},
		"operation":    {Query{Expr: &querylang.Expr{Op: 99}}, rankOptions{K: 1}, "unknown operation 99 in an expression"},
		"empty and":    {Query{Expr: &querylang.Expr{Op: querylang.And}}, rankOptions{K: 1}, "an And or Prefer of an expression has no operands"},
		"lone not":     {Query{Expr: &querylang.Expr{Op: querylang.Not, Args: make([]querylang.Expr, 1)}}, rankOptions{K: 1}, "a Not of an expression has 1 operands"},
		"leaf weight":  {Query{Expr: &querylang.Expr{Term: "t0", Weight: -1}}, rankOptions{K: 1}, `weight -1 of term "t0" is not positive and finite`},
		"few weights":  {Query{Terms: []string{"t0", "t1"}, Weights: []float64{1}}, rankOptions{K: 1}, "1 weights for 2 terms"},
		"text weights": {Query{Text: "t0", Weights: []float64{1}}, rankOptions{K: 1}, "weights of terms for a query that is a text"},
		"zero":         {Query{Terms: []string{"t0"}, Weights: []float64{0}}, rankOptions{K: 1}, `weight 0 of term "t0" is not positive and finite`},
		"nan":          {Query{Terms: []string{"t0"}, Weights: []float64{math.NaN()}}, rankOptions{K: 1}, `weight NaN of term "t0" is not positive and finite`},
		"infinite":     {Query{Terms: []string{"t0"}, Weights: []float64{math.Inf(1)}}, rankOptions{K: 1}, `weight +Inf of term "t0" is not positive and finite`},
		"too great":    {Query{Terms: []string{"t9", "t9"}, Weights: []float64{1e308, 1e308}}, rankOptions{K: 1}, `weight +Inf of term "t9" is too great`},
		"phrase":       {Query{Text: `t0 "t1`}, rankOptions{K: 1}, "column 4: a quote without its partner"},
		"field":        {Query{Text: "a:t0"}, rankOptions{K: 1}, "column 1: the index has no fields"},
		"no df":        {good, rankOptions{K: 1, Statistics: &Statistics{Docs: 50, Length: 9}}, `statistics have term "t0" in 0 of 50 documents`},
		"great df":     {good, rankOptions{K: 1, Statistics: &Statistics{Docs: 50, Length: 9, DF: map[string]uint64{"t0": 51}}}, `statistics have term "t0" in 51 of 50 documents`},
		"no length":    {good, rankOptions{K: 1, Statistics: &Statistics{Docs: 50}}, `statistics of 50 documents with 0 tokens`},
		"no documents": {good, rankOptions{K: 1, Statistics: &Statistics{Length: 50}}, `statistics of 0 documents with 50 tokens`},
	} {
		if _, err := x.rank(t.Context(), test.q, test.opt); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		var out rankings
		if err := x.rankMany(t.Context(), []Query{good, test.q}, test.opt, &out); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s in a batch: %v, want %q", name, err, test.want)
		}
	}

	err := x.rankMany(t.Context(), []Query{good, good, {Text: "a~3"}}, rankOptions{K: 1}, &rankings{})
	wrong, ok := errors.AsType[*query.Error](err)
	if text, isText := errors.AsType[*syntax.Error](err); !ok || wrong.Query != 2 || !isText || text.Column() != 2 || CodeOf(err) != InvalidQuery {
		t.Errorf("error of the third query: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := x.rank(stopped, good, rankOptions{K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := x.rankMany(stopped, []Query{good}, rankOptions{K: 1}, &rankings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("full")
	if err := x.rankBatches(t.Context(), []Query{good, good}, rankOptions{K: 1}, func(int, *rankings) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error of deliver: %v", err)
	}
	if r := mustRank(t, x, good, rankOptions{K: 1}); len(r.Docs) != 1 {
		t.Errorf("after the errors: %+v", r)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.rank(t.Context(), good, rankOptions{K: 1}); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := x.rankMany(t.Context(), []Query{good}, rankOptions{K: 1}, &rankings{}); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if s := x.Statistics("t0"); s.Docs != 0 || s.DF != nil {
		t.Errorf("after Close: %+v", s)
	}

	plain := openMemory(t, backendOptions(t))
	if _, err := plain.rank(t.Context(), good, rankOptions{K: 1}); !errors.Is(err, plan.ErrNotRanked) {
		t.Errorf("without frequencies: %v", err)
	}
}

// TestRankNothing: queries and indices of nothing give nothing.
func TestRankNothing(t *testing.T) {
	testneeds.OneCaller(t)
	full := rankedCorpus(30).open(t, 0, backendOptions(t))
	none := tallies{}.open(t, 0, backendOptions(t))
	blank := tallies{{}, {}, {}}.open(t, 0, backendOptions(t))
	for name, test := range map[string]struct {
		x *served
		q Query
	}{
		"no terms":         {full, Query{}},
		"blank text":       {full, Query{Text: " \n"}},
		"unknown":          {full, Query{Text: "unknown^3"}},
		"no documents":     {none, Query{Text: "t1 t2"}},
		"documents of 0":   {blank, Query{Text: "t1 t2"}},
		"a term in none":   {blank, Query{Text: "t1"}},
		"unknown, no docs": {none, Query{Text: "t0"}},
	} {
		for _, mode := range Matches() {
			if r := mustRank(t, test.x, test.q, rankOptions{Mode: mode, K: 5}); len(r.Docs) != 0 || len(r.Scores) != 0 {
				t.Errorf("%s, %s: %+v", name, mode, r)
			}
		}
	}
}

// TestOptionsChange: a query whose options have just been checked has them checked again if they have failed, or if what they
// point to has changed.
func TestOptionsChange(t *testing.T) {
	testneeds.OneCaller(t)
	x := rankedCorpus(300).open(t, 0, backendOptions(t))
	scoring, st := bm25.Default(), x.Statistics("t3", "t5")
	q := Query{Terms: []string{"t3", "t5"}, K: 5, Scoring: &scoring, Statistics: &st, Fresh: true}
	ask := func() Hits {
		h, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := ask()
	for name, change := range map[string]func(){"scoring": func() { scoring.K1 = 2 }, "statistics": func() { st.Docs *= 2 }} {
		if change(); slices.Equal(ask().Scores, first.Scores) {
			t.Errorf("%s: the scores are the same", name)
		}
		first = ask()
	}
	q.Scoring, q.Statistics, q.K = nil, nil, plan.MaxK+1
	for range 2 {
		if _, err := x.Search(t.Context(), q); CodeOf(err) != InvalidOption {
			t.Errorf("k is too great: %v", err)
		}
	}
}
