package bitmap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/filter"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// slicedKinds are codes whose tiles have all forms of slices and bounds.
var slicedKinds = []struct {
	name string
	code func(r *rand.Rand, row uint64) uint64
}{
	{"one value", func(*rand.Rand, uint64) uint64 { return 7 }},
	{"64 values", func(r *rand.Rand, _ uint64) uint64 { return r.Uint64N(64) }},
	{"heavy tail", func(r *rand.Rand, _ uint64) uint64 { return uint64(math.Pow(1-r.Float64(), -1.2)) }},
	{"heavy tail below the greatest code", func(r *rand.Rand, _ uint64) uint64 {
		return math.MaxUint64 - uint64(math.Pow(1-r.Float64(), -1.2))
	}},
	{"sorted", func(_ *rand.Rand, row uint64) uint64 { return 1<<40 + row/3 }},
	{"clusters", func(r *rand.Rand, row uint64) uint64 { return row/5000<<33 | r.Uint64N(100) }},
	{"64 bits", func(r *rand.Rand, _ uint64) uint64 { return r.Uint64() }},
	{"least and greatest", func(r *rand.Rand, _ uint64) uint64 { return -r.Uint64N(2) }},
	{"33 bits", func(r *rand.Rand, _ uint64) uint64 { return 1<<60 + r.Uint64N(1<<33) }},
}

// slicedTable has a column of each kind, and each one again with rows without a value: some of many tiles, all of one.
func slicedTable(t *testing.T, rows uint32) *plantest.Table {
	r := plantest.RNG(t)
	tab := plantest.EveryVector(t, rows, 32)
	tab.Columns, tab.Slices, tab.Codes, tab.Has = nil, nil, nil, nil
	has := plantest.NewFilter(rows, func(row uint32) bool { return row/4096 != 1 && r.IntN(9) > 0 })
	for _, k := range slicedKinds {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = k.code(r, uint64(row))
		}
		tab.AddTiles(t, codes, nil)
		tab.AddTiles(t, codes, has)
	}
	return tab
}

// boundaries are ranges that end at codes of a column and beside them.
func boundaries(r *rand.Rand, codes []uint64) (all [][]plan.CodeRange) {
	one := func(lo, hi uint64) { all = append(all, []plan.CodeRange{{Lo: min(lo, hi), Hi: max(lo, hi)}}) }
	pick := func() uint64 { return codes[r.IntN(len(codes))] }
	one(0, math.MaxUint64)
	one(slices.Min(codes), slices.Max(codes))
	one(slices.Min(codes)-1, slices.Min(codes))
	one(slices.Max(codes), slices.Max(codes)+1)
	for range 4 {
		x, y := pick(), pick()
		one(x, x)
		one(x, y)
		one(x+1, y)
		one(x, y-1)
		one(0, x)
		one(x, math.MaxUint64)
	}
	for _, n := range []int{0, 2, 4, 5, 300} {
		all = append(all, plantest.RandomRanges(r, codes[:min(len(codes), n)]))
		ends := make([]uint64, 2*n)
		for i := range ends {
			ends[i] = pick()
		}
		all = append(all, plantest.RangesBetween(ends))
	}
	return all
}

