package bitmap

import (
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// TestTableSelfTest runs the self-test of tables over both shapes.
func TestTableSelfTest(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, shape := range devicetest.Shapes(d) {
		b, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for _, word := range []int{32, 64} {
			for _, strategy := range strategies {
				if err := selfTest(t.Context(), b, testKey{word, strategy}); err != nil {
					t.Errorf("%s, words of %d bits, %v: %v", name, word, strategy, err)
				}
			}
		}
		if n := b.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
	}
}

// counting opens the device in all shapes, each with its name. Its kernels count loads.
func counting(t *testing.T) map[string]*device.Runtime {
	testneeds.OneCaller(t)
	d, all := devicetest.Find(t, ops), map[string]*device.Runtime{}
	for name, shape := range devicetest.Shapes(d) {
		b, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true, CountLoads: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		all[name] = b
	}
	return all
}

// bytesMoved selects rows, compares them with a scan, and returns the bytes that the device moved.
func bytesMoved(t *testing.T, s *Store, tab *plantest.Table, sel *plan.SelectBatch) uint64 {
	var out plan.Rows
	if err := s.Select(t.Context(), sel, &out); err != nil {
		t.Fatal(err)
	}
	if err := tab.Compare(sel, tab.Scan(sel), &out); err != nil {
		t.Error(err)
	}
	return out.Stats.BytesMoved
}

// TestTableSkips asks for the rows of a vector that has them in one tile, AND the
// rows of two more: in all other tiles these are not read, which counted loads show.
func TestTableSkips(t *testing.T) {
	for name, b := range counting(t) {
		rows := uint32(20 * 31 * tileGroups(b.Tuning))
		tab := plantest.NewTable(rows, 32)
		few, many := make([]uint64, rows/64), make([]uint64, rows/64)
		few[len(few)/2] = 1 << 40
		for i := range many {
			many[i] = 0x5555_5555_5555_5555
		}
		tab.AddVector(few)
		tab.AddVector(many)
		s, err := Load(t.Context(), b, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		moved := func(steps ...plan.StepCode) uint64 {
			sel := &plan.SelectBatch{Output: plan.OutputBits}
			sel.Any(1)
			if len(steps) > 0 {
				sel.Reset()
				sel.Any(0)
				sel.Any(1)
				sel.Any(1)
				sel.Do(plan.StepNot)
				for _, x := range steps {
					sel.Do(x)
				}
			}
			sel.End()
			return bytesMoved(t, s, tab, sel)
		}
		alone := moved()
		for _, steps := range [][]plan.StepCode{{plan.StepAnd, plan.StepAnd}, {plan.StepOr, plan.StepAndNot}} {
			if n := moved(steps...); n > alone*2/3 {
				t.Errorf("%s, %v: %d bytes, one vector alone %d", name, steps, n, alone)
			}
		}
	}
}

// TestTableComplete ORs two vectors that together have all rows with vectors that have fewer, which are named
// first. Few words of these are loaded, which counted loads show.
func TestTableComplete(t *testing.T) {
	for name, b := range counting(t) {
		rows := uint32(8 * 31 * tileGroups(b.Tuning))
		tab := plantest.NewTable(rows, 32)
		var vectors []uint32
		for v := range uint32(20) {
			vectors = append(vectors, v)
			one := []uint32{20, 100, 3000, 2}[min(v/6, 3)] // one row in so many: plain, mixed and sparse vectors, the two
			tab.AddVector(plantest.NewFilter(rows, func(row uint32) bool { return row%one == v%one }))
		}
		s, err := Load(t.Context(), b, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		moved := func(vectors ...uint32) uint64 {
			sel := &plan.SelectBatch{Output: plan.OutputCounts}
			sel.Any(vectors...)
			sel.End()
			return bytesMoved(t, s, tab, sel)
		}
		if two, all := moved(18, 19, 18, 19), moved(vectors...); all > 2*two+two/2 {
			t.Errorf("%s: %d bytes of two vectors, %d of all", name, two, all)
		}
	}
}

func TestFindSkips(t *testing.T) {
	const x, and, or, not, minus = plan.StepAny, plan.StepAnd, plan.StepOr, plan.StepNot, plan.StepAndNot
	for _, c := range []struct {
		steps []plan.StepCode
		want  []uint32
	}{
		{[]plan.StepCode{x, x, and}, []uint32{0, 2, 0}},
		{[]plan.StepCode{x, x, or}, []uint32{0, 0, 0}},
		{[]plan.StepCode{x, x, x, and, not, minus}, []uint32{0, 5, 2, 0, 0, 0}},
		{[]plan.StepCode{x, x, and, x, minus}, []uint32{0, 2, 0, 2, 0}},
		{[]plan.StepCode{x, x, x, or, and}, []uint32{0, 4, 0, 0, 0}},
	} {
		var cut cut
		var steps []plan.Step
		for _, code := range c.steps {
			steps = append(steps, plan.Step{Code: code})
		}
		if cut.findSkips(steps); !slices.Equal(cut.skips, c.want) {
			t.Errorf("%v: %v, want %v", c.steps, cut.skips, c.want)
		}
	}
}

// TestTableManyRows has rows whose bits come back in pieces, and vectors of few words.
func TestTableManyRows(t *testing.T) {
	testneeds.OneCaller(t)
	const rows = 40*pieceWords + 77
	tab := &plan.Table{Rows: rows}
	for _, runs := range [][][2]uint64{{{0, 1}, {5_000, 9_000}, {rows - 3, rows}}, {{rows / 4, rows / 4 * 3}, {rows - 100, rows - 1}}} {
		var b wah.Builder[uint32]
		for _, r := range runs {
			b.AddRun(r[0], r[1])
		}
		tab.AppendVector32(b.AppendTo(nil, rows))
	}
	want, one := make([]uint64, wah.Bitset(rows)), make([]uint64, wah.Bitset(rows))
	for v := range uint32(2) {
		if err := wah.Decompress(one, tab.Vector32(v), rows); err != nil {
			t.Fatal(err)
		}
		for i, w := range one {
			want[i] |= w
		}
	}
	b, err := device.Open(t.Context(), devicetest.Find(t, ops), device.Options{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := Load(t.Context(), b, tab)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sel := &plan.SelectBatch{}
	sel.Any(0, 1)
	sel.End()
	var out plan.Rows
	if err := s.Select(t.Context(), sel, &out); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out.Bits, want) {
		t.Error("other rows than those of the host")
	}
}
