package hostfallback

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/lookup"
)

// TestMatchDoesNotAllocate: a repeated batch allocates nothing, whatever the algorithm.
func TestMatchDoesNotAllocate(t *testing.T) {
	if testneeds.Race {
		t.Skip("under the race detector a sync.Pool drops values at random")
	}
	r := rand.New(rand.NewPCG(1, 4))
	const docs = 1 << 18
	var lists [][]uint32
	for i := range 30 {
		lists = append(lists, hosttest.Uniform(r, 100<<(i%11), docs))
	}
	src := hosttest.Source(t, docs, codec.IDs(), lists...)
	st := open(t, src, Options{Threads: 1})
	for _, a := range append(slices.Clone(lookup.Algorithms), plan.Auto) {
		for _, countOnly := range []bool{false, true} {
			b := &plan.MatchBatch{Algorithm: a, CountOnly: countOnly}
			for h := range uint32(30) {
				b.Add(src, h)
				b.Add(src, h, (h+7)%30, (h+12)%30)
			}
			var out plan.Results
			err := st.Match(t.Context(), b, &out)
			allocs := testing.AllocsPerRun(5, func() {
				if err == nil {
					err = st.Match(t.Context(), b, &out)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if allocs > 0 {
				t.Errorf("%v, count only %t: %v allocations a batch", a, countOnly, allocs)
			}
		}
	}
	// Goroutines take a few allocations for each batch, none for each query.
	st = open(t, src, Options{Threads: 4})
	b := &plan.MatchBatch{}
	for i := range uint32(2000) {
		b.Add(src, i%30, (i*7+1)%30)
	}
	var out plan.Results
	if allocs := testing.AllocsPerRun(5, func() {
		if err := st.Match(t.Context(), b, &out); err != nil {
			t.Error(err)
		}
	}); allocs > 40 {
		t.Errorf("%v allocations for %d queries on 4 threads", allocs, b.Queries())
	}
}

// TestTableAllocations: a repeated batch allocates nothing except for its goroutines.
func TestTableAllocations(t *testing.T) {
	if testneeds.Race {
		t.Skip("under the race detector a sync.Pool drops values at random")
	}
	const rows = 100_000
	r := rand.New(rand.NewPCG(rows, 32))
	tab := plantest.NewTable(rows, 32)
	for _, k := range plantest.VectorKinds() {
		tab.AddVector(k.Gen(r, rows))
	}
	codes := make([]uint64, rows)
	for row := range codes {
		codes[row] = r.Uint64N(1000)
	}
	tab.AddCodes(t, codes)
	for _, threads := range []int{1, 2} {
		st, err := New(Options{Threads: threads}).LoadTable(t.Context(), &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		sel := new(plan.SelectBatch)
		for v := range 50 {
			sel.Any(uint32(v)%15, 3, 12)
			sel.Check(0, plan.CodeRange{Hi: 500})
			sel.Any(13)
			sel.Do(plan.StepAnd)
			sel.End()
		}
		for _, sel.Strategy = range []plan.Strategy{plan.StrategyAuto, plan.Fused} {
			for _, sel.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts, plan.OutputResident} {
				var out plan.Rows
				if err := st.Select(t.Context(), sel, &out); err != nil { // the second use builds plain rows
					t.Fatal(err)
				}
				allocs := testing.AllocsPerRun(5, func() {
					if err := st.Select(t.Context(), sel, &out); err != nil {
						t.Fatal(err)
					}
				})
				if most := float64(8 * (threads - 1)); allocs > most {
					t.Errorf("%d threads, %v, output %d: %v allocations", threads, sel.Strategy, sel.Output, allocs)
				}
			}
		}
	}
}

// TestRankAllocations: a repeated batch allocates for its goroutines and closures, not
// for its queries.
func TestRankAllocations(t *testing.T) {
	if testneeds.Race {
		t.Skip("under the race detector a sync.Pool drops values at random")
	}
	src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 5)), 100_000, 0, codec.IDs(), 1000, 2000, 10_000, 20_000, 300, 5)
	for _, threads := range []int{1, 3} {
		for _, limit := range []uint64{0, 1} {
			st := open(t, src, Options{Threads: threads, MemoryLimit: limit})
			for _, mode := range []plan.Mode{plan.Or, plan.And} {
				r := &plan.RankBatch{Mode: mode, K: 10, Norm: hosttest.Norm(src)}
				for i := range uint32(300) {
					r.Add(src, plan.Term{List: i % 6, Weight: 1000}, plan.Term{List: i / 6 % 6, Weight: 2000})
				}
				var out plan.TopK
				err := st.Rank(t.Context(), r, &out)
				allocs := testing.AllocsPerRun(5, func() {
					if err == nil {
						err = st.Rank(context.Background(), r, &out)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if allocs > 40 {
					t.Errorf("%v, %d threads, limit %d: %v allocations for %d queries", mode, threads, limit, allocs, r.Queries())
				}
			}
		}
	}
}
