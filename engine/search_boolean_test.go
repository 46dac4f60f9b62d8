package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/codec"
	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// parse reads a query that is right.
func parse(t testing.TB, text string) *querylang.Expr {
	t.Helper()
	e, err := querylang.Parse(text, querylang.And)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// scanExpr looks at every document: the oracle. Terms are lower-cased; a term of
// several words is an AND of them.
func (c *corpus) scanExpr(e querylang.Expr) (docs []uint32) {
	for d := range c.docs {
		if c.matches(e, d) {
			docs = append(docs, uint32(d))
		}
	}
	return docs
}

func (c *corpus) matches(e querylang.Expr, d int) bool {
	if e.Op == querylang.All {
		return true
	}
	if e.Op == querylang.Term {
		words := strings.Fields(strings.ToLower(e.Term))
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return c.has[w] == nil || !c.has[w][d] })
	}
	if len(e.Args) == 0 {
		return false
	}
	r := c.matches(e.Args[0], d)
	for _, a := range e.Args[1:] {
		switch e.Op {
		case querylang.And:
			r = r && c.matches(a, d)
		case querylang.Or:
			r = r || c.matches(a, d)
		case querylang.Not:
			r = r && !c.matches(a, d)
		}
	}
	return r
}

// expression draws a query over the terms of the corpus, unknown ones included.
func (c *corpus) expression(r *rand.Rand, depth int) querylang.Expr {
	if depth == 0 || r.IntN(4) == 0 {
		switch r.IntN(20) {
		case 0:
			return querylang.Expr{Term: "unknown"}
		case 1:
			return querylang.Expr{Op: querylang.All}
		}
		return querylang.Expr{Term: c.terms[r.IntN(len(c.terms))]}
	}
	e := querylang.Expr{Op: querylang.And + querylang.Op(r.IntN(3))}
	for range 2 + r.IntN(3) {
		e.Args = append(e.Args, c.expression(r, depth-1))
	}
	return e
}

func (c *corpus) expressions(n int) []Query {
	r := rand.New(rand.NewPCG(9, uint64(n)))
	qs := make([]Query, n)
	for i := range qs {
		e := c.expression(r, r.IntN(5))
		qs[i].Expr = &e
	}
	return qs
}

// checkExpr compares an answer to q, an expression or a mere list of terms, with
// the scan.
func (c *corpus) checkExpr(q Query, count uint64, docs []uint32, countOnly bool) error {
	if q.Expr == nil {
		return c.check(q, count, docs, countOnly)
	}
	want := c.scanExpr(*q.Expr)
	if count != uint64(len(want)) || !countOnly && !slices.Equal(docs, want) || countOnly && len(docs) > 0 {
		return fmt.Errorf("%s: %d documents, %d given, want %d", q.Expr, count, len(docs), len(want))
	}
	return nil
}

func TestBoolean(t *testing.T) {
	testneeds.OneCaller(t)
	c := testCorpus()
	rare := c.terms[dense+9]
	wide := strings.Join(c.terms, " OR ")
	queries := []string{
		"", "t000", "unknown", "t000 t001", "t000 AND unknown", "t000 OR unknown", "t000 NOT unknown", "unknown NOT t000",
		rare + " OR t001", "t120 OR t121 OR t122", "t120 NOT t121", "t000 NOT t120 NOT t121", "t000 NOT t000", "t120 OR t120",
		"*", "NOT t000", "NOT t120 NOT t121", "t120 OR NOT t000", "t000 AND (* NOT t120)", "NOT (NOT t120)", "* NOT (t120 OR NOT t121)", "unknown OR NOT unknown", "* OR t000",
		"t000 AND (t120 OR t121) NOT t001", "(t120 NOT t121) OR (t121 NOT t120)", "T120 OR T121", `t120\ t000 OR t121`,
		"t000 NOT (t120 OR t121 OR t122)", wide, "t000 NOT (" + wide + ")", "(" + wide + ") AND t130 NOT t000",
		strings.Repeat("(", 500) + "t120" + strings.Repeat(" OR t121)", 500), "t120 NOT (t121 NOT (t122 NOT (t123 NOT t000)))",
	}
	each(t, backendOptions(t), func(t *testing.T, x *served) {
		for _, text := range queries {
			if x.File() == nil && strings.Contains(text, "T12") {
				continue // no analysis there
			}
			q := Query{Expr: parse(t, text)}
			for _, countOnly := range []bool{false, true} {
				a, err := x.search(t.Context(), q, searchOptions{CountOnly: countOnly})
				if err == nil {
					err = c.checkExpr(q, a.Count, a.Docs, countOnly)
				}
				if err != nil {
					t.Errorf("%.60q: %v", text, err)
				}
				if a.Stats.Queries != 1 || a.Stats.Matches != a.Count || !plantest.Took(a.Stats.Wall) {
					t.Errorf("%.60q: stats %+v of one query with %d matches", text, a.Stats, a.Count)
				}
			}
		}
	})
}

