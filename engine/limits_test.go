package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/limit"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/column"
)

// nestedExpr makes an expression of a depth, each level an OR of one operand.
func nestedExpr(depth int) *querylang.Expr {
	e := querylang.Expr{Term: "t000"}
	for range depth - 1 {
		e = querylang.Expr{Op: querylang.Or, Args: []querylang.Expr{e}}
	}
	return &e
}

// TestLimits has queries at the limits and above, alone and in a batch. No depth overflows the
// stack.
func TestLimits(t *testing.T) {
	testneeds.OneCaller(t)
	opt := backendOptions(t)
	opt.Limits = Limits{Text: 1000, Terms: 100, Nodes: 200, Depth: 50}
	x := openFile(t, opt)
	wide := func(nodes int) *querylang.Expr {
		return &querylang.Expr{Op: querylang.Or, Args: make([]querylang.Expr, nodes-1)}
	}
	for name, test := range map[string]struct {
		q     Query
		limit string
	}{
		"text":         {Query{Text: strings.Repeat("a", 1000)}, ""},
		"long text":    {Query{Text: strings.Repeat("a", 1001)}, "Text"},
		"long literal": {Query{Text: strings.Repeat("a", 1001), Literal: true}, "Text"},
		"terms":        {Query{Text: strings.Repeat("t000 ", 100)}, ""},
		"many terms":   {Query{Text: strings.Repeat("t000 ", 101)}, "Terms"},
		"many words":   {Query{Text: strings.Repeat("a ", 101), Literal: true}, "Terms"},
		"many, signs":  {Query{Text: strings.Repeat("+a.-b ", 60)}, "Terms"},
		"term list":    {Query{Terms: make([]string, 101)}, "Terms"},
		"prefix":       {Query{Text: "t* -t000"}, "Terms"},
		"nodes":        {Query{Expr: wide(200)}, ""},
		"many nodes":   {Query{Expr: wide(201)}, "Nodes"},
		"depth":        {Query{Expr: nestedExpr(50)}, ""},
		"deep":         {Query{Expr: nestedExpr(51)}, "Depth"},
		"deep text":    {Query{Text: strings.Repeat("(a NOT ", 60) + "b" + strings.Repeat(")", 60)}, "Depth"},
		"very deep":    {Query{Expr: nestedExpr(5_000_000)}, "Depth"},
	} {
		for _, k := range []int{0, 5} {
			test.q.K = k
			_, alone := x.Search(t.Context(), test.q)
			_, batch := gather(t.Context(), x, []Query{{Text: "t000", K: k}, test.q})
			for _, err := range []error{alone, batch} {
				e, ok := errors.AsType[*limit.Error](err)
				if ok != (test.limit != "") || !ok && err != nil || ok && (e.Name != test.limit || CodeOf(err) != Unsupported) {
					t.Errorf("%s, k %d: %v, want limit %q", name, k, err, test.limit)
				}
			}
		}
	}
	opt.Limits = Limits{Nodes: -1}
	if _, err := New(t.Context(), opt); CodeOf(err) != InvalidOption || !strings.Contains(err.Error(), "Limits.Nodes") {
		t.Errorf("a negative limit: %v", err)
	}
}

