package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// each runs f on an index from a file and on one in memory.
func each(t *testing.T, opt Options, f func(t *testing.T, x *served)) {
	t.Run("file", func(t *testing.T) { f(t, openFile(t, opt)) })
	t.Run("memory", func(t *testing.T) { f(t, openMemory(t, opt)) })
}

// TestSearch asks the queries that differ in kind.
func TestSearch(t *testing.T) {
	testneeds.OneCaller(t)
	c := testCorpus()
	rare := c.terms[dense+9] // one document in 2^10 at most
	for _, i := range []int{dense, dense + 5, len(c.terms) - 1} {
		if len(c.scan(Query{Terms: c.terms[i : i+1]})) == 0 {
			t.Fatalf("the corpus has no document with %s", c.terms[i])
		}
	}
	if n := len(c.scan(Query{Terms: c.terms[:100]})); n == 0 || n == c.docs {
		t.Fatalf("a hundred terms match %d of %d documents: nothing is tested", n, c.docs)
	}
	each(t, backendOptions(t), func(t *testing.T, x *served) {
		for name, q := range map[string]Query{
			"no query":            {},
			"no terms":            {Terms: []string{}},
			"blank text":          {Text: " \t "},
			"one term":            {Terms: []string{"t000"}},
			"one text":            {Text: "t000"},
			"two terms":           {Text: "t001 " + rare},
			"same term twice":     {Terms: []string{"t120", "t120"}},
			"same terms, mixed":   {Text: "t120 t003 t120 t003 t003"},
			"unknown":             {Text: "nowhere"},
			"unknown of two":      {Terms: []string{"t000", "nowhere"}},
			"unknown first":       {Terms: []string{"nowhere", "t000"}},
			"empty term":          {Terms: []string{""}},
			"a hundred terms":     {Terms: c.terms[:100]},
			"a hundred in a text": {Text: strings.Join(c.terms[5:105], " ")},
			"every term":          {Terms: c.terms},
			"text before terms":   {Text: "t000", Terms: []string{"t001"}},
		} {
			t.Run(name, func(t *testing.T) { verify(t, x, q) })
		}
		for i, term := range c.terms {
			if i%7 == 0 {
				verify(t, x, Query{Terms: []string{term}})
			}
		}
	})
}

// TestText has query texts analysed as the documents were.
func TestText(t *testing.T) {
	testneeds.OneCaller(t)
	file, memory := openFile(t, backendOptions(t)), openMemory(t, backendOptions(t))
	verify(t, file, Query{Text: "T120 T000"})
	if got, want := file.Terms("Alpha, ALPHA; t000"), []string{"alpha", "alpha", "t000"}; !slices.Equal(got, want) {
		t.Errorf("terms of an index with analysis: %q, want %q", got, want)
	}
	if got, want := memory.Terms(" Alpha,  t000\n"), []string{"Alpha,", "t000"}; !slices.Equal(got, want) {
		t.Errorf("terms of an index without analysis: %q, want %q", got, want)
	}
	if got := file.Terms(""); len(got) != 0 {
		t.Errorf("terms of nothing: %q", got)
	}
}

// TestAlgorithms gives the same answers with each algorithm, as an option of one call
// and as an option of the index.
func TestAlgorithms(t *testing.T) {
	testneeds.OneCaller(t)
	c := testCorpus()
	qs := c.queries(40)
	x := openMemory(t, backendOptions(t))
	for _, a := range append(x.Backend().Algorithms, plan.Auto) {
		for _, countOnly := range []bool{false, true} {
			opt := searchOptions{Algorithm: a, CountOnly: countOnly}
			var out plan.Results
			if err := x.searchMany(t.Context(), qs, opt, &out); err != nil {
				t.Fatalf("%v: %v", a, err)
			}
			for i, q := range qs {
				docs := []uint32(nil)
				if !countOnly {
					docs = out.Query(i)
				}
				if err := c.check(q, out.Count(i), docs, countOnly); err != nil {
					t.Fatalf("%v, count only %t: %v", a, countOnly, err)
				}
			}
		}
	}
	opt := backendOptions(t)
	opt.Algorithm = plan.LR
	y := openMemory(t, opt)
	before := y.Memory()
	verify(t, y, Query{Text: "t120 t115"})
	verify(t, y, Query{Text: "t000 t001"})
	if y.Memory() <= before {
		t.Error("the option of the index is not used: no table of LR was made")
	}
}

