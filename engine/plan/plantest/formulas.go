package plantest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// formulas are the cases of Store.Evaluate. Their oracle goes through plain
// slices step by step.
func (su *suite) formulas(t *testing.T) {
	t.Run("lists", su.formulaLists)
	t.Run("universes", su.formulaUniverses)
	t.Run("shapes", su.formulaShapes)
	t.Run("random", su.formulaRandom)
	t.Run("large", su.formulaLarge)
	t.Run("reuse", su.formulaReuse)
	t.Run("concurrent", su.formulaConcurrent)
	t.Run("cancel", su.formulaCancel)
	t.Run("refused", su.formulaRefused)
	if su.Corrupt {
		t.Run("corrupt", su.formulaCorrupt)
	}
}

// RunFormulas runs those cases alone, for backends with options that concern no
// others.
func RunFormulas(t *testing.T, open func(t *testing.T) plan.Backend, opt Options) {
	s := suite{Options: opt, open: open}
	if opt.Codecs == nil {
		s.Codecs = codec.IDs()
	}
	s.formulas(t)
}

// evaluate gives the documents of every formula of f.
func (s *source) evaluate(f *plan.MatchBatch) [][]uint32 {
	want := make([][]uint32, f.Queries())
	for i := range want {
		var stack [][]uint32
		for _, op := range f.Expression(i) {
			if op.Code == plan.OpList {
				stack = append(stack, s.docs[op.List])
				continue
			}
			x, y := stack[len(stack)-2], stack[len(stack)-1]
			switch op.Code {
			case plan.OpAnd:
				x = plan.Merge(x, y)
			case plan.OpOr:
				x = plainOr(x, y)
			case plan.OpAndNot:
				x = plainWithout(x, y)
			case plan.OpNotAnd:
				x = plainWithout(y, x)
			}
			stack = append(stack[:len(stack)-2], x)
		}
		if len(stack) > 0 {
			want[i] = stack[0]
		}
	}
	return want
}

func plainOr(a, b []uint32) []uint32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func plainWithout(a, b []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(a), func(x uint32) bool {
		_, found := slices.BinarySearch(b, x)
		return found
	})
}

// boundedFormulas checks what must hold of any results, those of corrupt lists
// too.
func boundedFormulas(f *plan.MatchBatch, src *plan.Source, out *plan.Results) error {
	if len(out.Offsets) != f.Queries()+1 || out.Offsets[0] != 0 {
		return fmt.Errorf("offsets %d for %d formulas", out.Offsets, f.Queries())
	}
	for i := range f.Queries() {
		if out.Offsets[i] > out.Offsets[i+1] || out.Count(i) > uint64(src.Docs) {
			return fmt.Errorf("formula %d: offsets from %d to %d in a universe of %d", i, out.Offsets[i], out.Offsets[i+1], src.Docs)
		}
	}
	if f.CountOnly {
		if len(out.Docs) > 0 {
			return fmt.Errorf("%d docIDs where counts were asked for", len(out.Docs))
		}
		return nil
	}
	if uint64(len(out.Docs)) != out.Offsets[f.Queries()] {
		return fmt.Errorf("%d docIDs, want %d", len(out.Docs), out.Offsets[f.Queries()])
	}
	for i := range f.Queries() {
		docs := out.Query(i)
		for j, x := range docs {
			if x >= src.Docs || j > 0 && x <= docs[j-1] {
				return fmt.Errorf("formula %d: docID %d of %d is %d, in a universe of %d", i, j, len(docs), x, src.Docs)
			}
		}
	}
	return nil
}

