package cl

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
)

// TestFormulasInLittleScratch runs the cases of Store.Evaluate over both shapes of
// the kernels where a round is one range of one formula, so that all that can be
// cut is cut. TestSuite has them with as much scratch as a slot gets.
func TestFormulasInLittleScratch(t *testing.T) {
	d := *testDevice(t)
	d.info.Memory = 1 << 16
	for name, shape := range shapes(&d) {
		t.Run(name, func(t *testing.T) {
			matchtest.RunExpressions(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), &d, Options{Tuning: &shape, SkipSelfTest: true, MemoryLimit: 1 << 32})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, plantest.Options{Small: true, Corrupt: true, Codecs: []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset, codec.RPFD, codec.HSLRC128}})
		})
	}
}

// union is the OR of all lists of the self-test, and its documents.
func union(t *testing.T) (*plan.Source, *plan.MatchBatch, []uint32) {
	t.Helper()
	src, lists, err := selfTestSource()
	if err != nil {
		t.Fatal(err)
	}
	e := plan.Expr{Op: plan.OpOr}
	for h := range lists {
		e.Args = append(e.Args, plan.Expr{List: plan.Handle(h)})
	}
	f := new(plan.MatchBatch)
	if err := f.AddExpr(src, e); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(lists...)
	slices.Sort(want)
	return src, f, slices.Compact(want)
}

// TestFormulaFaults fails every step that evaluating takes, once: the error says
// so, nothing stays reserved, and the next batch is answered.
func TestFormulaFaults(t *testing.T) {
	src, f, want := union(t)
	for _, step := range []string{"allocate", "build", "enqueue", "wait"} {
		for n := 1; n <= 8; n++ {
			b, faults := openFaulty(t, testDevice(t).Tuning())
			s, err := b.Load(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			var out plan.Results
			faults.arm(step, n, ocl.ErrOutOfHostMemory)
			err = s.Match(t.Context(), f, &out)
			met := faults.count(step) >= n
			var failed *plan.DeviceError
			if met && !errors.As(err, &failed) || !met && err != nil {
				t.Errorf("%s %d, met %t: %v", step, n, met, err)
			}
			faults.arm("", 0, nil)
			if err := s.Match(t.Context(), f, &out); err != nil || !slices.Equal(out.Docs, want) {
				t.Errorf("after %s %d: %d documents, want %d: %v", step, n, len(out.Docs), len(want), err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if n := inUse(b); n != 0 {
				t.Errorf("%d bytes are still reserved", n)
			}
			if !met {
				if n == 1 {
					t.Errorf("%s is no step of an evaluation", step)
				}
				break
			}
		}
	}
}

// TestFormulaMemory raises the limit on memory: a load that leaves none for formulas is
// refused; with the least, callers wait for each other's scratch, and a formula of more
// lists than that takes says so, which others are not told. The limit holds throughout.
func TestFormulaMemory(t *testing.T) {
	src := &plan.Source{Docs: 20_000}
	const lists = 80
	for i := range uint32(lists) {
		var docs []uint32
		for d := range src.Docs {
			if d%lists != i && d%3 > 0 {
				docs = append(docs, d)
			}
		}
		if _, err := src.Append(codec.ParaPFor, docs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
	}
	either := func(lists int) (f plan.MatchBatch) {
		e := plan.Expr{Op: plan.OpOr}
		for h := range lists {
			e.Args = append(e.Args, plan.Expr{List: plan.Handle(h)})
		}
		f.Reset()
		for range 3 {
			if err := f.AddExpr(src, e); err != nil {
				t.Fatal(err)
			}
		}
		return f
	}
	some, all := either(lists/4), either(lists)
	tuning := testDevice(t).Tuning()
	tuning.RoundTiles, tuning.Slots = 8, 4
	need := func(b *Backend) uint64 {
		ranges, _, err := layout(src, b.dev.info.MaxAlloc)
		if err != nil {
			t.Fatal(err)
		}
		return arenaBytes(ranges) + b.newStore(src, &b.budget, 8, 4).slotsBytes() + formulasLeast()
	}
	for _, c := range []struct {
		more      int // bytes than the least
		some, all bool
	}{{-1, false, false}, {0, true, false}, {1 << 20, true, true}, {16 << 20, true, true}, {1 << 28, true, true}} {
		b, _ := openFaulty(t, tuning)
		b.limit = need(b) + uint64(c.more)
		s, err := b.load(t.Context(), src)
		if !c.some {
			if !errors.Is(err, plan.ErrOutOfMemory) {
				t.Errorf("%d more: %v", c.more, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for caller := range 6 {
			wg.Go(func() {
				var out plan.Results
				for round := range 4 {
					f, fits := &some, true
					if (caller+round)%2 > 0 {
						f, fits = &all, c.all
					}
					err := s.evaluate(limited(t), f, &out, plan.BS) // which decodes all lists
					if !fits {
						typed(t, err, plan.ErrTooLarge, plan.ErrOutOfMemory)
					} else if want := uint64(src.Docs - (src.Docs+2)/3); err != nil || out.Count(0) != want || out.Count(2) != want {
						t.Errorf("%d more: %v, offsets %v, want %d each", c.more, err, out.Offsets, want)
					}
				}
			})
		}
		wg.Wait()
		if n := s.Memory(); n > b.limit || n != inUse(b) {
			t.Errorf("%d more: memory of %d bytes, %d are reserved, %d the limit", c.more, n, inUse(b), b.limit)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFormulaTooLarge has formulas of as many lists as a round takes, and of one more.
func TestFormulaTooLarge(t *testing.T) {
	src, _, _ := union(t)
	b, err := Open(t.Context(), testDevice(t), Options{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var f plan.MatchBatch
	or := func(lists int) {
		ops := []plan.Op{{List: 1}}
		for range lists - 1 {
			ops = append(ops, plan.Op{List: 1}, plan.Op{Code: plan.OpOr})
		}
		f.AddOps(ops)
	}
	var out plan.Results
	for _, lists := range []int{formulaOperands, formulaOperands + 1} {
		f = plan.MatchBatch{Offsets: []uint32{0}, CountOnly: true}
		or(2)
		or(lists)
		err := s.Match(t.Context(), &f, &out)
		if lists <= formulaOperands && (err != nil || out.Count(0) != uint64(src.Lists[1].Len) || out.Count(1) != out.Count(0)) {
			t.Errorf("%d lists: %v, counts %v", lists, err, out.Offsets)
		}
		if _, ok := errors.AsType[*plan.DeviceError](err); lists > formulaOperands && (!ok || !errors.Is(err, plan.ErrTooLarge) || !strings.Contains(err.Error(), "formula 1 names 16385 lists, at most 16384")) {
			t.Errorf("%d lists: %v", lists, err)
		}
	}
}
