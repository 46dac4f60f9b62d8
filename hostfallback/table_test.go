package hostfallback

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

func TestTables(t *testing.T) {
	// Under the race detector the cases are few: it asks who shares what, and takes ten
	// times as long.
	run := func(name string, opt Options, small bool) {
		t.Run(name, func(t *testing.T) {
			plantest.RunTables(t, func(*testing.T) plan.Backend { return New(opt) }, plantest.Options{Small: small, Corrupt: true})
		})
	}
	if !raceDetector {
		run("full", Options{Threads: 4}, false)
		run("onethread", Options{Threads: 1}, true)
	}
	run("lazy", Options{Threads: 3, Lazy: true}, true)
	run("noroom", Options{Threads: 2, MemoryLimit: 1}, true)
}

// openTable loads tab on a backend with opt and closes both with the test.
func openTable(tb testing.TB, tab *plan.Table, opt Options) *table {
	tb.Helper()
	b := New(opt)
	st, err := b.LoadTable(tb.Context(), tab)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { st.Close(); b.Close() })
	return st.(*table)
}

// everyKind is a table of vectors of every kind and a column of their numbers of rows.
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
				if want := find(&vector{starts: []start{{}}, shift: 30}, words, tile, &x); at != want {
					t.Fatalf("%s of %d rows: tile %d starts at %v, want %v", k.Name, rows, tile, at, want)
				}
				groups := x.groupsOf(tile)
				var set tileSet
				orWords(&set, words, at, groups)
				want := tab.Bits[v][tile*int(x.size/64):][:x.words(tile)]
				if !slices.Equal(set[:len(want)], want) || countSet(set[len(want):]) > 0 {
					t.Fatalf("%s of %d rows: tile %d has other rows", k.Name, rows, tile)
				}
				n := countSet(want)
				if has := among(words, at, groups); has == none && n > 0 || has == all && n != 64*len(want)-64+countSet([]uint64{x.last(tile)}) {
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
		st := openTable(t, &tab.Table, Options{MemoryLimit: limit, Threads: 2})
		size := st.plain.Load()
		if sizes[limit] = size; limit > 0 && size > int64(limit) {
			t.Errorf("%d bytes of plain rows under a limit of %d", size, limit)
		}
		with, without := math.MaxInt, 0 // the least words of a tile with plain rows, the most of one without
		for v := range st.vectors {
			p := st.vectors[v].Load()
			for tile := range p.starts {
				n := p.words(tile, int(tab.Vectors[v].Words))
				if p.slots != nil && p.slots[tile] > 0 {
					with = min(with, n)
				} else {
					without = max(without, n)
				}
			}
		}
		if with < without {
			t.Errorf("limit %d: a tile of %d words has plain rows, one of %d has none", limit, with, without)
		}
		if rest := int64(st.Memory()) - size - st.starts.Load(); rest != 4*int64(len(tab.Words32)+len(tab.Packed)) {
			t.Errorf("%d bytes besides plain rows and starts", rest)
		}
		var out plan.Rows
		if err := st.Select(t.Context(), sel, &out); err != nil {
			t.Fatal(err)
		}
		if err := tab.Compare(sel, want, &out); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	if sizes[0] <= sizes[200_000] || sizes[200_000] <= sizes[100_000] || sizes[100_000] <= sizes[1] || sizes[1] != 0 {
		t.Errorf("sizes of plain rows by limit: %v", sizes)
	}
}

// TestLazyTable: the starts of a vector are found when it is first used, its plain rows
// made when it is used again.
func TestLazyTable(t *testing.T) {
	tab := everyKind(t, 200_000, 64)
	st := openTable(t, &tab.Table, Options{Lazy: true})
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
		if starts, plain := st.starts.Load() > 0, st.plain.Load() > 0; starts != want.starts || plain != want.plain {
			t.Errorf("after %d uses: starts %t, plain rows %t", uses, starts, plain)
		}
		if p := st.vectors[tenth-1].Load(); p != nil {
			t.Error("a vector that nobody used was looked at")
		}
		if text := st.Explain(sel, 0); strings.Contains(text, "plain") != want.plain || !strings.HasPrefix(text, "fused, 1 vectors, 0.0 MB") {
			t.Errorf("after %d uses: %q", uses, text)
		}
	}
}

// TestAutoStrategy: Auto joins vectors of few words, and says so.
func TestAutoStrategy(t *testing.T) {
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
	st := openTable(t, &tab.Table, Options{})
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

// TestTableAllocations: a batch that has been run before allocates nothing, however many
// its selections are, but for what starts goroutines.
func TestTableAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	tab := everyKind(t, 100_000, 32)
	for _, threads := range []int{1, 2} {
		st := openTable(t, &tab.Table, Options{Threads: threads})
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