// TestPredicateLimits has predicates above the limits.
func TestPredicateLimits(t *testing.T) {
	opt := backendOptions(t)
	opt.Limits = Limits{Text: 1000, Nodes: 20, Depth: 10}
	e, err := New(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	table, err := e.NewTable(t.Context(), &plan.Table{}, []column.Column{}, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		"TRUE" + strings.Repeat(" ", 1000):      "Text",
		"TRUE" + strings.Repeat(" OR TRUE", 20): "Nodes",
		strings.Repeat("NOT ", 10) + "TRUE":     "Depth",
		strings.Repeat("NOT ", 9) + "TRUE":      "",
		"TRUE" + strings.Repeat(" OR TRUE", 18): "",
	} {
		_, selected := table.Select(t.Context(), Selection{Where: where})
		_, prepared := table.Prepare(t.Context(), Selection{Where: where})
		for _, err := range []error{selected, prepared} {
			e, ok := errors.AsType[*limit.Error](err)
			if ok != (want != "") || !ok && err != nil || ok && (e.Name != want || CodeOf(err) != Unsupported) {
				t.Errorf("%.30s: %v, want limit %q", where, err, want)
			}
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Select(ended, Selection{Where: strings.Repeat(" ", 10000)}); CodeOf(err) != Canceled {
		t.Errorf("a cancelled context: %v", err)
	}
}

// looks is a context that ends when it has been asked a number of times. Its Done channel says
// nothing.
type looks struct {
	context.Context
	left, after atomic.Int64
}

func (c *looks) Done() <-chan struct{} { return nil }

func (c *looks) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.after.Add(1)
	return context.Canceled
}

// TestAnalysisEnds cancels the analysis of long texts on the way.
func TestAnalysisEnds(t *testing.T) {
	x := openFile(t, backendOptions(t))
	words := strings.Repeat("t000 unknown ", 4000)
	for name, text := range map[string]string{"words": words, "weights": strings.ReplaceAll(words, "n ", "n^2 "), "operators": "+a " + words[:20000]} {
		for _, k := range []int{0, 5} {
			ctx := &looks{Context: context.Background()}
			ctx.left.Store(3)
			_, err := x.Search(ctx, Query{Text: text, K: k})
			if CodeOf(err) != Canceled || ctx.after.Load() != 1 {
				t.Errorf("%s: %v, and %d more looks at the context", name, err, ctx.after.Load()-1)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := x.Search(ended, Query{Text: text + `"`, K: k}); CodeOf(err) != Canceled {
				t.Errorf("%s is read under a cancelled context: %v", name, err)
			}
		}
	}
}

// slowDictionary finds no term before a time.
type slowDictionary struct {
	Dictionary
	until time.Duration
}

func (d slowDictionary) Lookup(term string) (plan.Handle, bool) {
	time.Sleep(d.until)
	return d.Dictionary.Lookup(term)
}

// TestDeadlineOfAnalysis has a query whose analysis takes longer than its timeout.
func TestDeadlineOfAnalysis(t *testing.T) {
	src, dict := rankedCorpus(50).source(t, 0)
	x, err := openSource(t.Context(), src, slowDictionary{dict, 5 * time.Millisecond}, backendOptions(t))
	closed(t, x, err)
	for _, k := range []int{0, 5} {
		for _, text := range []string{"t0", "+t0 t1"} {
			if _, err := x.Search(t.Context(), Query{Text: text, K: k, Timeout: time.Millisecond}); CodeOf(err) != Deadline {
				t.Errorf("%s, k %d: %v", text, k, err)
			}
			if hits, err := x.Search(t.Context(), Query{Text: text, K: k, Timeout: time.Hour}); err != nil || hits.Count == 0 {
				t.Errorf("%s, k %d: %+v, %v", text, k, hits, err)
			}
		}
	}
}

// TestDeadlineOfSnapshot has queries whose analysis by methods of a Snapshot takes longer than
// their timeout.
func TestDeadlineOfSnapshot(t *testing.T) {
	testneeds.Clock(t)
	src, dict := rankedCorpus(50).source(t, 0)
	x, err := openSource(t.Context(), src, slowDictionary{dict, 5 * time.Millisecond}, backendOptions(t))
	closed(t, x, err)
	for _, text := range []string{"+t0 t1", strings.Repeat("t0 ", 10_000)} {
		if _, _, err := x.Expression(Query{Text: text, Timeout: time.Microsecond}); CodeOf(err) != Deadline {
			t.Errorf("expression of %.20s: %v", text, err)
		}
		if _, _, err := x.WeightedTerms(Query{Text: text, Timeout: time.Nanosecond}); CodeOf(err) != Deadline {
			t.Errorf("terms of %.20s: %v", text, err)
		}
	}
	if _, _, err := x.Expression(Query{Text: "+t0 t1", Timeout: time.Hour}); err != nil {
		t.Error(err)
	}
}

// TestDeadlineOfPredicate has predicates whose analysis takes longer than their timeout: it ends
// with the timeout, not with the analysis, or does not begin on a loaded machine.
func TestDeadlineOfPredicate(t *testing.T) {
	x := memoryTable(t, tableEngine(t, backendOptions(t)), 32)
	for _, where := range []string{"delay IN (1" + strings.Repeat(",2", 500_000) + ")", "delay = 1" + strings.Repeat(" OR delay = 1", 60_000)} {
		_, selected := x.Select(t.Context(), Selection{Where: where, Timeout: time.Millisecond})
		_, prepared := x.Prepare(t.Context(), Selection{Where: where, Timeout: time.Millisecond})
		for _, err := range []error{selected, prepared} {
			if CodeOf(err) != Deadline || !strings.Contains(err.Error(), "analysis of") {
				t.Errorf("%.20s: %v", where, err)
			}
		}
	}
}

// TestDeadlineOfPrepare compiles no predicate after the end of its context or its timeout.
func TestDeadlineOfPrepare(t *testing.T) {
	testneeds.Clock(t)
	x := memoryTable(t, tableEngine(t, backendOptions(t)), 32)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, where := range []string{"TRUE", "TRUE" + strings.Repeat(" OR TRUE", 2000)} {
		if _, err := x.Prepare(canceled, Selection{Where: where}); CodeOf(err) != Canceled {
			t.Errorf("canceled: %v", err)
		}
		if _, err := x.Prepare(t.Context(), Selection{Where: where, Timeout: time.Nanosecond}); CodeOf(err) != Deadline {
			t.Errorf("timeout: %v", err)
		}
		if _, err := x.Prepare(t.Context(), Selection{Where: where, Timeout: time.Hour}); err != nil {
			t.Error(err)
		}
	}
}

// blockedDictionary finds no term before it is open.
type blockedDictionary struct {
	Dictionary
	open chan struct{}
}

func (d blockedDictionary) Lookup(term string) (plan.Handle, bool) {
	<-d.open
	return d.Dictionary.Lookup(term)
}

// TestQueueOfAnalysis refuses long queries of each kind beyond the bound of the queue.
func TestQueueOfAnalysis(t *testing.T) {
	testneeds.OneCaller(t)
	src, dict := rankedCorpus(50).source(t, 0)
	opt := backendOptions(t)
	opt.Schedule.Queue = 2
	open := make(chan struct{})
	x, err := openSource(t.Context(), src, blockedDictionary{dict, open}, opt)
	closed(t, x, err)
	words := strings.Repeat("t0 ", 3000)
	many := make([]querylang.Expr, 5000)
	for i := range many {
		many[i].Term = "t0"
	}
	long := []Query{{Text: words}, {Text: "+t0 " + words}, {Text: words, Literal: true}, {Terms: strings.Fields(words + words)}, {Expr: &querylang.Expr{Op: querylang.Or, Args: many}}}
	const refused = 20
	calls := max(1, runtime.GOMAXPROCS(0)/2) + opt.Schedule.Queue + refused
	errs := make(chan error, calls)
	for i := range calls {
		go func() {
			_, err := x.Search(t.Context(), long[i%len(long)])
			errs <- err
		}()
	}
	for range refused {
		if err := <-errs; CodeOf(err) != Overloaded {
			t.Errorf("a long text above the bound: %v", err)
		}
	}
	if got := x.e.Stats().Refused; got != refused {
		t.Errorf("%d refused, want %d", got, refused)
	}
	close(open)
	for range calls - refused {
		if err := <-errs; err != nil && CodeOf(err) != Overloaded { // by the queue of jobs
			t.Error(err)
		}
	}
}
