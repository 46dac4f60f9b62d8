package matchtest

import (
	"errors"
	"fmt"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// mixed has conjunctions and expressions in one batch: in turn, in blocks, with
// queries that match nothing between them, and one of either kind alone among
// many of the other.
func (su suite) mixed(t *testing.T) {
	s, _ := su.Workload(t, su.Pick(30, 12), 0)
	r := plantest.RNG(t)
	lists := len(s.Lists)
	conjunction := func(b *plan.MatchBatch) {
		q := make([]plan.Handle, 1+r.IntN(4))
		for i := range q {
			q[i] = r.Uint32N(uint32(lists))
		}
		b.Add(&s.Source, q...)
	}
	expression := func(b *plan.MatchBatch) { b.AddOps(randomOps(r, lists, 4, 1+r.IntN(9))) }
	nothing := func(b *plan.MatchBatch) { b.Add(&s.Source) }
	st := su.Load(t, s)
	n := su.Pick(60, 6)
	for name, kind := range map[string]func(i int) func(*plan.MatchBatch){
		"in turn": func(i int) func(*plan.MatchBatch) {
			return []func(*plan.MatchBatch){conjunction, expression}[i%2]
		},
		"in blocks": func(i int) func(*plan.MatchBatch) {
			return []func(*plan.MatchBatch){expression, conjunction, expression}[3*i/n]
		},
		"with nothing": func(i int) func(*plan.MatchBatch) {
			return []func(*plan.MatchBatch){nothing, expression, nothing, nothing, conjunction}[i%5]
		},
		"one expression": func(i int) func(*plan.MatchBatch) {
			if i == n/2 {
				return expression
			}
			return conjunction
		},
		"one conjunction": func(i int) func(*plan.MatchBatch) {
			if i == n-1 {
				return conjunction
			}
			return expression
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b plan.MatchBatch
			b.Reset()
			for i := range n {
				kind(i)(&b)
			}
			if b.Kind() != plan.Mixed {
				t.Fatalf("the batch is of kind %d", b.Kind())
			}
			su.verify(t, st, s, &b)
		})
	}
}

// stranger is a filter of no backend.
type stranger struct{ plan.Filter }

// filters checks that nil filters change nothing, and that the backend refuses a
// wrong number of filters, and filters of other backends.
func (su suite) filters(t *testing.T) {
	s, b := su.Workload(t, 6, 5)
	st := su.Load(t, s)
	b.Filters = make([]plan.Filter, b.Queries())
	su.verify(t, st, s, b)

	var out plan.Results
	for i := range b.Filters {
		b.Filters[i] = stranger{}
		if err := st.Match(t.Context(), b, &out); !errors.Is(err, plan.ErrUnsupported) {
			t.Errorf("a filter of no backend for query %d: %v", i, err)
		}
		b.Filters[i] = nil
	}
	b.Filters = b.Filters[1:]
	if err := st.Match(t.Context(), b, &out); err == nil {
		t.Error("one filter too few went through")
	}

	var e plan.MatchBatch
	e.AddOps(ops(list(0), list(1), code(plan.OpOr)))
	e.Filters = []plan.Filter{stranger{}}
	if err := st.Match(t.Context(), &e, &out); !errors.Is(err, plan.ErrUnsupported) {
		t.Errorf("a filter of no backend for an expression: %v", err)
	}
	e.Filters[0] = nil
	if err := match(t, st, s, &e, reference.Match(s.Plain.Docs, &e), &out); err != nil {
		t.Error(fmt.Errorf("after a filter: %w", err))
	}
}
