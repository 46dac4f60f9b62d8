package bitmap

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// TestColumnsMemory takes passes if memory is short, and fails if two columns do not fit.
func TestColumnsMemory(t *testing.T) {
	d := devicetest.Find(t, ops)
	tab, groups := groupedVectors(100_000, 32)
	var s plan.SelectBatch
	for v := range 100 {
		s.Operands = append(s.Operands, uint32(v%len(groups)))
	}
	s.Steps, s.Rescan = []plan.Step{{Code: plan.StepAny, To: 100}}, true
	s.End()
	passes := map[int]bool{}
	for limit := uint64(32 << 20); ; limit = limit / 8 * 5 {
		b, err := device.Open(t.Context(), d, device.Options{MemoryLimit: limit, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		failed := false
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			var s = s
			st, err := load(t.Context(), b, &tab.Table)
			if failed = errors.Is(err, plan.ErrOutOfMemory); failed {
				return
			}
			st.Close()
			n := newColumnsRun(t, b, &tab.Table)
			s.Strategy = plan.Hybrid
			err = n.run(&s)
			if failed = errors.Is(err, plan.ErrOutOfMemory); failed {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			passes[len(n.steps[0])] = true
			if two := 2 * (n.columnBytes() + 8*uint64(n.groups)); n.s.slotBytes.Load() > max(limit/8, two)+1<<16 {
				t.Errorf("%d bytes of scratch of a limit of %d", n.s.slotBytes.Load(), limit)
			}
			n.checkColumns(t, groups, &s)
		})
		if used := b.Memory.InUse(); used != 0 {
			t.Errorf("%d bytes are still reserved", used)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if failed || t.Failed() {
			break
		}
	}
	if !passes[1] || len(passes) < 4 {
		t.Errorf("numbers of passes %v, want one and many others", passes)
	}
}

// TestColumnsBuffers takes passes if the largest buffer does not hold all columns, and fails if
// it does not hold the results.
func TestColumnsBuffers(t *testing.T) {
	testneeds.OneCaller(t)
	poor := devicetest.Find(t, ops).With(func(i *plan.Info, _ *device.Tuning) { i.MaxAlloc = 1 << 20 })
	b := devicetest.OpenRow(t, poor, poor.Tuning(), false)
	tab, groups := groupedVectors(100_000, 32) // 81 columns
	n := newColumnsRun(t, b, &tab.Table)
	var s plan.SelectBatch
	for v := range uint32(200) {
		s.Operands = append(s.Operands, v%uint32(len(groups)))
	}
	s.Strategy, s.Steps = plan.IdealHybrid, []plan.Step{{Code: plan.StepAny, To: 200}, {Code: plan.StepAny, From: 7, To: 9}}
	s.End()
	for _, s.Rescan = range []bool{false, true} {
		if err := n.run(&s); err != nil {
			t.Fatal(err)
		}
		if got := len(n.steps[0]); got < 3 {
			t.Errorf("rescan %t: %d passes over 200 columns", s.Rescan, got)
		}
		n.checkColumns(t, groups, &s)
	}
	for range 100 {
		s.Any(1, 2)
	}
	if err := n.run(&s); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("102 results in a buffer of 81: %v", err)
	}
}

// TestColumnsArena decompresses vectors of several buffers.
func TestColumnsArena(t *testing.T) {
	testneeds.OneCaller(t)
	poor := devicetest.Find(t, ops).With(func(i *plan.Info, _ *device.Tuning) { i.MaxAlloc = 1 << 20 })
	b := devicetest.OpenRow(t, poor, poor.Tuning(), false)
	tab := plantest.NewTable(500_000, 32)
	var groups [][]uint64
	for v := range uint32(20) { // of 64 KB each
		bits := make([]uint64, (tab.Rows+63)/64)
		for row := uint32(0); row < tab.Rows; row += v + 2 {
			bits[row/64] |= 1 << (row % 64)
		}
		groups = append(groups, addGrouped(tab, bits))
	}
	n := newColumnsRun(t, b, &tab.Table)
	if n.s.arena.Buffers[1] == n.s.arena.Buffers[0] {
		t.Fatalf("%d words in one buffer", len(tab.Words32))
	}
	var s plan.SelectBatch
	s.Any(3, 19)
	s.Any(18, 7, 17, 2)
	s.End()
	n.testColumns(t, groups, &s)
}

// TestColumnsCorrupt decompresses words that changed after loading. The result may be any
// column without bits outside of groups.
func TestColumnsCorrupt(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range columnForms(d) {
		t.Run(name, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, form, false)
			r := rand.New(rand.NewPCG(5, 6))
			rows := uint32(20_000)
			if devicetest.Small() {
				rows = 5_000
			}
			for _, word := range []int{32, 64} {
				tab, _ := groupedVectors(rows, word)
				n := newColumnsRun(t, b, &tab.Table)
				words := slices.Clone(vectorSource(&tab.Table).Words)
				for i := range words {
					if r.IntN(3) == 0 {
						words[i] = []uint32{0, 1 << 31, 1<<32 - 1, r.Uint32()}[r.IntN(4)]
					}
				}
				if err := b.WriteWords(t.Context(), n.s.arena.Buffers[0], 0, words); err != nil {
					t.Fatal(err)
				}
				s := columnSteps(len(tab.Vectors), 40)
				for i, strategy := range columnStrategies {
					for _, rescan := range []bool{false, true} {
						if devicetest.Small() && rescan != (word == 64) == (i%2 == 0) {
							continue
						}
						s.Strategy, s.Rescan = strategy, rescan
						if err := n.run(s); err != nil {
							t.Fatal(err)
						}
						for i := range s.Steps {
							for g, w := range n.column(t, i) {
								if w>>(word-1) != 0 || g >= n.groups && w != 0 {
									t.Fatalf("%v: group %d of %d is %x", s.Strategy, g, n.groups, w)
								}
							}
						}
					}
				}
			}
		})
	}
}

