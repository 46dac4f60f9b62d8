package expression

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// union is the OR of all lists of the self-test, and its documents.
func union(t *testing.T) (*plan.Source, *plan.MatchBatch, []uint32) {
	t.Helper()
	src, postings, err := lists.Sample()
	if err != nil {
		t.Fatal(err)
	}
	e := plan.Expr{Op: plan.OpOr}
	for h := range postings {
		e.Args = append(e.Args, plan.Expr{List: plan.Handle(h)})
	}
	f := new(plan.MatchBatch)
	if err := f.AddExpr(src, e); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(postings...)
	slices.Sort(want)
	return src, f, slices.Compact(want)
}

// TestSetFaults fails every step that making filters of expressions takes, once: the error says so, and no filter stays.
func TestSetFaults(t *testing.T) {
	src, f, want := union(t)
	for _, step := range []string{"enqueue", "wait"} {
		b, faults := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.FewTiles(devicetest.Find(t, ops)))
		s, err := load(t.Context(), b, src)
		if err != nil {
			t.Fatal(err)
		}
		make := func() (plan.Sets, error) {
			var out plan.Sets
			err := s.Sets(t.Context(), f, &out)
			return out, err
		}
		for n, met := 1, true; met && n < 6; n++ {
			faults.Arm(step, n, ocl.ErrOutOfHostMemory)
			out, err := make()
			if err != nil && len(out.Filters) > 0 {
				t.Errorf("%s %d: %v, and %d filters", step, n, err, len(out.Filters))
			}
			out.Close()
			met = faults.Met(t, step, n, err)
			if out, err = make(); err != nil || int(out.Filters[0].Count()) != len(want) {
				t.Errorf("after %s %d: %v, %+v; want %d documents", step, n, err, out, len(want))
			}
			out.Close()
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if err := b.Memory.Reserve(b.Memory.Size(), "a test"); err != nil {
			t.Errorf("filters stay: %v", err)
		} else {
			b.Memory.Unreserve(b.Memory.Size())
		}
	}
}

