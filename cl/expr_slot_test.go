package cl

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec"
	"heddle/engine/plan"
)

// union is the OR of all lists of the self-test, and its documents.
func union(t *testing.T) (*plan.Source, *plan.MatchBatch, []uint32) {
	t.Helper()
	src, lists, err := sampleLists()
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

// TestExpressionFaults fails every step that evaluating takes, once: the error says
// so, nothing stays reserved, and the next batch is answered.
func TestExpressionFaults(t *testing.T) {
	src, f, want := union(t)
	for _, step := range []string{"allocate", "build", "enqueue", "wait"} {
		for n := 1; n <= 8; n++ {
			b, faults := openFaulty(t, testDevice(t, exprOps), testDevice(t, exprOps).Tuning())
			s, err := loadEvaluator(t.Context(), b, src)
			if err != nil {
				t.Fatal(err)
			}
			var out plan.Results
			faults.arm(step, n, ocl.ErrOutOfHostMemory)
			err = s.match(t.Context(), f, &out)
			met := faults.count(step) >= n
			var failed *plan.DeviceError
			if met && !errors.As(err, &failed) || !met && err != nil {
				t.Errorf("%s %d, met %t: %v", step, n, met, err)
			}
			faults.disarm()
			if err := s.match(t.Context(), f, &out); err != nil || !slices.Equal(out.Docs, want) {
				t.Errorf("after %s %d: %d documents, want %d: %v", step, n, len(out.Docs), len(want), err)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if n := b.memory.inUse(); n != 0 {
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

// TestExpressionMemory raises the limit on memory: a load that leaves none for formulas is
// refused; with the least, callers wait for each other's scratch, and a formula of more
// lists than that takes says so, which others are not told. The limit holds throughout.
func TestExpressionMemory(t *testing.T) {
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
	tuning := testDevice(t, exprOps).Tuning()
	tuning.RoundTiles, tuning.Slots = 8, 4
	need := func(b *opened) uint64 {
		ranges, _, err := layout(src, b.info.MaxAlloc)
		if err != nil {
			t.Fatal(err)
		}
		return arenaBytes(ranges) + leastExprBytes()
	}
	for _, c := range []struct {
		more      int // bytes than the least
		some, all bool
	}{{-1, false, false}, {0, true, false}, {1 << 20, true, true}, {16 << 20, true, true}, {1 << 28, true, true}} {
		b, _ := openFaulty(t, testDevice(t, exprOps), tuning)
		b.memory.resize(need(b) + uint64(c.more))
		s, err := loadEvaluator(t.Context(), b, src)
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
					err := s.run(limited(t), f, &out, plan.BS) // which decodes all lists
					if !fits {
						typed(t, err, plan.ErrTooLarge, plan.ErrOutOfMemory)
					} else if want := uint64(src.Docs - (src.Docs+2)/3); err != nil || out.Count(0) != want || out.Count(2) != want {
						t.Errorf("%d more: %v, offsets %v, want %d each", c.more, err, out.Offsets, want)
					}
				}
			})
		}
		wg.Wait()
		if n := s.set.total(); n > b.memory.size() || n != b.memory.inUse() {
			t.Errorf("%d more: memory of %d bytes, %d are reserved, %d the limit", c.more, n, b.memory.inUse(), b.memory.size())
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestExpressionTooLarge has formulas of as many lists as a round takes, and of one more.
func TestExpressionTooLarge(t *testing.T) {
	src, _, _ := union(t)
	b, err := openDevice(t.Context(), testDevice(t, exprOps), deviceOptions{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	s, err := loadEvaluator(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var f plan.MatchBatch
	or := func(lists int) {
		ops := []plan.Op{{List: 1}}
		for range lists - 1 {
			ops = append(ops, plan.Op{List: 1}, plan.Op{Code: plan.OpOr})
		}
		f.AddOps(ops)
	}
	var out plan.Results
	for _, lists := range []int{exprOperands, exprOperands + 1} {
		f = plan.MatchBatch{Offsets: []uint32{0}, CountOnly: true}
		or(2)
		or(lists)
		err := s.match(t.Context(), &f, &out)
		if lists <= exprOperands && (err != nil || out.Count(0) != uint64(src.Lists[1].Len) || out.Count(1) != out.Count(0)) {
			t.Errorf("%d lists: %v, counts %v", lists, err, out.Offsets)
		}
		if _, ok := errors.AsType[*plan.DeviceError](err); lists > exprOperands && (!ok || !errors.Is(err, plan.ErrTooLarge) || !strings.Contains(err.Error(), "boolean expression 1 names 16385 lists, at most 16384")) {
			t.Errorf("%d lists: %v", lists, err)
		}
	}
}

// TestShortage has a slot made while others have the memory: once they have
// not, its rounds are as long as ever. A formula that they leave no memory for is not too
// large; one that never fits is.
func TestShortage(t *testing.T) {
	src, f, want := union(t)
	b, _ := openFaulty(t, testDevice(t, exprOps), fewTiles(testDevice(t, exprOps)))
	s, err := loadEvaluator(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	normal, _ := s.shape()
	evaluate := func() {
		t.Helper()
		var out plan.Results
		if err := s.match(t.Context(), f, &out); err != nil || !slices.Equal(out.Docs, want) {
			t.Errorf("%d documents, want %d: %v", len(out.Docs), len(want), err)
		}
	}
	slot := func() *exprSlot {
		x, err := s.free.take(t.Context(), s.set.closing, s.newSlot)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rest := b.memory.left()
	if err := b.memory.reserve(rest, "a test"); err != nil {
		t.Fatal(err)
	}
	evaluate()
	x := slot()
	if x.shape != leastShape {
		t.Errorf("nothing is left: %+v", x.shape)
	}
	words := (exprGrowth + 1<<10) / 4
	if err := x.grow(t.Context(), words); !errors.Is(err, plan.ErrOutOfMemory) || errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("others have the memory: %v", err)
	}
	b.memory.closed = true
	if err := x.grow(t.Context(), words); err != plan.ErrClosed {
		t.Errorf("a closed backend: %v", err)
	}
	b.memory.closed = false
	limit := b.memory.size()
	b.memory.unreserve(rest)
	b.memory.resize(b.memory.inUse())
	if err := x.grow(t.Context(), words); !errors.Is(err, plan.ErrOutOfMemory) || !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("more than the limit: %v", err)
	}
	b.memory.resize(limit)
	if err := x.grow(t.Context(), int(b.info.MaxAlloc/4)+1); !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("more than a buffer: %v", err)
	}
	x.giveBack()
	evaluate()
	x = slot()
	if x.shape.groups < min(normal.groups, exprGroups) || x.kept != leastShape.bytes() {
		t.Errorf("rounds of %d groups, want %d; %d bytes are kept", x.shape.groups, normal.groups, x.kept)
	}
	x.giveBack()
	if n := s.set.total(); n != b.memory.inUse() {
		t.Errorf("memory of %d bytes, %d are reserved", n, b.memory.inUse())
	}
}