// TestSlices compares selections in slices alone with the plain evaluator, in tables whose last tile is short.
func TestSlices(t *testing.T) {
	d := devicetest.Find(t, ops)
	for name, shape := range devicetest.Shapes(d) {
		rt := devicetest.OpenRow(t, d, shape, false)
		for _, rows := range []uint32{31, 4096*2 + 129, 4096 * 9, 4096*10 + 1} {
			t.Run(fmt.Sprintf("%s/%d", name, rows), func(t *testing.T) {
				r := plantest.RNG(t)
				tab := slicedTable(t, rows)
				s, err := load(t.Context(), rt, &tab.Table)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				var sel plan.SelectBatch
				for c := range uint32(len(tab.Columns)) {
					for _, ranges := range boundaries(r, tab.Codes[c]) {
						sel.Do(plan.StepAll)
						sel.Check(c, ranges...)
						switch r.IntN(4) { // rows without a value under NOT, and another column
						case 0:
							sel.Do(plan.StepNot)
						case 1:
							sel.Do(plan.StepAll)
							sel.Check(uint32(r.IntN(len(tab.Columns))), ranges...)
							sel.Do([]plan.StepCode{plan.StepAnd, plan.StepOr, plan.StepAndNot}[r.IntN(3)])
						}
						sel.End()
					}
				}
				want := tab.Scan(&sel)
				for _, sel.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts} {
					var out plan.Rows
					if err := s.Select(t.Context(), &sel, &out); err != nil {
						t.Fatal(err)
					}
					if err := tab.Compare(&sel, want, &out); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestSlicesBuffers has columns whose tiles lie in several buffers: selections, numbers of codes and groups.
func TestSlicesBuffers(t *testing.T) {
	d := devicetest.Find(t, ops)
	const rows = 4096*10 + 70
	tab := slicedTable(t, rows)
	poor := d.With(func(i *plan.Info, _ *device.Tuning) { i.MaxAlloc = 1 << 20 })
	for name, shape := range devicetest.Shapes(d) {
		rt := devicetest.OpenRow(t, poor, shape, false)
		t.Run(name, func(t *testing.T) {
			s, err := load(t.Context(), rt, &tab.Table)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			v, err := s.allValues(t.Context())
			if err != nil || v.arena.Single() {
				t.Fatalf("slices lie in one buffer, %v", err)
			}
			var sel plan.SelectBatch
			for c := range uint32(len(tab.Columns)) {
				sel.Do(plan.StepAll)
				sel.Check(c, plantest.RandomRanges(plantest.RNG(t), tab.Codes[c])...)
				sel.End()
			}
			var out plan.Rows
			if err := s.Select(t.Context(), &sel, &out); err != nil {
				t.Fatal(err)
			}
			if err := tab.Compare(&sel, tab.Scan(&sel), &out); err != nil {
				t.Error(err)
			}
			all := plantest.NewFilter(rows, func(uint32) bool { return true })
			var inputs []plan.Input
			for c := range uint32(len(tab.Columns)) {
				in := plan.Input{Column: c, Last: slices.Max(tab.Codes[c])}
				if in.Last > 1000 {
					in.Bounds = []uint64{in.Last / 3, in.Last / 3 * 2}
				}
				inputs = append(inputs, in)
			}
			counts, err := s.countCodes(t.Context(), all, inputs)
			if err != nil {
				t.Fatal(err)
			}
			var every plan.SelectBatch
			every.Do(plan.StepAll)
			every.Check(4, plan.CodeRange{Hi: math.MaxUint64})
			every.End()
			for _, in := range inputs {
				want := make([]uint64, in.Top()+2)
				sums := make([]uint64, in.Top()+2)
				for row := range uint32(rows) {
					place := uint64(0)
					if has := tab.Has[in.Column]; has == nil || has[row/64]>>(row%64)&1 != 0 {
						if place = tab.Codes[in.Column][row] + 1; in.Bounds != nil {
							place = in.Bin(place-1) + 1
						}
					}
					want[place]++
					if tab.Has[5][row/64]>>(row%64)&1 != 0 {
						sums[place] += tab.Codes[5][row]
					}
				}
				if !slices.Equal(counts[in.Column], want) {
					t.Errorf("column %d: %v, want %v", in.Column, counts[in.Column], want)
				}
				for _, by := range [][]int{{int(in.Column)}, nil} {
					cells, err := s.measure(t.Context(), &every, &plan.Aggregation{Inputs: append(inputs, plan.Input{Column: 5, Last: slices.Max(tab.Codes[5])}),
						Groupings: by, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: len(inputs)}}})
					if err != nil {
						t.Fatal(err)
					}
					if by == nil {
						for _, n := range sums[1:] {
							sums[0] += n
						}
						sums, want = sums[:1], []uint64{rows}
					}
					if !slices.Equal(cells.Sums[0], sums) || !slices.Equal(cells.Rows, want) {
						t.Errorf("groups by %v: sums %v of %v rows, want %v of %v", by, cells.Sums[0], cells.Rows, sums, want)
					}
				}
			}
		})
	}
}

// TestSlicesFilters makes filters of selections in slices alone, the second one inside the first one, and reads the listed
// rows, whose places follow from the numbers of rows of tiles.
func TestSlicesFilters(t *testing.T) {
	d := devicetest.Find(t, ops)
	const rows = 4096*20 + 4000
	tab := slicedTable(t, rows)
	for name, shape := range devicetest.Shapes(d) {
		t.Run(name, func(t *testing.T) {
			rt, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			s, err := load(t.Context(), rt, &tab.Table)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var two, alone plan.SelectBatch
			two.Do(plan.StepAll)
			two.Check(3, plan.CodeRange{Lo: 15, Hi: 16})
			alone.Do(plan.StepAll)
			alone.Check(9, plan.CodeRange{Hi: 1<<40 + rows/4})
			for _, step := range alone.Steps {
				two.Copy(&alone, []plan.Step{step})
			}
			two.Do(plan.StepAnd)
			two.End()
			alone.End()
			first, err := s.Filter(t.Context(), &alone, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer first.Close()
			var inner plan.SelectBatch
			inner.Copy(&two, two.Steps[:2])
			inner.End()
			second, err := s.Filter(t.Context(), &inner, first)
			if err != nil {
				t.Fatal(err)
			}
			defer second.Close()
			var want []uint32
			for w, bits := range tab.Scan(&two)[0] {
				for k := range uint32(64) {
					if bits>>k&1 != 0 {
						want = append(want, uint32(w)*64+k)
					}
				}
			}
			if got := listed(t, rt, filter.Of(second)); !slices.Equal(got, want) {
				t.Errorf("%d rows %d, want %d %d", len(got), got[:min(len(got), 9)], len(want), want[:9])
			}
		})
	}
}

// listed downloads the rows of a listed filter.
func listed(t *testing.T, rt *device.Runtime, f *filter.Set) []uint32 {
	docs := f.Docs()
	if docs == nil {
		t.Fatalf("%d rows are not listed", f.Count())
	}
	x := device.NewFlight(rt, rt.Memory)
	defer x.Release()
	if err := x.Open(4, int(f.Count())); err != nil {
		t.Fatal(err)
	}
	err := rt.Regions.Fill(func(m *ocl.MemObject) error {
		defer x.ReleaseEvents()
		if err := rt.Do(func() error { return x.ReadAt(m, 4*int(docs[0]), 0, int(f.Count())) }); err != nil {
			return err
		}
		return x.WaitHere(x.Last())
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(x.Down.Words[:f.Count()])
}

// TestSlicesStop counts the loads of selections: bounds decide tiles, and slices below the last undecided row are
// not read.
func TestSlicesStop(t *testing.T) {
	const rows = 4096 * 20
	for name, b := range counting(t) {
		r := plantest.RNG(t)
		tab := plantest.NewTable(rows, 32)
		codes, sorted := make([]uint64, rows), make([]uint64, rows)
		for row := range codes {
			codes[row], sorted[row] = r.Uint64N(1<<20), uint64(row)
			if row%bitslice.TileRows == 0 {
				codes[row] = 0
			}
		}
		tab.AddTiles(t, codes, nil)
		tab.AddTiles(t, sorted, nil)
		s, err := Load(t.Context(), b, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		moved := func(column uint32, in ...plan.CodeRange) int {
			sel := &plan.SelectBatch{Output: plan.OutputCounts}
			sel.Do(plan.StepAll)
			for _, x := range in {
				sel.Check(column, x)
			}
			sel.End()
			return int(bytesMoved(t, s, tab, sel))
		}
		const all = rows / 8 * 20
		for _, c := range []struct {
			name  string
			bytes int
			most  int
		}{
			{"all slices", moved(0, plan.CodeRange{Lo: 333_333, Hi: 777_777}), all},
			{"one code", moved(0, plan.CodeRange{Lo: 77_777, Hi: 77_777}), all * 3 / 4},
			{"a bound of few bits", moved(0, plan.CodeRange{Hi: 1<<18 - 1}), all / 9},
			{"no row", moved(0, plan.CodeRange{Lo: 1 << 20, Hi: 1 << 21}), 0},
			{"all rows", moved(0, plan.CodeRange{Hi: 1 << 20}), 0},
			{"no row is left", moved(0, plan.CodeRange{Lo: 1 << 20, Hi: 1 << 30}, plan.CodeRange{Lo: 333_333, Hi: 777_777}), 0},
			{"one tile of a sorted column", moved(1, plan.CodeRange{Lo: 5000, Hi: 6000}), 4096 / 8 * 12},
		} {
			if c.bytes > c.most || c.bytes == 0 && c.most > 0 {
				t.Errorf("%s, %s: %d bytes, at most %d", name, c.name, c.bytes, c.most)
			}
		}
	}
}

// TestSlicesMemory counts tiles as memory of the store.
func TestSlicesMemory(t *testing.T) {
	d := devicetest.Find(t, ops)
	rt := devicetest.OpenRow(t, d, d.Tuning(), false)
	tab := slicedTable(t, 10_000)
	s, err := load(t.Context(), rt, &tab.Table)
	if err != nil {
		t.Fatal(err)
	}
	before := s.Memory()
	if _, err := s.allValues(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, least := s.Memory()-before, 4*uint64(len(tab.Slices)+tileWords*len(tab.Columns)*bitslice.Tiles(10_000)); n < least || n > least+100 {
		t.Errorf("values take %d bytes, want %d", n, least)
	}
	if used := rt.Memory.InUse(); used != s.Memory() {
		t.Errorf("%d bytes are reserved, the store has %d", used, s.Memory())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := rt.Memory.InUse(); n != 0 {
		t.Errorf("%d bytes are still reserved", n)
	}
}