// TestReduceColumns compares with the formulas of Nelson et al. 2020.
func TestReduceColumns(t *testing.T) {
	for _, m := range []int{2, 4, 32, 64, 100, 1000} {
		tiles := (m + 2*hybridPairs - 1) / (2 * hybridPairs)
		want := map[plan.Strategy][2]int{plan.COA: {2*m - 2, m - 1}, plan.ROA: {m, 1}, plan.IdealHybrid: {m, 1}, plan.Hybrid: {m, 1}}
		if tiles > 1 {
			want[plan.Hybrid] = [2]int{m + tiles, tiles + 1}
		}
		for s, want := range want {
			if reads, writes := reduceColumns(s, m); reads != want[0] || writes != want[1] {
				t.Errorf("%v of %d columns reads %d and writes %d, want %d", s, m, reads, writes, want)
			}
		}
	}
}

// TestColumnsStats checks the statistics of a batch: times of both stages, the bytes of the
// reduction, and memory that is kept for the next batch and freed at the end.
func TestColumnsStats(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	b, err := device.Open(t.Context(), d, device.Options{Profiling: true, CountLoads: true, SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tab, _ := groupedVectors(50_000, 32)
	s, err := load(t.Context(), b, &tab.Table)
	if err != nil {
		t.Fatal(err)
	}
	var sel plan.SelectBatch
	sel.Any(1, 2, 3, 4, 5, 6, 7, 8)
	sel.End()
	moved, before := map[plan.Strategy]uint64{}, s.Memory()
	for _, sel.Rescan = range []bool{false, true} {
		for _, sel.Strategy = range columnStrategies {
			var out plan.Rows
			if err := s.Select(t.Context(), &sel, &out); err != nil {
				t.Fatal(err)
			}
			if st := out.Stats; st.Decode <= 0 || st.Probe <= 0 || st.BytesMoved <= moved[sel.Strategy] {
				t.Errorf("%v, rescan %t: %+v", sel.Strategy, sel.Rescan, out.Stats)
			}
			moved[sel.Strategy] = out.Stats.BytesMoved
			if text := s.Explain(&sel, 0); !strings.Contains(text, "8 columns of 0.0 MB, whose reduction reads") {
				t.Errorf("%v explains itself by %q", sel.Strategy, text)
			}
		}
		column := 4 * uint64((tab.Groups()+3)/4*4)
		if more := moved[plan.COA] - moved[plan.ROA]; more != (14+7-8-1)*column {
			t.Errorf("coa moves %d bytes more than roa, of columns of %d", more, column)
		}
	}
	after := s.Memory()
	if after <= before || after != b.Memory.InUse() {
		t.Errorf("%d bytes after %d, %d are reserved", after, before, b.Memory.InUse())
	}
	var out plan.Rows
	if err := s.Select(t.Context(), &sel, &out); err != nil || s.Memory() != after {
		t.Errorf("%d bytes after another batch, %d before: %v", s.Memory(), after, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := b.Memory.InUse(); n != 0 {
		t.Errorf("%d bytes are still reserved", n)
	}
}
