package bitmap

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback/work"
)

// loadAll loads tab with a memory limit in bytes, 0 for the default, and builds the starts and the plain rows of all vectors.
func loadAll(tb testing.TB, tab *plan.Table, threads int, limit uint64) *Table {
	tb.Helper()
	t := Load(tab, work.Resources{Threads: threads, Memory: work.NewBudget(limit, Usual(tab))})
	every := make([]uint32, len(tab.Vectors))
	for v := range every {
		every[v] = uint32(v)
	}
	for range 2 { // uses
		if err := t.prepare(tb.Context(), every); err != nil {
			tb.Fatal(err)
		}
	}
	return t
}

// everyKind returns a table with a vector of every kind and a column of random codes.
func everyKind(tb testing.TB, rows uint32, word int) *plantest.Table {
	r := rand.New(rand.NewPCG(uint64(rows), uint64(word)))
	tab := plantest.NewTable(rows, word)
	for _, k := range plantest.VectorKinds() {
		tab.AddVector(k.Gen(r, rows))
	}
	codes := make([]uint64, rows)
	for row := range codes {
		codes[row] = r.Uint64N(1000)
	}
	tab.AddCodes(tb, codes)
	return tab
}

// TestStarts compares the start of every tile with a walk over all words.
func TestStarts(t *testing.T) {
	t.Run("wah32", func(t *testing.T) { testStarts(t, 32, (*plan.Table).Vector32) })
	t.Run("wah64", func(t *testing.T) { testStarts(t, 64, (*plan.Table).Vector64) })
}

func testStarts[W wah.Word](t *testing.T, word int, of func(*plan.Table, uint32) []W) {
	for _, rows := range []uint32{1, 63487, 63488, 63489, 64512, 64513, 700_001} {
		tab := everyKind(t, rows, word)
		x := tilingOf(&tab.Table)
		for v, k := range plantest.VectorKinds() {
			words := of(&tab.Table, uint32(v))
			var p vector
			findStarts(&p, words, &x)
			if 8*len(p.starts) > max(8, len(words)) {
				t.Errorf("%s of %d rows: %d starts for %d words", k.Name, rows, len(p.starts), len(words))
			}
			for tile := range x.tiles {
				at := find(&p, words, tile, &x)
				if want := find(&vector{starts: []start{{}}, startShift: 30}, words, tile, &x); at != want {
					t.Fatalf("%s of %d rows: tile %d starts at %v, want %v", k.Name, rows, tile, at, want)
				}
				groups := x.groupsOf(tile)
				var rows set
				orWords(&rows, words, at, groups)
				want := tab.Bits[v][tile*int(x.tileRows/64):][:x.words(tile)]
				if !slices.Equal(rows[:len(want)], want) || countSet(rows[len(want):]) > 0 {
					t.Fatalf("%s of %d rows: tile %d has other rows", k.Name, rows, tile)
				}
				n := countSet(want)
				if has := among(words, at, groups); has == none && n > 0 || has == all && n != 64*len(want)-64+countSet([]uint64{x.lastMask(tile)}) {
					t.Fatalf("%s of %d rows: tile %d has %v, and %d rows", k.Name, rows, tile, has, n)
				}
			}
		}
	}
}