// compareFormulas says where out differs from want, the oracle's answer to f.
func (s *source) compareFormulas(f *plan.MatchBatch, want [][]uint32, out *plan.Results) error {
	if err := boundedFormulas(f, &s.Source, out); err != nil {
		return err
	}
	matches := uint64(0)
	for i, w := range want {
		matches += uint64(len(w))
		if out.Count(i) != uint64(len(w)) || !f.CountOnly && !slices.Equal(out.Query(i), w) {
			got := fmt.Sprintf("%d documents", out.Count(i))
			for j, x := range w {
				if !f.CountOnly && (j == int(out.Count(i)) || out.Query(i)[j] != x) {
					got += fmt.Sprintf(", another one at %d of them, where %d should be", j, x)
					break
				}
			}
			return fmt.Errorf("formula %d (%s): %s, want %d", i, s.describeFormula(f.Expression(i)), got, len(w))
		}
	}
	st := out.Stats
	if st.Queries != uint64(f.Queries()) || st.Candidates != f.Candidates(&s.Source) || st.Matches != matches || st.Wall <= 0 {
		return fmt.Errorf("stats %+v of %d formulas with %d matches and %d candidates", st, f.Queries(), matches, f.Candidates(&s.Source))
	}
	return nil
}

func (s *source) describeFormula(ops []plan.Op) string {
	var b strings.Builder
	for i, op := range ops {
		if i == 12 {
			return b.String() + "..."
		}
		if op.Code == plan.OpList {
			fmt.Fprintf(&b, "%v of %d, ", s.Lists[op.List].Codec, s.Lists[op.List].Len)
		} else {
			fmt.Fprintf(&b, "%s, ", []string{"", "and", "or", "andnot", "notand"}[op.Code])
		}
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// verifyFormulas evaluates f with docIDs and with counts only, and compares.
func (su *suite) verifyFormulas(t *testing.T, st plan.Store, s *source, f *plan.MatchBatch) {
	t.Helper()
	if err := f.Validate(&s.Source); err != nil {
		t.Fatal(err)
	}
	before := f.CountOnly
	defer func() { f.CountOnly = before }()
	want := s.evaluate(f)
	var out plan.Results
	for _, f.CountOnly = range []bool{false, true} {
		if err := st.Match(t.Context(), f, &out); err != nil {
			t.Fatalf("count only %t: %v", f.CountOnly, err)
		}
		if err := s.compareFormulas(f, want, &out); err != nil {
			t.Fatalf("count only %t: %v", f.CountOnly, err)
		}
	}
}

// push appends a formula as it is.
func push(f *plan.MatchBatch, ops ...plan.Op) { f.AddOps(ops) }

func list(h plan.Handle) plan.Op    { return plan.Op{Code: plan.OpList, List: h} }
func does(code plan.OpCode) plan.Op { return plan.Op{Code: code} }

var formulaOps = []plan.OpCode{plan.OpAnd, plan.OpOr, plan.OpAndNot, plan.OpNotAnd}

// randomFormula appends random steps that make one set and need at most depth.
func randomFormula(r *rand.Rand, lists, depth, steps int) (ops []plan.Op) {
	height := 0
	for steps > 0 || height != 1 {
		if height < 2 || height < depth && steps > 0 && r.IntN(2) == 0 {
			ops = append(ops, list(uint32(r.IntN(lists))))
			height++
		} else {
			ops = append(ops, does(formulaOps[r.IntN(len(formulaOps))]))
			height--
		}
		steps--
	}
	return ops
}

// formulaLists joins every kind of list with others by every step, in every codec.
func (su *suite) formulaLists(t *testing.T) {
	r := rng(t)
	s := &source{Source: plan.Source{Docs: uint32(su.pick(100_000, 20_000))}}
	for _, g := range codectest.Generators() {
		su.addAll(t, s, g.Gen(r, su.pick(3000, 150), uint64(s.Docs)))
	}
	st := su.load(t, s)
	var f plan.MatchBatch
	for x := range uint32(len(s.Lists)) {
		push(&f, list(x))
		for y := range uint32(len(s.Lists)) {
			if (x+y)%uint32(su.pick(3, 17)) == 0 {
				push(&f, list(x), list(y), does(formulaOps[r.IntN(4)]))
			}
		}
	}
	su.verifyFormulas(t, st, s, &f)
}

// formulaUniverses goes from no document at all to the most that docIDs can name,
// over the places where words and ranges end.
func (su *suite) formulaUniverses(t *testing.T) {
	universes := []uint32{0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 513, 8191, 8192, 8193, 32767, 32768, 32769, 1 << 16, 1<<31 + 5, maxUniverse}
	for _, universe := range universes {
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := rng(t)
			s := &source{Source: plan.Source{Docs: universe}}
			for _, g := range codectest.Generators() {
				su.addAll(t, s, g.Gen(r, su.pick(300, 30), uint64(universe)))
			}
			if universe > 1 {
				su.addAll(t, s, []uint32{universe - 2, universe - 1})
			}
			st := su.load(t, s)
			var f plan.MatchBatch
			for range su.pick(30, 8) {
				push(&f, randomFormula(r, len(s.Lists), 4, 1+r.IntN(12))...)
			}
			for _, code := range formulaOps {
				push(&f, list(uint32(len(s.Lists)-1)), list(uint32(r.IntN(len(s.Lists)))), does(code))
			}
			su.verifyFormulas(t, st, s, &f)
		})
	}
}

