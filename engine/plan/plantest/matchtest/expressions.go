package matchtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// expressions has the cases of boolean expressions.
type expressions struct{ suite }

func (su expressions) run(t *testing.T) {
	t.Run("lists", testneeds.With(testneeds.Sequential, su.lists))
	t.Run("universes", testneeds.With(testneeds.Sequential, su.universes))
	t.Run("shapes", testneeds.With(testneeds.OneCaller, su.shapes))
	t.Run("random", testneeds.With(testneeds.OneCaller, su.random))
	t.Run("large", testneeds.With(testneeds.OneCaller, su.large))
	t.Run("reuse", su.reuse)
	t.Run("concurrent", su.concurrent)
	t.Run("cancel", su.cancel)
	t.Run("refused", su.refused)
	if su.Corrupt {
		t.Run("corrupt", testneeds.With(testneeds.OneCaller, su.corrupt))
	}
}

// list and code are operations; ops joins them to an expression.
func list(h plan.Handle) plan.Op        { return plan.Op{Code: plan.OpList, List: h} }
func code(operator plan.OpCode) plan.Op { return plan.Op{Code: operator} }
func ops(all ...plan.Op) []plan.Op      { return all }

var operators = []plan.OpCode{plan.OpAnd, plan.OpOr, plan.OpAndNot, plan.OpNotAnd}

// randomOps returns random operations that leave one set and need a stack of at
// most depth sets.
func randomOps(r *rand.Rand, lists, depth, steps int) (ops []plan.Op) {
	height := 0
	for steps > 0 || height != 1 {
		if height < 2 || height < depth && steps > 0 && r.IntN(2) == 0 {
			ops = append(ops, list(uint32(r.IntN(lists))))
			height++
		} else {
			ops = append(ops, code(operators[r.IntN(len(operators))]))
			height--
		}
		steps--
	}
	return ops
}

// lists joins lists of all kinds and codecs in pairs.
func (su expressions) lists(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewSource(uint32(su.Pick(100_000, 20_000)))
	for _, g := range codectest.Generators() {
		su.AddAll(t, s, g.Gen(r, su.Pick(3000, 150), uint64(s.Docs)))
	}
	st := su.Load(t, s)
	var f plan.MatchBatch
	for x := range uint32(len(s.Lists)) {
		f.AddOps(ops(list(x)))
		for y := range uint32(len(s.Lists)) {
			if (x+y)%uint32(su.Pick(3, 17)) == 0 {
				f.AddOps(ops(list(x), list(y), code(operators[r.IntN(4)])))
			}
		}
	}
	su.verify(t, st, s, &f)
}

// universes has universes from no document to the largest, among them the sizes at
// which words and ranges end.
func (su expressions) universes(t *testing.T) {
	universes := []uint32{0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 513, 8191, 8192, 8193, 32767, 32768, 32769, 1 << 16, 1<<31 + 5, plantest.MaxUniverse}
	for _, universe := range universes {
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := plantest.RNG(t)
			s := plantest.NewSource(universe)
			for _, g := range codectest.Generators() {
				su.AddAll(t, s, g.Gen(r, su.Pick(300, 30), uint64(universe)))
			}
			if universe > 1 {
				su.AddAll(t, s, []uint32{universe - 2, universe - 1})
			}
			st := su.Load(t, s)
			var f plan.MatchBatch
			for range su.Pick(30, 8) {
				f.AddOps(randomOps(r, len(s.Lists), 4, 1+r.IntN(12)))
			}
			for _, operator := range operators {
				f.AddOps(ops(list(uint32(len(s.Lists)-1)), list(uint32(r.IntN(len(s.Lists)))), code(operator)))
			}
			su.verify(t, st, s, &f)
		})
	}
}

// shapes has expressions of every size: no operation, one list, many lists, the
// highest stack, repeated lists, empty lists.
func (su expressions) shapes(t *testing.T) {
	s, _ := su.Workload(t, su.Pick(60, 15), 0)
	empty := s.Add(t, codec.Raw, nil)
	lists := len(s.Lists)
	st := su.Load(t, s)
	var f plan.MatchBatch
	su.verify(t, st, s, &f) // without Reset and without queries
	f.Reset()
	su.verify(t, st, s, &f)
	f.AddOps(nil)
	f.AddOps(ops(list(empty)))
	f.AddOps(ops(list(0)))
	f.AddOps(nil)
	for _, operator := range operators {
		f.AddOps(ops(list(3), list(3), code(operator)))
		f.AddOps(ops(list(3), list(empty), code(operator)))
		f.AddOps(ops(list(empty), list(3), code(operator)))
		wide := []plan.Op{list(0)} // as left and as right operands
		high := []plan.Op{}
		for i := range su.Pick(300, 40) {
			wide = append(wide, list(uint32(i%lists)), code(operator))
		}
		for i := range plan.MaxDepth {
			high = append(high, list(uint32(i%lists)))
		}
		for range plan.MaxDepth - 1 {
			high = append(high, code(operator))
		}
		f.AddOps(wide)
		f.AddOps(high)
		f.AddOps(nil)
	}
	su.verify(t, st, s, &f)
}