// TestPlainRows loads tables with room for all plain rows, for some and for none.
func TestPlainRows(t *testing.T) {
	tab := everyKind(t, 300_000, 32)
	sel := new(plan.SelectBatch)
	for v := range tab.Bits {
		sel.Any(uint32(v))
		sel.End()
	}
	want := tab.Scan(sel)
	sizes := map[uint64]int64{}
	for _, limit := range []uint64{0, 200_000, 100_000, 1} {
		st := loadAll(t, &tab.Table, 2, limit)
		size := st.work.Memory.Used()
		if sizes[limit] = size; limit > 0 && size > int64(limit) {
			t.Errorf("%d bytes of plain rows under a limit of %d", size, limit)
		}
		if rest := int64(st.Memory()) - size - st.startBytes.Load(); rest != 4*int64(len(tab.Words32)+len(tab.Slices)) {
			t.Errorf("%d bytes besides plain rows and starts", rest)
		}
		var out plan.Rows
		if err := st.Select(t.Context(), sel, &out); err != nil {
			t.Fatal(err)
		}
		out.Stats.Wall = 1 // package hostfallback measures it
		if err := tab.Compare(sel, want, &out); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	if sizes[0] <= sizes[200_000] || sizes[200_000] <= sizes[100_000] || sizes[100_000] <= sizes[1] || sizes[1] != 0 {
		t.Errorf("sizes of plain rows by limit: %v", sizes)
	}
}

// TestSecondUse: the starts of a vector are built at its first use, its plain rows at the
// second.
func TestSecondUse(t *testing.T) {
	tab := everyKind(t, 200_000, 64)
	st := Load(&tab.Table, work.Resources{Threads: 2, Memory: work.NewBudget(0, Usual(&tab.Table))})
	sel := new(plan.SelectBatch)
	const tenth = 12
	sel.Any(tenth)
	sel.End()
	for uses, want := range []struct{ starts, plain bool }{{}, {true, false}, {true, true}, {true, true}} {
		if uses > 0 {
			if err := st.Select(t.Context(), sel, new(plan.Rows)); err != nil {
				t.Fatal(err)
			}
		}
		if starts, plain := st.startBytes.Load() > 0, st.work.Memory.Used() > 0; starts != want.starts || plain != want.plain {
			t.Errorf("after %d uses: starts %t, plain rows %t", uses, starts, plain)
		}
		if p := st.vectors[tenth-1].Load(); p != nil {
			t.Error("an unused vector was read")
		}
		if text := st.Explain(sel, 0); strings.Contains(text, "plain") != want.plain || !strings.HasPrefix(text, "fused, 1 vectors, 0.0 MB") {
			t.Errorf("after %d uses: %q", uses, text)
		}
	}
}

// TestAutoStrategy: Auto joins compressed vectors of few words, and Explain names its
// choice.
func TestAutoStrategy(t *testing.T) {
	testneeds.Sequential(t)
	const rows = 1 << 22
	tab := plantest.NewTable(rows, 32)
	r := rand.New(rand.NewPCG(1, 1))
	for v := range 2 * reductionOperands {
		set := make([]uint64, rows/64)
		set[r.IntN(len(set))] = 1
		if v >= reductionOperands {
			set = plantest.VectorKinds()[11].Gen(r, rows) // one row of a thousand
		}
		tab.AddVector(set)
	}
	st := loadAll(t, &tab.Table, 2, 0)
	for _, c := range []struct {
		from, to int
		want     plan.Strategy
	}{{0, 0, plan.Fused}, {0, 1, plan.Fused}, {0, reductionOperands - 1, plan.Fused}, {0, reductionOperands, plan.Reduction},
		{reductionOperands, 2 * reductionOperands, plan.Fused}, {1, 2 * reductionOperands, plan.Fused}} {
		sel := new(plan.SelectBatch)
		for v := c.from; v < c.to; v++ {
			sel.Operands = append(sel.Operands, uint32(v))
		}
		sel.Steps = []plan.Step{{Code: plan.StepAny, To: uint32(c.to - c.from)}}
		sel.End()
		if got := st.strategy(sel); got != c.want || !strings.HasPrefix(st.Explain(sel, 0), c.want.String()+", ") {
			t.Errorf("vectors %d to %d: %v, %q, want %v", c.from, c.to, got, st.Explain(sel, 0), c.want)
		}
		var out plan.Rows
		if err := st.Select(t.Context(), sel, &out); err != nil {
			t.Fatal(err)
		}
		want := make([]uint64, rows/64)
		for _, v := range sel.Operands {
			orSet(want, tab.Bits[v])
		}
		if !slices.Equal(out.Bits, want) || int(out.Counts[0]) != countSet(want) {
			t.Errorf("vectors %d to %d: other rows", c.from, c.to)
		}
	}
}

// counted is a context that ends after some calls of Err.
type counted struct {
	context.Context
	left int
	done chan struct{}
}

func (c *counted) Done() <-chan struct{} { return c.done }

func (c *counted) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	return context.Canceled
}

// TestCancelInsideTask: a task of many selections ends with its context, long before its last
// selection.
func TestCancelInsideTask(t *testing.T) {
	tab := everyKind(t, 100_000, 64)
	st := loadAll(t, &tab.Table, 1, 0)
	sel := new(plan.SelectBatch)
	const selections = 2000
	for range selections {
		sel.Any(12)
		sel.End()
	}
	const tasks = 16 // tasks of one thread, which checks the context once before each
	ctx := &counted{Context: t.Context(), left: tasks + 2, done: make(chan struct{})}
	if err := st.Select(ctx, sel, new(plan.Rows)); !errors.Is(err, context.Canceled) {
		t.Errorf("2000 selections after the context ended: %v", err)
	}
	if err := st.Select(t.Context(), sel, new(plan.Rows)); err != nil {
		t.Error(err)
	}
}