// formulaShapes has formulas of every size: no step, one list, wide ones, the
// highest stack there may be, the same list again and again, empty lists.
func (su *suite) formulaShapes(t *testing.T) {
	s, _ := su.workload(t, su.pick(60, 15), 0)
	empty := s.add(t, codec.Raw, nil)
	lists := len(s.Lists)
	st := su.load(t, s)
	var f plan.MatchBatch
	su.verifyFormulas(t, st, s, &f) // never reset, never added to
	f.Reset()
	su.verifyFormulas(t, st, s, &f)
	push(&f)
	push(&f, list(empty))
	push(&f, list(0))
	push(&f)
	for _, code := range formulaOps {
		push(&f, list(3), list(3), does(code))
		push(&f, list(3), list(empty), does(code))
		push(&f, list(empty), list(3), does(code))
		wide := []plan.Op{list(0)} // as left and as right operands
		high := []plan.Op{}
		for i := range su.pick(300, 40) {
			wide = append(wide, list(uint32(i%lists)), does(code))
		}
		for i := range plan.MaxDepth {
			high = append(high, list(uint32(i%lists)))
		}
		for range plan.MaxDepth - 1 {
			high = append(high, does(code))
		}
		push(&f, wide...)
		push(&f, high...)
		push(&f)
	}
	su.verifyFormulas(t, st, s, &f)
}

// formulaRandom lets rapid choose universe, lists, codecs and formulas, and
// shrink what fails.
func (su *suite) formulaRandom(t *testing.T) {
	b := su.open(t)
	defer b.Close()
	su.check(t, func(rt *rapid.T) {
		s := su.randomSource(rt)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "formula seed"), 0))
		var f plan.MatchBatch
		f.Reset()
		for range rapid.IntRange(0, 8).Draw(rt, "formulas") {
			push(&f, randomFormula(r, len(s.Lists), rapid.IntRange(2, plan.MaxDepth).Draw(rt, "depth"), rapid.IntRange(1, 30).Draw(rt, "steps"))...)
		}
		f.CountOnly = rapid.Bool().Draw(rt, "count only")
		st, err := b.Load(rt.Context(), &s.Source)
		if err != nil {
			rt.Fatal(err)
		}
		defer st.Close()
		var out plan.Results
		if err := st.Match(rt.Context(), &f, &out); err != nil {
			rt.Fatal(err)
		}
		if err := s.compareFormulas(&f, s.evaluate(&f), &out); err != nil {
			rt.Fatal(err)
		}
	})
}

// formulaLoad is a source of lists of mixed density and random formulas over it,
// some of them large enough to be cut into pieces.
func (su *suite) formulaLoad(t *testing.T) (*source, *plan.MatchBatch) {
	r := rng(t)
	s := &source{Source: plan.Source{Docs: uint32(su.pick(300_000, 20_000))}}
	for i := range su.pick(40, 12) {
		make := uniform
		if i%3 == 0 {
			make = clustered
		}
		s.add(t, su.Codecs[i%len(su.Codecs)], make(s.Docs, 1+r.IntN(int(s.Docs)>>(1+r.IntN(8))), r))
	}
	f := &plan.MatchBatch{}
	for range su.pick(60, 10) {
		push(f, randomFormula(r, len(s.Lists), 2+r.IntN(5), 1+r.IntN(20))...)
	}
	return s, f
}

// formulaLarge has formulas that take many ranges of documents, and much to
// decode.
func (su *suite) formulaLarge(t *testing.T) {
	s, f := su.formulaLoad(t)
	su.verifyFormulas(t, su.load(t, s), s, f)
}

