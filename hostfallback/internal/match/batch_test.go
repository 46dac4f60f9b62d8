package match

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/hostfallback/internal/hosttest"
)

// TestSplitPart: a batch with Part has no parts of conjunctions, and one task for each
// large conjunction.
func TestSplitPart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	const docs = 1 << 20
	src := hosttest.Source(t, docs, []codec.ID{codec.Raw}, hosttest.Uniform(r, 100, docs), hosttest.Uniform(r, 400_000, docs))
	b := &plan.MatchBatch{Part: true}
	for range 6 {
		b.Add(src, 1)
	}
	b.Add(src, 0)
	b.Add(src, 0)
	j := &batch{Matcher: matcher(src, 3, 0), queries: b}
	j.split()
	if len(j.tasks) != 7 {
		t.Errorf("%d tasks for 6 large queries and 2 small ones", len(j.tasks))
	}
	for _, k := range j.tasks {
		if k.parts > 0 {
			t.Errorf("a part of a query: %+v", k)
		}
	}
}

// TestSplit: tasks cover every query once and in order, expressions and parts of large
// queries included.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	const docs = 1 << 20
	src := hosttest.Source(t, docs, []codec.ID{codec.Raw}, nil, []uint32{3}, hosttest.Uniform(r, 900, docs), hosttest.Uniform(r, 40_000, docs), hosttest.Uniform(r, 400_000, docs))
	for _, threads := range []int{1, 2, 7} {
		split := 0
		m := matcher(src, threads, 0)
		for _, queries := range []int{0, 1, 2, 50, 3000} {
			b := &plan.MatchBatch{}
			for range queries {
				if h := uint32(r.IntN(5)); h > 0 && r.IntN(4) == 0 {
					b.AddOps([]plan.Op{{List: h}, {List: h - 1}, {Code: plan.OpOr}})
				} else {
					b.Add(src, h)
				}
			}
			j := &batch{Matcher: m, queries: b}
			j.split()
			b.Threads = threads
			limited := &batch{Matcher: matcher(src, threads+3, 0), queries: b}
			if limited.split(); !slices.Equal(limited.tasks, j.tasks) || limited.threads != threads {
				t.Fatalf("%d queries on %d of %d threads: %d tasks, not %d", queries, limited.threads, threads+3, len(limited.tasks), len(j.tasks))
			}
			at, part := 0, 0
			for _, k := range j.tasks {
				if k.first != at || k.part != part || k.end <= k.first || k.parts > 0 && k.end != k.first+1 {
					t.Fatalf("%d queries on %d threads: task %+v at query %d, part %d", queries, threads, k, at, part)
				}
				if k.parts > 0 {
					split++
					if part++; part < k.parts {
						continue
					}
				}
				at, part = k.end, 0
			}
			if at != queries || part != 0 {
				t.Fatalf("%d queries on %d threads: tasks end at query %d, part %d", queries, threads, at, part)
			}
			if threads == 1 && len(j.tasks) > 1 {
				t.Errorf("%d tasks for one thread", len(j.tasks))
			}
			if threads > 1 && queries == 3000 && len(j.tasks) < 4*threads {
				t.Errorf("%d tasks for %d threads", len(j.tasks), threads)
			}
		}
		if threads > 1 && split == 0 {
			t.Errorf("no query was split among %d threads", threads)
		}
	}
}

func TestTaskSteps(t *testing.T) {
	for _, n := range []int{0, 1, 5, 100} {
		whole := task{}
		if from, to := whole.steps(n); from != 0 || to != n {
			t.Errorf("a whole query of %d steps: %d to %d", n, from, to)
		}
		for _, parts := range []int{1, 3, 8} {
			next := 0
			for p := range parts {
				k := task{part: p, parts: parts}
				from, to := k.steps(n)
				if from != next || to < from {
					t.Errorf("part %d of %d of %d steps: %d to %d, want from %d", p, parts, n, from, to, next)
				}
				next = to
			}
			if next != n {
				t.Errorf("%d parts of %d steps end at %d", parts, n, next)
			}
		}
	}
}

