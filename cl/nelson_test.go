package cl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// nelsonStrategies are those that decompress.
var nelsonStrategies = slices.DeleteFunc(slices.Clone(tableStrategies), func(s plan.Strategy) bool { return s == plan.Fused })

// nelsonRun is a nelson over a table, in a queue that has nothing else to do.
type nelsonRun struct {
	*columns
	b *opened
}

func newNelsonRun(t testing.TB, b *opened, tab *plan.Table) nelsonRun {
	t.Helper()
	s, err := loadUntested(t.Context(), b, tab)
	if err != nil {
		t.Fatal(err)
	}
	x := newFlight(b, b.memory)
	t.Cleanup(func() {
		x.land()
		x.release()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if x.queue, err = b.newQueue(); err != nil {
		t.Fatal(err)
	}
	n, err := newColumns(&x, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.release)
	return nelsonRun{n, b}
}

// run ORs the operands of the steps of s into columns, one step after the other.
func (n nelsonRun) run(s *plan.SelectBatch) error {
	if err := n.prepare(s, len(s.Steps)); err != nil {
		return err
	}
	return n.b.do(func() error {
		err := n.send()
		for i := range s.Steps {
			if err == nil {
				err = n.any(i, i)
			}
		}
		if err == nil {
			err = n.x.queue.Finish()
		}
		if err == nil {
			err = n.check()
		}
		n.x.releaseEvents()
		return err
	})
}

// column reads column c, a group an element.
func (n nelsonRun) column(t testing.TB, c int) []uint64 {
	t.Helper()
	words := make([]uint32, n.columnBytes()/4)
	err := n.b.do(func() error {
		e, err := n.x.queue.EnqueueReadBuffer(n.words.buffer, true, c*int(n.columnBytes()), 4*len(words), unsafe.Pointer(&words[0]), nil)
		if err == nil {
			e.Release()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	groups := make([]uint64, n.stride)
	for g := range groups {
		if n.s.t.Word() == 64 {
			groups[g] = uint64(words[2*g]) | uint64(words[2*g+1])<<32
		} else {
			groups[g] = uint64(words[g])
		}
	}
	return groups
}

// checkColumns compares the columns that run made with the ORs of groups of vectors.
func (n nelsonRun) checkColumns(t *testing.T, vectors [][]uint64, s *plan.SelectBatch) {
	t.Helper()
	for i, p := range s.Steps {
		want := make([]uint64, n.stride)
		for _, v := range s.Operands[p.From:p.To] {
			for g, w := range vectors[v] {
				want[g] |= w
			}
		}
		for g, got := range n.column(t, i) {
			if got != want[g] {
				t.Fatalf("%v, rescan %t, at most %d columns a pass, %d vectors: group %d of %d is %x, want %x",
					s.Strategy, s.Rescan, n.most, p.To-p.From, g, n.groups, got, want[g])
			}
		}
	}
}

// groupedVectors is a table of one vector a kind, and the groups of each.
func groupedVectors(rows uint32, word int) (*plantest.Table, [][]uint64) {
	r := rand.New(rand.NewPCG(uint64(rows), uint64(word)))
	tab := plantest.NewTable(rows, word)
	var groups [][]uint64
	for _, k := range plantest.VectorKinds() {
		groups = append(groups, addGrouped(tab, k.Gen(r, rows)))
	}
	return tab, groups
}

// addGrouped adds a vector to tab and returns its groups.
func addGrouped(tab *plantest.Table, bits []uint64) []uint64 {
	tab.AddVector(bits)
	of := make([]uint64, tab.Groups())
	for row := range tab.Rows {
		of[row/tab.GroupBits()] |= bits[row/64] >> (row % 64) & 1 << (row % tab.GroupBits())
	}
	return of
}

// nelsonSteps are ORs of some of the vectors, of none, and of one vector many times.
func nelsonSteps(vectors, most int) *plan.SelectBatch {
	var s plan.SelectBatch
	var many []uint32
	for len(many) < most {
		many = append(many, uint32(len(many)%vectors))
	}
	for v := range vectors {
		s.Any(uint32(v))
	}
	for _, n := range []int{0, 2, 3, 5, 8, vectors, most} {
		s.Any(many[:n]...)
	}
	s.End()
	return &s
}

// nelsonForms are the shapes of the kernels, with scans that look back and without.
func nelsonForms(d *Device) map[string]Tuning {
	all := map[string]Tuning{}
	for name, t := range shapes(d) {
		t.LookBack, t.ScanWG, t.ScanChunk = false, 64, 3 // chunks end often
		all[name] = t
		if t.LookBack = !t.Serial; t.LookBack {
			all[name+", look-back"] = t
		}
	}
	return all
}

// testNelson compares what every strategy makes of s, with new scans and without.
func (n nelsonRun) testNelson(t *testing.T, groups [][]uint64, s *plan.SelectBatch) {
	t.Helper()
	for _, s.Strategy = range nelsonStrategies {
		for _, s.Rescan = range []bool{false, true} {
			if err := n.run(s); err != nil {
				t.Fatalf("%v, rescan %t: %v", s.Strategy, s.Rescan, err)
			}
			n.checkColumns(t, groups, s)
		}
	}
}

// TestNelson compares columns with plain groups, for sizes about groups and chunks.
func TestNelson(t *testing.T) {
	d := testDevice(t, bitmapOps)
	for name, form := range nelsonForms(d) {
		t.Run(name, func(t *testing.T) {
			b := openRow(t, d, form, true)
			for _, word := range []int{32, 64} {
				group := uint32(word - 1)
				sizes := []uint32{0, 1, group, group + 1, 5*group - 1, chunkLen*group + 1}
				if !small() {
					sizes = append(sizes, group-1, chunkLen*group-1, chunkLen*group, 5*chunkLen*group+17)
				}
				for _, rows := range sizes {
					t.Run(fmt.Sprintf("wah%d/%d rows", word, rows), func(t *testing.T) {
						tab, groups := groupedVectors(rows, word)
						n := newNelsonRun(t, b, &tab.Table)
						n.testNelson(t, groups, nelsonSteps(len(groups), 70))
						n.most = 4
						n.testNelson(t, groups, nelsonSteps(len(groups), 12))
					})
				}
			}
		})
	}
}

// TestNelsonMany ORs more vectors than a tile has pairs for, in one pass and in many.
func TestNelsonMany(t *testing.T) {
	d := testDevice(t, bitmapOps)
	for name, form := range nelsonForms(d) {
		t.Run(name, func(t *testing.T) {
			b := openRow(t, d, form, false)
			tab, groups := groupedVectors(500, 32)
			n := newNelsonRun(t, b, &tab.Table)
			for _, n.most = range []int{mostColumns, 300} {
				n.testNelson(t, groups, nelsonSteps(len(groups), 1100))
			}
		})
	}
}

// TestNelsonMemory takes passes where memory is short, and says so where two columns
// do not fit.
func TestNelsonMemory(t *testing.T) {
	d := testDevice(t, bitmapOps)
	tab, groups := groupedVectors(100_000, 32)
	var s plan.SelectBatch
	for v := range 100 {
		s.Operands = append(s.Operands, uint32(v%len(groups)))
	}
	s.Steps, s.Rescan = []plan.Step{{Code: plan.StepAny, To: 100}}, true
	s.End()
	passes := map[int]bool{}
	for limit := uint64(32 << 20); ; limit = limit / 8 * 5 {
		b, err := openDevice(t.Context(), d, deviceOptions{MemoryLimit: limit, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		failed := false
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			var s = s
			st, err := loadUntested(t.Context(), b, &tab.Table)
			if failed = errors.Is(err, plan.ErrOutOfMemory); failed {
				return
			}
			st.Close()
			n := newNelsonRun(t, b, &tab.Table)
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
		if used := b.memory.inUse(); used != 0 {
			t.Errorf("%d bytes are still reserved", used)
		}
		if err := b.close(); err != nil {
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

// TestNelsonBuffers takes passes where the largest buffer does not hold all columns, and
// says so where it does not hold the results.
func TestNelsonBuffers(t *testing.T) {
	poor := testDevice(t, bitmapOps).with(func(i *plan.Info, _ *Tuning) { i.MaxAlloc = 1 << 20 })
	b := openRow(t, poor, poor.Tuning(), false)
	tab, groups := groupedVectors(100_000, 32) // 81 columns
	n := newNelsonRun(t, b, &tab.Table)
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

// TestNelsonArena decompresses vectors of several buffers.
func TestNelsonArena(t *testing.T) {
	poor := testDevice(t, bitmapOps).with(func(i *plan.Info, _ *Tuning) { i.MaxAlloc = 1 << 20 })
	b := openRow(t, poor, poor.Tuning(), false)
	tab := plantest.NewTable(500_000, 32)
	var groups [][]uint64
	for v := range uint32(20) { // of 64 KB each
		bits := make([]uint64, (tab.Rows+63)/64)
		for row := uint32(0); row < tab.Rows; row += v + 2 {
			bits[row/64] |= 1 << (row % 64)
		}
		groups = append(groups, addGrouped(tab, bits))
	}
	n := newNelsonRun(t, b, &tab.Table)
	if n.s.arena.buffers[1] == n.s.arena.buffers[0] {
		t.Fatalf("%d words in one buffer", len(tab.Words32))
	}
	var s plan.SelectBatch
	s.Any(3, 19)
	s.Any(18, 7, 17, 2)
	s.End()
	n.testNelson(t, groups, &s)
}

// TestNelsonCorrupt decompresses words that have changed behind the store's back: what
// comes out does not matter, but that it has no bits outside of groups.
func TestNelsonCorrupt(t *testing.T) {
	d := testDevice(t, bitmapOps)
	for name, form := range nelsonForms(d) {
		t.Run(name, func(t *testing.T) {
			b := openRow(t, d, form, false)
			r := rand.New(rand.NewPCG(5, 6))
			for _, word := range []int{32, 64} {
				tab, _ := groupedVectors(20_000, word)
				n := newNelsonRun(t, b, &tab.Table)
				words := slices.Clone(vectorSource(&tab.Table).Words)
				for i := range words {
					if r.IntN(3) == 0 {
						words[i] = []uint32{0, 1 << 31, 1<<32 - 1, r.Uint32()}[r.IntN(4)]
					}
				}
				if err := b.writeWords(n.s.arena.buffers[0], 0, words); err != nil {
					t.Fatal(err)
				}
				s := nelsonSteps(len(tab.Vectors), 40)
				for _, s.Strategy = range nelsonStrategies {
					for _, s.Rescan = range []bool{false, true} {
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

// TestNelsonStats checks what a batch says of itself: times of both stages, the bytes
// of the reduction, and memory that is kept for the next batch and given back.
func TestNelsonStats(t *testing.T) {
	d := testDevice(t, bitmapOps)
	b, err := openDevice(t.Context(), d, deviceOptions{Profiling: true, CountLoads: true, SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	tab, _ := groupedVectors(50_000, 32)
	s, err := loadUntested(t.Context(), b, &tab.Table)
	if err != nil {
		t.Fatal(err)
	}
	var sel plan.SelectBatch
	sel.Any(1, 2, 3, 4, 5, 6, 7, 8)
	sel.End()
	moved, before := map[plan.Strategy]uint64{}, s.Memory()
	for _, sel.Rescan = range []bool{false, true} {
		for _, sel.Strategy = range nelsonStrategies {
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
	if after <= before || after != b.memory.inUse() {
		t.Errorf("%d bytes after %d, %d are reserved", after, before, b.memory.inUse())
	}
	var out plan.Rows
	if err := s.Select(t.Context(), &sel, &out); err != nil || s.Memory() != after {
		t.Errorf("%d bytes after another batch, %d before: %v", s.Memory(), after, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := b.memory.inUse(); n != 0 {
		t.Errorf("%d bytes are still reserved", n)
	}
}