// random draws universe, lists, codecs and expressions. Package rapid shrinks
// failures.
func (su expressions) random(t *testing.T) {
	su.Check(t, func(rt *rapid.T) {
		s := su.RandomSource(rt)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "expression seed"), 0))
		var f plan.MatchBatch
		f.Reset()
		for range rapid.IntRange(0, 8).Draw(rt, "expressions") {
			f.AddOps(randomOps(r, len(s.Lists), rapid.IntRange(2, plan.MaxDepth).Draw(rt, "depth"), rapid.IntRange(1, 30).Draw(rt, "steps")))
		}
		f.CountOnly = rapid.Bool().Draw(rt, "count only")
		st, err := su.Shared.Load(rt.Context(), &s.Source)
		if err != nil {
			rt.Fatal(err)
		}
		defer st.Close()
		var out plan.Results
		if err := st.Match(rt.Context(), &f, &out); err != nil {
			rt.Fatal(err)
		}
		if err := compare(s, &f, reference.Match(s.Plain.Docs, &f), &out); err != nil {
			rt.Fatal(err)
		}
	})
}

// workload returns a source of lists of mixed density, and random expressions over
// it. Some are large enough to be cut into pieces.
func (su expressions) workload(t *testing.T) (*plantest.Source, *plan.MatchBatch) {
	r := plantest.RNG(t)
	s := plantest.NewSource(uint32(su.Pick(300_000, 20_000)))
	for i := range su.Pick(40, 12) {
		docs := plantest.Uniform
		if i%3 == 0 {
			docs = plantest.Clustered
		}
		s.Add(t, su.Codecs[i%len(su.Codecs)], docs(s.Docs, 1+r.IntN(int(s.Docs)>>(1+r.IntN(8))), r))
	}
	f := &plan.MatchBatch{}
	for range su.Pick(60, 10) {
		f.AddOps(randomOps(r, len(s.Lists), 2+r.IntN(5), 1+r.IntN(20)))
	}
	return s, f
}

// large has expressions over many ranges of documents.
func (su expressions) large(t *testing.T) {
	s, f := su.workload(t)
	su.verify(t, su.Load(t, s), s, f)
}

// reuse runs large and small batches in turn into the same Results, between
// batches of conjunctions.
func (su expressions) reuse(t *testing.T) {
	s, large := su.workload(t)
	st := su.Load(t, s)
	var small, none plan.MatchBatch
	small.AddOps(ops(list(1), list(2), code(plan.OpOr)))
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	var out plan.Results
	for i, f := range []*plan.MatchBatch{large, &small, &none, large, &small, large} {
		want := reference.Match(s.Plain.Docs, f)
		for _, f.CountOnly = range []bool{i%2 == 0, i%2 == 1} {
			if err := match(t, st, s, f, want, &out); err != nil {
				t.Fatalf("step %d, count only %t: %v", i, f.CountOnly, err)
			}
		}
		if err := match(t, st, s, &b, reference.Match(s.Plain.Docs, &b), &out); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// concurrent has several callers with expressions and conjunctions on one store.
func (su expressions) concurrent(t *testing.T) {
	s, f := su.workload(t)
	want := reference.Match(s.Plain.Docs, f)
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	answer := reference.Match(s.Plain.Docs, &b)
	st := plantest.LoadOn(t, su.Backend(t), s)
	var wg sync.WaitGroup
	for caller := range su.Pick(6, 3) {
		wg.Go(func() {
			mine := *f
			var out plan.Results
			for round := range 3 {
				mine.CountOnly = (caller+round)%2 == 1
				err := match(t, st, s, &mine, want, &out)
				if err == nil {
					err = match(t, st, s, &b, answer, &out)
				}
				if err != nil {
					t.Errorf("caller %d: %v", caller, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// cancel stops batches before they start and while they run.
func (su expressions) cancel(t *testing.T) {
	s, f := su.workload(t)
	want := reference.Match(s.Plain.Docs, f)
	st := su.Load(t, s)
	var out plan.Results
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := st.Match(ctx, f, &out); !errors.Is(err, context.Canceled) {
		t.Fatalf("under a cancelled context: %v", err)
	}
	su.Interrupt(t, func(ctx context.Context, _ int) error { return st.Match(ctx, f, &out) },
		func() error { return compare(s, f, want, &out) })
	su.verify(t, st, s, f)
}

// refused checks that invalid expressions and a closed store give errors.
func (su expressions) refused(t *testing.T) {
	s, _ := su.Workload(t, 4, 0)
	st, err := su.Shared.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	var f plan.MatchBatch
	var out plan.Results
	for _, ops := range [][]plan.Op{
		{list(4)}, {list(0), list(1)}, {code(plan.OpAnd)}, {list(0), code(plan.OpOr)}, {{Code: 77}},
	} {
		f.Reset()
		f.AddOps(ops)
		if err := st.Match(t.Context(), &f, &out); err == nil {
			t.Errorf("%v went through", ops)
		}
	}
	f.Reset()
	f.AddOps(ops(list(0), list(1), code(plan.OpOr)))
	su.verify(t, st, s, &f)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := st.Match(t.Context(), &f, &out); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("expressions on a closed store: %v", err)
	}
}

// corrupt evaluates expressions over damaged lists. The backend may return an error
// or any answer within bounds.
func (su expressions) corrupt(t *testing.T) {
	su.OnDamaged(t, func(r *rand.Rand, src *plan.Source, st plan.Store) {
		var f plan.MatchBatch
		var out plan.Results
		for x := range uint32(len(src.Lists)) {
			for _, f.CountOnly = range []bool{false, true} {
				f.Reset()
				f.AddOps(ops(list(x)))
				f.AddOps(randomOps(r, len(src.Lists), 4, 7))
				if err := st.Match(t.Context(), &f, &out); err != nil {
					continue
				}
				if err := bounded(&f, src, &out); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
