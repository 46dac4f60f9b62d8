package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// matcher returns a matcher of src under a memory limit in bytes, 0 for the default.
func matcher(src *plan.Source, threads int, limit uint64) *Matcher {
	return New(lookup.New(src, work.NewBudget(limit, 0)), threads)
}

// TestChains answers expressions of AND and AND NOT whose first list is short, whole and in
// parts.
func TestChains(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const docs = 3 << 20
	var lists [][]uint32
	for _, n := range []int{20_000, 300, 19_000, 150_000, 1_000_000, 5} {
		lists = append(lists, hosttest.Uniform(r, n, docs))
	}
	src := hosttest.Source(t, docs, codec.IDs(), lists...)
	op := func(code plan.OpCode) plan.Op { return plan.Op{Code: code} }
	list := func(h plan.Handle) plan.Op { return plan.Op{List: h} }
	var f plan.MatchBatch
	f.Reset()
	for _, first := range []plan.Handle{0, 1, 2, 5} {
		for range 20 {
			ops := []plan.Op{list(first)}
			for range r.IntN(4) {
				ops = append(ops, list(uint32(r.IntN(len(lists)))), op([]plan.OpCode{plan.OpAnd, plan.OpAndNot}[r.IntN(2)]))
			}
			f.AddOps(ops)
		}
	}
	has := func(h plan.Handle, x uint32) bool { _, ok := slices.BinarySearch(lists[h], x); return ok }
	for _, opt := range []struct {
		threads int
		limit   uint64
	}{{1, 0}, {4, 0}, {2, 1}} {
		m := matcher(src, opt.threads, opt.limit)
		var out plan.Results
		if err := m.Match(t.Context(), &f, &out); err != nil {
			t.Fatal(err)
		}
		for i := range f.Queries() {
			ops := f.Expression(i)
			if !isChain(m.aux, ops) {
				t.Fatalf("expression %d is no chain", i)
			}
			var want []uint32
			for _, x := range lists[ops[0].List] {
				keep := true
				for k := 1; k < len(ops); k += 2 {
					keep = keep && has(ops[k].List, x) == (ops[k+1].Code == plan.OpAnd)
				}
				if keep {
					want = append(want, x)
				}
			}
			if !slices.Equal(out.Query(i), want) {
				t.Errorf("%+v, expression %d: %d documents, want %d", opt, i, out.Count(i), len(want))
			}
		}
	}
	aux := lookup.New(src, work.NewBudget(0, 0))
	for _, ops := range [][]plan.Op{
		{}, {list(4)}, {list(4), list(1), op(plan.OpAnd)}, {list(1), list(2), op(plan.OpOr)}, {list(1), list(2), op(plan.OpNotAnd)},
		{list(1), list(2), list(0), op(plan.OpOr), op(plan.OpAnd)},
	} {
		if isChain(aux, ops) {
			t.Errorf("%v is a chain", ops)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct{ docs, found, want []uint32 }{
		{nil, nil, nil},
		{[]uint32{1, 2, 3}, nil, []uint32{1, 2, 3}},
		{[]uint32{1, 2, 3}, []uint32{1, 2, 3}, nil},
		{[]uint32{1, 2, 3, 7}, []uint32{2, 7}, []uint32{1, 3}},
		{[]uint32{0, 4}, []uint32{0}, []uint32{4}},
	} {
		docs := slices.Clone(c.docs)
		if got := docs[:remove(docs, c.found)]; !slices.Equal(got, c.want) {
			t.Errorf("%v without %v: %v", c.docs, c.found, got)
		}
	}
}

// BenchmarkExpressions measures a AND (b OR c) NOT d on one core, over lists of one in ratio
// documents.
func BenchmarkExpressions(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	const docs = 1 << 20
	for _, ratio := range []int{10, 50, 300, 2000} {
		for _, id := range []codec.ID{codec.Raw, codec.ParaPFor} {
			var lists [][]uint32
			for range 40 {
				lists = append(lists, hosttest.Uniform(r, docs/ratio, docs))
			}
			src := hosttest.Source(b, docs, []codec.ID{id}, lists...)
			var f plan.MatchBatch
			list := func() plan.Expr { return plan.Expr{List: uint32(r.IntN(len(lists)))} }
			for range 100 {
				e := plan.Expr{Op: plan.OpAndNot, Args: []plan.Expr{{Op: plan.OpAnd, Args: []plan.Expr{list(), {Op: plan.OpOr, Args: []plan.Expr{list(), list()}}}}, list()}}
				if err := f.AddExpr(src, e); err != nil {
					b.Fatal(err)
				}
			}
			m := matcher(src, 1, 0)
			hosttest.PrepareAll(b, src, m.aux.Prepare)
			b.Run(fmt.Sprintf("%v/1:%d", id, ratio), func(b *testing.B) {
				var out plan.Results
				for b.Loop() {
					if err := m.Match(b.Context(), &f, &out); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N*f.Queries())/b.Elapsed().Seconds(), "expressions/s")
				b.ReportMetric(float64(b.N)*float64(f.Candidates(src))/b.Elapsed().Seconds()/1e6, "Mpostings/s")
			})
		}
	}
}