// TestExpressionFaults fails every step that evaluating takes, once: the error says
// so, nothing stays reserved, and the next batch is answered.
func TestExpressionFaults(t *testing.T) {
	src, f, want := union(t)
	for _, step := range []string{"allocate", "build", "enqueue", "wait"} {
		b, faults := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
		for n := 1; n <= 8; n++ {
			if step == "build" && n > 1 { // programs stay when they are built
				b, faults = devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
			}
			s, err := load(t.Context(), b, src)
			if err != nil {
				t.Fatal(err)
			}
			var out plan.Results
			faults.Arm(step, n, ocl.ErrOutOfHostMemory)
			err = s.Match(t.Context(), f, &out)
			met := faults.Met(t, step, n, err)
			if err := s.Match(t.Context(), f, &out); err != nil || !slices.Equal(out.Docs, want) {
				t.Errorf("after %s %d: %d documents, want %d: %v", step, n, len(out.Docs), len(want), err)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if n := b.Memory.InUse(); n != 0 {
				t.Errorf("%d bytes are still reserved", n)
			}
			if !met {
				break
			}
		}
	}
}

// TestExpressionMemory raises the limit on memory: a load that leaves none for expressions
// is refused. With the least, callers wait for each other's scratch memory, and only an
// expression with too many lists gets an error. The limit holds throughout.
func TestExpressionMemory(t *testing.T) {
	src := &plan.Source{Docs: 20_000}
	const postings = 80
	for i := range uint32(postings) {
		var docs []uint32
		for d := range src.Docs {
			if d%postings != i && d%3 > 0 {
				docs = append(docs, d)
			}
		}
		if _, err := src.Append(codec.ParaPFor, docs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
	}
	either := func(postings int) (f plan.MatchBatch) {
		e := plan.Expr{Op: plan.OpOr}
		for h := range postings {
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
	some, all := either(postings/4), either(postings)
	tuning := devicetest.Find(t, ops).Tuning()
	tuning.RoundTiles, tuning.Slots = 8, 4
	need := func(b *device.Runtime) uint64 {
		ranges, _, err := lists.Layout(src, b.Info.MaxAlloc, lists.FilterArena)
		if err != nil {
			t.Fatal(err)
		}
		return lists.ArenaBytes(ranges) + LeastBytes()
	}
	for _, c := range []struct {
		more      int // bytes than the least
		some, all bool
	}{{-1, false, false}, {0, true, false}, {1 << 20, true, true}, {16 << 20, true, true}, {1 << 28, true, true}} {
		b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, ops), tuning)
		b.Memory.Resize(need(b) + uint64(c.more))
		s, err := load(t.Context(), b, src)
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
					err := s.run(devicetest.Limited(t), f, &out, nil, plan.BS) // which decodes all lists
					if !fits {
						devicetest.Typed(t, err, plan.ErrTooLarge, plan.ErrOutOfMemory)
					} else if want := uint64(src.Docs - (src.Docs+2)/3); err != nil || out.Count(0) != want || out.Count(2) != want {
						t.Errorf("%d more: %v, offsets %v, want %d each", c.more, err, out.Offsets, want)
					}
				}
			})
		}
		wg.Wait()
		if n := s.set.Total(); n > b.Memory.Size() || n != b.Memory.InUse() {
			t.Errorf("%d more: memory of %d bytes, %d are reserved, %d the limit", c.more, n, b.Memory.InUse(), b.Memory.Size())
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestExpressionTooLarge has expressions of as many lists as a round takes, and of one more.
func TestExpressionTooLarge(t *testing.T) {
	testneeds.OneCaller(t)
	src, _, _ := union(t)
	b, err := device.Open(t.Context(), devicetest.Find(t, ops), device.Options{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := load(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var f plan.MatchBatch
	or := func(postings int) {
		ops := []plan.Op{{List: 1}}
		for range postings - 1 {
			ops = append(ops, plan.Op{List: 1}, plan.Op{Code: plan.OpOr})
		}
		f.AddOps(ops)
	}
	var out plan.Results
	for _, postings := range []int{maxOperands, maxOperands + 1} {
		f = plan.MatchBatch{Offsets: []uint32{0}, CountOnly: true}
		or(2)
		or(postings)
		err := s.Match(t.Context(), &f, &out)
		if postings <= maxOperands && (err != nil || out.Count(0) != uint64(src.Lists[1].Len) || out.Count(1) != out.Count(0)) {
			t.Errorf("%d lists: %v, counts %v", postings, err, out.Offsets)
		}
		if _, ok := errors.AsType[*plan.DeviceError](err); postings > maxOperands && (!ok || !errors.Is(err, plan.ErrTooLarge) || !strings.Contains(err.Error(), "boolean expression 1 names 16385 lists, at most 16384")) {
			t.Errorf("%d lists: %v", postings, err)
		}
	}
}

// TestShortage makes a slot while the memory is in use elsewhere. Once it is free, rounds are
// as long as ever. An expression is too large only if it never fits.
func TestShortage(t *testing.T) {
	testneeds.OneCaller(t)
	src, f, want := union(t)
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.FewTiles(devicetest.Find(t, ops)))
	s, err := load(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	normal, _ := s.shape()
	evaluate := func() {
		t.Helper()
		var out plan.Results
		if err := s.Match(t.Context(), f, &out); err != nil || !slices.Equal(out.Docs, want) {
			t.Errorf("%d documents, want %d: %v", len(out.Docs), len(want), err)
		}
	}
	slot := func() *slot {
		x, err := s.free.Take(t.Context(), s.set.Closing, s.newSlot)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rest := b.Memory.Left()
	if err := b.Memory.Reserve(rest, "a test"); err != nil {
		t.Fatal(err)
	}
	evaluate()
	x := slot()
	if x.shape != leastShape {
		t.Errorf("nothing is left: %+v", x.shape)
	}
	words := (growth + 1<<10) / 4
	if err := x.grow(t.Context(), words); !errors.Is(err, plan.ErrOutOfMemory) || errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("others have the memory: %v", err)
	}
	b.Memory.Closed = true
	if err := x.grow(t.Context(), words); err != plan.ErrClosed {
		t.Errorf("a closed backend: %v", err)
	}
	b.Memory.Closed = false
	limit := b.Memory.Size()
	b.Memory.Unreserve(rest)
	b.Memory.Resize(b.Memory.InUse())
	if err := x.grow(t.Context(), words); !errors.Is(err, plan.ErrOutOfMemory) || !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("more than the limit: %v", err)
	}
	b.Memory.Resize(limit)
	if err := x.grow(t.Context(), int(b.Info.MaxAlloc/4)+1); !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("more than a buffer: %v", err)
	}
	x.giveBack()
	evaluate()
	x = slot()
	if x.shape.groups < min(normal.groups, fewGroups) || x.kept != leastShape.bytes() {
		t.Errorf("rounds of %d groups, want %d; %d bytes are kept", x.shape.groups, normal.groups, x.kept)
	}
	x.giveBack()
	if n := s.set.Total(); n != b.Memory.InUse() {
		t.Errorf("memory of %d bytes, %d are reserved", n, b.Memory.InUse())
	}
}