// TestBooleanMany has expressions, conjunctions and lists of terms in one call, in
// batches of every size, from several callers.
func TestBooleanMany(t *testing.T) {
	c := testCorpus()
	qs := append(c.expressions(pick(200, 40)), c.queries(pick(100, 20))...)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(qs), func(i, j int) { qs[i], qs[j] = qs[j], qs[i] })
	for _, batch := range []uint64{1, 3000, 0} {
		opt := backendOptions(t)
		opt.BatchCandidates = batch
		x := openMemory(t, opt)
		var wg sync.WaitGroup
		for caller := range 3 {
			wg.Go(func() {
				countOnly := caller == 1
				var out plan.Results
				if err := x.searchMany(t.Context(), qs, searchOptions{CountOnly: countOnly}, &out); err != nil {
					t.Error(err)
					return
				}
				for i, q := range qs {
					docs := []uint32(nil)
					if !countOnly {
						docs = out.Query(i)
					}
					if err := c.checkExpr(q, out.Count(i), docs, countOnly); err != nil {
						t.Errorf("batches of %d, query %d: %v", batch, i, err)
					}
				}
				if out.Stats.Queries != uint64(len(qs)) || out.Stats.Matches != out.Offsets[len(qs)] {
					t.Errorf("stats %+v of %d queries", out.Stats, len(qs))
				}
			})
		}
		wg.Wait()
	}
}

// TestExpression checks the meaning of split terms, stop words and unknown terms.
func TestExpression(t *testing.T) {
	analyzer, err := analyze.New(analyze.Settings{StopWords: []string{"the", "of"}})
	if err != nil {
		t.Fatal(err)
	}
	src := &plan.Source{Docs: 10}
	terms := []string{"a", "b", "c", "d", "none"}
	for i := range terms {
		docs := []uint32{0, 1, 2, 3, 4}[:5-i]
		if i == 4 {
			docs = nil
		}
		if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
	}
	dict, err := hdl.NewDictionary(terms)
	if err != nil {
		t.Fatal(err)
	}
	x, err := query.NewIndex(src, dict, analyzer, plan.Auto)
	if err != nil {
		t.Fatal(err)
	}
	var write func(e plan.Expr) string
	write = func(e plan.Expr) string {
		if e.Op == plan.OpList {
			return terms[e.List]
		}
		var args []string
		for _, a := range e.Args {
			args = append(args, write(a))
		}
		return map[plan.OpCode]string{plan.OpAnd: "&", plan.OpOr: "|", plan.OpAndNot: "-"}[e.Op] + "(" + strings.Join(args, " ") + ")"
	}
	for text, want := range map[string]string{
		"a":                     "a",
		"A":                     "a",
		"a-b":                   "&(b a)",
		`a\ b OR c`:             "|(c &(b a))",
		"+a b -c":               "-(&(b a) c)",
		"n* OR b":               "b",
		"a AND *":               "a",
		"a NOT b-c":             "-(a &(c b))",
		"the":                   "|()",
		"the a":                 "a",
		"the OR a":              "a",
		"a NOT the":             "a",
		"the NOT a":             "|()",
		"(the NOT a) OR b":      "b",
		"the-a":                 "a",
		"the of":                "|()",
		"?!":                    "|()",
		"?! OR a":               "a",
		"unknown":               "|()",
		"unknown OR a":          "a",
		"unknown a":             "|()",
		"a NOT unknown":         "a",
		"none OR a":             "a",
		"none a":                "|()",
		"a NOT a":               "|()",
		"a AND (b OR c) NOT d":  "-(&(a |(c b)) d)",
		"a OR (the AND of) c":   "|(c a)",
		"(the OR of) NOT a":     "|()",
		"(a OR the) NOT (d of)": "-(a d)",
	} {
		e, _, err := x.Expression(&query.Query{Expr: parse(t, text)})
		if got := write(e); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
		if e, _, err = x.Expression(&query.Query{Text: text, Options: query.Options{Match: querylang.AllTerms}}); write(e) != want || err != nil {
			t.Errorf("%s as a text: %s, %v, want %s", text, write(e), err, want)
		}
	}
}

// TestBooleanFailover has a device fail in the middle of expressions.
func TestBooleanFailover(t *testing.T) {
	c := testCorpus()
	qs := append(c.expressions(60), c.queries(30)...)
	for name, fault := range map[string]func(context.Context, int64) error{
		"at once":       after(1, plan.ErrDeviceLost, "first"),
		"on the way":    after(4, plan.ErrDeviceLost, "first"),
		"out of memory": after(3, plan.ErrOutOfMemory, "first"),
	} {
		t.Run(name, func(t *testing.T) {
			first, second := &faulty{name: "first", batch: fault}, &faulty{name: "second"}
			x := openMemory(t, reserved(second, first))
			var out plan.Results
			if err := x.searchMany(t.Context(), qs, searchOptions{}, &out); err != nil {
				t.Fatal(err)
			}
			for i, q := range qs {
				if err := c.checkExpr(q, out.Count(i), out.Query(i), false); err != nil {
					t.Error(err)
				}
			}
			if second.answered.Load() == 0 {
				t.Errorf("%d queries answered on %s", second.answered.Load(), x.Backend().Device)
			}
		})
	}
	// Without another device the error comes through; a closed index says so.
	x := openMemory(t, faultyOptions(&faulty{name: "only", batch: after(1, plan.ErrDeviceLost, "only")}))
	q := Query{Expr: parse(t, "t000 OR t120")}
	if _, err := x.search(t.Context(), q, searchOptions{}); !errors.Is(err, plan.ErrDeviceLost) {
		t.Errorf("an expression on a lost device: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	y := openMemory(t, backendOptions(t))
	if _, err := y.search(ctx, q, searchOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an expression under a cancelled context: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.search(t.Context(), q, searchOptions{}); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("an expression on a closed index: %v", err)
	}
}