// TestMixed: a batch of conjunctions and expressions gives the answers of each query alone.
func TestMixed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	const docs = 1 << 20
	src := hosttest.Source(t, docs, codec.IDs(), nil, []uint32{3}, hosttest.Uniform(r, 900, docs), hosttest.Uniform(r, 40_000, docs), hosttest.Uniform(r, 400_000, docs))
	for _, threads := range []int{1, 3} {
		m := matcher(src, threads, 0)
		for _, countOnly := range []bool{false, true} {
			all := &plan.MatchBatch{CountOnly: countOnly}
			for range 60 {
				a, b := r.Uint32N(5), r.Uint32N(5)
				if r.IntN(2) == 0 {
					all.Add(src, a, b)
				} else {
					all.AddOps([]plan.Op{{List: a}, {List: b}, {Code: plan.OpCode(1 + r.IntN(4))}})
				}
			}
			var got, want plan.Results
			if err := m.Match(t.Context(), all, &got); err != nil {
				t.Fatal(err)
			}
			for i := range all.Queries() {
				one := new(plan.MatchBatch)
				one.Append(all, i)
				if err := m.Match(t.Context(), one, &want); err != nil {
					t.Fatal(err)
				}
				if got.Count(i) != want.Count(0) || !countOnly && !slices.Equal(got.Query(i), want.Query(0)) {
					t.Errorf("%d threads, count only %t: query %d has %d documents, want %d", threads, countOnly, i, got.Count(i), want.Count(0))
				}
			}
			if countOnly && len(got.Docs) > 0 {
				t.Errorf("%d docIDs in a batch of counts", len(got.Docs))
			}
		}
	}
}

// TestCancelWithinQuery: a task ends before its next step when the context ends.
func TestCancelWithinQuery(t *testing.T) {
	const docs = 1 << 20
	src := hosttest.Source(t, docs, codec.IDs(), hosttest.Uniform(rand.New(rand.NewPCG(1, 2)), 30_000, docs))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j := &batch{Matcher: matcher(src, 1, 0), ctx: ctx, queries: new(plan.MatchBatch)}
	w := &worker{stack: new(stack)}
	if n, err := w.conjunction(j, []plan.Handle{0}, &task{end: 1}, nil); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("a conjunction: %d matches, %v", n, err)
	}
	ops := []plan.Op{{List: 0}, {List: 0}, {Code: plan.OpOr}}
	for name, f := range map[string]func() (int, error){
		"evaluate": func() (int, error) { return w.evaluate(j, ops, 0, docs, nil) },
		"unite":    func() (int, error) { return w.unite(j, []plan.Handle{0, 0, 0}, 0, docs, nil) },
		"chain":    func() (int, error) { return w.chain(j, ops[:1], 0, docs, nil) },
	} {
		if n, err := f(); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d matches, %v", name, n, err)
		}
	}
}

// TestFirstUse: a query that uses its lists for the first time, in parts, has every docID once.
func TestFirstUse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	const docs = 1 << 20
	consecutive := make([]uint32, 100_000)
	for i := range consecutive {
		consecutive[i] = 1000 + uint32(i)
	}
	var clustered []uint32 // thousands of runs
	for x := uint32(0); x < docs-200; x += 200 + r.Uint32N(200) {
		for range 100 + r.Uint32N(100) {
			clustered = append(clustered, x)
			x++
		}
	}
	lists := [][]uint32{consecutive, clustered, hosttest.Uniform(r, 200_000, docs)}
	for _, memory := range []uint64{0, 1 << 19, 3000, 1} {
		for q := 1; q < 1<<len(lists); q++ {
			src := hosttest.Source(t, docs, []codec.ID{codec.ParaPFor}, lists...)
			m, b := matcher(src, 3, memory), &plan.MatchBatch{}
			var query []plan.Handle
			var want []uint32
			for h, list := range lists {
				switch {
				case q>>h&1 == 0:
				case len(query) == 0:
					query, want = append(query, plan.Handle(h)), list
				default:
					query, want = append(query, plan.Handle(h)), reference.Intersect(want, list)
				}
			}
			b.Add(src, query...)
			var out plan.Results
			if err := m.Match(t.Context(), b, &out); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out.Docs, want) {
				t.Errorf("lists %v, memory %d: %d docIDs, want %d", query, memory, len(out.Docs), len(want))
			}
		}
	}
}
