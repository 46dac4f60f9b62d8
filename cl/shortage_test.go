package cl

import (
	"errors"
	"slices"
	"testing"

	"heddle/engine/plan"
)

// TestShortageOfRanking makes a slot do with less: it is what it was once it is given
// back. Accumulators of all documents may take what the slot has, and say at once that
// others have it.
func TestShortageOfRanking(t *testing.T) {
	src, r, want := rankQuestion(t, plan.Or)
	b, _ := openFaulty(t, fewTiles(t))
	s, err := b.load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	slot := func() *rankSlot {
		x, err := s.freeRanks.take(t.Context(), s.closing, s.newRankSlot)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rank := func(a plan.Accumulators) error {
		var out plan.TopK
		r.Accumulators = a
		err := s.rankAll(t.Context(), r, &out)
		if err == nil && !slices.Equal(keysOf(&out, 0), want) {
			t.Errorf("accumulators %v: %d documents, or others, want %d", a, len(out.Docs), len(want))
		}
		return err
	}
	if err := rank(plan.RangeAccumulators); err != nil {
		t.Fatal(err)
	}
	x := slot()
	if x.docs.words == 0 || !x.halve() || x.cut.shape == x.shape || x.docs.words != 0 {
		t.Errorf("half of %+v is %+v", x.shape, x.cut.shape)
	}
	x.giveBack()
	if x.cut.shape != x.shape {
		t.Errorf("given back it has %+v of %+v", x.cut.shape, x.shape)
	}
	if err := rank(plan.RangeAccumulators); err != nil {
		t.Fatal(err)
	}
	for _, held := range []int{4<<20 + 4*int(src.Docs), 0} {
		x = slot()
		x.dropAll()
		if err := x.room(&x.docs, held, held, "a test"); err != nil {
			t.Fatal(err)
		}
		x.giveBack()
		rest := b.left()
		if err := b.reserve(rest, "a test"); err != nil {
			t.Fatal(err)
		}
		err := rank(plan.GlobalAccumulators)
		if held > 0 && err != nil || held == 0 && (!errors.Is(err, plan.ErrOutOfMemory) || isReserved(err)) {
			t.Errorf("the slot has %d words, others the rest: %v", held, err)
		}
		b.unreserve(rest)
	}
	if err := errors.Join(rank(plan.GlobalAccumulators), rank(plan.RangeAccumulators)); err != nil {
		t.Error(err)
	}
	if n := s.Memory(); n != inUse(b) {
		t.Errorf("memory of %d bytes, %d are reserved", n, inUse(b))
	}
}

// TestShortageOfFormulas has a slot made while others have the memory: once they have
// not, its rounds are as long as ever. A formula that they leave no memory for is not too
// large; one that never fits is.
func TestShortageOfFormulas(t *testing.T) {
	src, f, want := union(t)
	b, _ := openFaulty(t, fewTiles(t))
	s, err := b.load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	normal, _ := s.formulaShape()
	evaluate := func() {
		t.Helper()
		var out plan.Results
		if err := s.Match(t.Context(), f, &out); err != nil || !slices.Equal(out.Docs, want) {
			t.Errorf("%d documents, want %d: %v", len(out.Docs), len(want), err)
		}
	}
	slot := func() *formulaSlot {
		x, err := s.freeFormulas.take(t.Context(), s.closing, s.newFormulaSlot)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rest := b.left()
	if err := b.reserve(rest, "a test"); err != nil {
		t.Fatal(err)
	}
	evaluate()
	x := slot()
	if x.shape != leastFormulas {
		t.Errorf("nothing is left: %+v", x.shape)
	}
	words := (formulaGrowth + 1<<10) / 4
	if err := x.grow(t.Context(), words); !errors.Is(err, plan.ErrOutOfMemory) || errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("others have the memory: %v", err)
	}
	b.closed = true
	if err := x.grow(t.Context(), words); err != plan.ErrClosed {
		t.Errorf("a closed backend: %v", err)
	}
	b.closed = false
	limit := b.limit
	b.unreserve(rest)
	b.limit = b.used
	if err := x.grow(t.Context(), words); !errors.Is(err, plan.ErrOutOfMemory) || !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("more than the limit: %v", err)
	}
	b.limit = limit
	if err := x.grow(t.Context(), int(b.dev.info.MaxAlloc/4)+1); !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("more than a buffer: %v", err)
	}
	x.giveBack()
	evaluate()
	x = slot()
	if x.shape.groups < min(normal.groups, formulaGroups) || x.kept != leastFormulas.bytes() {
		t.Errorf("rounds of %d groups, want %d; %d bytes are kept", x.shape.groups, normal.groups, x.kept)
	}
	x.giveBack()
	if n := s.Memory(); n != inUse(b) {
		t.Errorf("memory of %d bytes, %d are reserved", n, inUse(b))
	}
}