// TestCountOnly gives the count and no documents.
func TestCountOnly(t *testing.T) {
	testneeds.OneCaller(t)
	each(t, backendOptions(t), func(t *testing.T, x *served) {
		for _, q := range testCorpus().queries(20) {
			a, err := x.search(t.Context(), q, searchOptions{CountOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := testCorpus().check(q, a.Count, a.Docs, true); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestAnswerIsTheCallers keeps an answer while other queries run.
func TestAnswerIsTheCallers(t *testing.T) {
	testneeds.OneCaller(t)
	x := openMemory(t, backendOptions(t))
	q := Query{Text: "t000 t112"}
	a, err := x.search(t.Context(), q, searchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		verify(t, x, Query{Terms: testCorpus().terms[i : i+2]})
	}
	if err := testCorpus().check(q, a.Count, a.Docs, false); err != nil {
		t.Errorf("after other queries: %v", err)
	}
	if a.Stats.Queries != 1 || a.Stats.Matches != a.Count || !plantest.Took(a.Stats.Wall) {
		t.Errorf("stats of one query with %d matches: %+v", a.Count, a.Stats)
	}
}

// TestConcurrentSearch has many callers on one index.
func TestConcurrentSearch(t *testing.T) {
	c := testCorpus()
	each(t, backendOptions(t), func(t *testing.T, x *served) {
		var wg sync.WaitGroup
		for caller := range pick(8, 4) {
			wg.Go(func() {
				qs := c.queries(10 + caller)
				var out plan.Results
				for _, q := range qs {
					verify(t, x, q)
				}
				if err := x.searchMany(t.Context(), qs, searchOptions{}, &out); err != nil {
					t.Error(err)
					return
				}
				for i, q := range qs {
					if err := c.check(q, out.Count(i), out.Query(i), false); err != nil {
						t.Errorf("caller %d: %v", caller, err)
					}
				}
				if got := x.Terms(fmt.Sprint("t", caller)); len(got) != 1 {
					t.Errorf("terms: %q", got)
				}
			})
		}
		wg.Wait()
	})
}

// TestDescription checks that an index describes itself and the processors that it runs on.
func TestDescription(t *testing.T) {
	testneeds.OneCaller(t)
	file, memory := openFile(t, backendOptions(t)), openMemory(t, backendOptions(t))
	for _, x := range []*served{file, memory} {
		if got, want := x.Backend().Kind, backendOptions(t).Backend; got != want {
			t.Errorf("backend %q, want %q", got, want)
		}
		if err := x.Source().DescribeAll(); err != nil {
			t.Fatal(err)
		}
		if words, _ := x.Source().Used(); x.Memory() < 4*words {
			t.Errorf("%d bytes for %d words", x.Memory(), words)
		}
	}
	peak, err := file.e.CopyPeak(t.Context(), 0)
	if err != nil || (peak > 0) == onHost() {
		t.Errorf("peak %g B/s on %s: %v", peak, file.Backend().Kind, err)
	}
	if memory.File() != nil {
		t.Error("an index in memory has a file")
	}
	if got := file.File().Docs(); got != uint32(testCorpus().docs) {
		t.Errorf("the file has %d documents", got)
	}
}

// TestAny asks for the documents of any term, many queries at once.
func TestAny(t *testing.T) {
	testneeds.OneCaller(t)
	c := testCorpus()
	qs := append(c.queries(40), Query{Terms: c.terms[dense:]}, Query{Text: "t120"}, Query{Terms: []string{"nowhere", "t121"}})
	each(t, backendOptions(t), func(t *testing.T, x *served) {
		var out plan.Results
		if err := x.searchMany(t.Context(), qs, searchOptions{Any: true}, &out); err != nil {
			t.Fatal(err)
		}
		for i, q := range qs {
			matches := make([]bool, c.docs)
			terms := q.Terms
			if q.Text != "" {
				terms = x.Terms(q.Text)
			}
			for _, term := range terms {
				for _, d := range c.scan(Query{Terms: []string{term}}) {
					matches[d] = true
				}
			}
			var want []uint32
			for d, yes := range matches {
				if yes {
					want = append(want, uint32(d))
				}
			}
			if !slices.Equal(out.Query(i), want) {
				t.Errorf("%+v matches %d documents, want %d", q, out.Count(i), len(want))
			}
		}
	})
}