// formulaReuse evaluates different batches into the same results, between
// batches of conjunctions.
func (su *suite) formulaReuse(t *testing.T) {
	s, large := su.formulaLoad(t)
	st := su.load(t, s)
	var small, none plan.MatchBatch
	push(&small, list(1), list(2), does(plan.OpOr))
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	var out plan.Results
	for i, f := range []*plan.MatchBatch{large, &small, &none, large, &small, large} {
		for _, f.CountOnly = range []bool{i%2 == 0, i%2 == 1} {
			if err := st.Match(t.Context(), f, &out); err != nil {
				t.Fatal(err)
			}
			if err := s.compareFormulas(f, s.evaluate(f), &out); err != nil {
				t.Fatalf("step %d, count only %t: %v", i, f.CountOnly, err)
			}
		}
		if err := st.Match(t.Context(), &b, &out); err != nil {
			t.Fatal(err)
		}
		if err := s.compare(&b, s.answer(&b), &out); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// formulaConcurrent has several callers with formulas and queries on one store.
func (su *suite) formulaConcurrent(t *testing.T) {
	s, f := su.formulaLoad(t)
	want := s.evaluate(f)
	var b plan.MatchBatch
	b.Add(&s.Source, 3, 4)
	answer := s.answer(&b)
	st := su.load(t, s)
	var wg sync.WaitGroup
	for caller := range su.pick(6, 3) {
		wg.Go(func() {
			mine := *f
			var out plan.Results
			for round := range 3 {
				mine.CountOnly = (caller+round)%2 == 1
				err := st.Match(t.Context(), &mine, &out)
				if err == nil {
					err = s.compareFormulas(&mine, want, &out)
				}
				if err == nil {
					err = st.Match(t.Context(), &b, &out)
				}
				if err == nil {
					err = s.compare(&b, answer, &out)
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

// formulaCancel stops batches before they start and while they run.
func (su *suite) formulaCancel(t *testing.T) {
	s, f := su.formulaLoad(t)
	want := s.evaluate(f)
	st := su.load(t, s)
	var out plan.Results
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := st.Match(ctx, f, &out); !errors.Is(err, context.Canceled) {
		t.Fatalf("under a cancelled context: %v", err)
	}
	su.interrupt(t, func(ctx context.Context, _ int) error { return st.Match(ctx, f, &out) },
		func() error { return s.compareFormulas(f, want, &out) })
	su.verifyFormulas(t, st, s, f)
}

// formulaRefused checks that what is not valid is an error, and so is a closed
// store.
func (su *suite) formulaRefused(t *testing.T) {
	s, _ := su.workload(t, 4, 0)
	b := su.open(t)
	defer b.Close()
	st, err := b.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	var f plan.MatchBatch
	var out plan.Results
	for _, ops := range [][]plan.Op{
		{list(4)}, {list(0), list(1)}, {does(plan.OpAnd)}, {list(0), does(plan.OpOr)}, {{Code: 77}},
	} {
		f.Reset()
		push(&f, ops...)
		if err := st.Match(t.Context(), &f, &out); err == nil {
			t.Errorf("%v went through", ops)
		}
	}
	f.Reset()
	push(&f, list(0), list(1), does(plan.OpOr))
	su.verifyFormulas(t, st, s, &f)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := st.Match(t.Context(), &f, &out); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("formulas on a closed store: %v", err)
	}
}

// formulaCorrupt evaluates formulas over words that no encoder wrote: an error
// or an answer within bounds.
func (su *suite) formulaCorrupt(t *testing.T) {
	su.onDamaged(t, func(r *rand.Rand, src *plan.Source, st plan.Store) {
		var f plan.MatchBatch
		var out plan.Results
		for x := range uint32(len(src.Lists)) {
			for _, f.CountOnly = range []bool{false, true} {
				f.Reset()
				push(&f, list(x))
				push(&f, randomFormula(r, len(src.Lists), 4, 7)...)
				if err := st.Match(t.Context(), &f, &out); err != nil {
					continue
				}
				if err := boundedFormulas(&f, src, &out); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
