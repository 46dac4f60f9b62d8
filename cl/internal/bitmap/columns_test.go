package bitmap

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// columnStrategies are the strategies that decompress.
var columnStrategies = slices.DeleteFunc(slices.Clone(strategies), func(s plan.Strategy) bool { return s == plan.Fused })

// columnsRun computes columns of a table in a queue of its own.
type columnsRun struct {
	*columns
	b *device.Runtime
}

func newColumnsRun(t testing.TB, b *device.Runtime, tab *plan.Table) columnsRun {
	t.Helper()
	s, err := load(t.Context(), b, tab)
	if err != nil {
		t.Fatal(err)
	}
	x := device.NewFlight(b, b.Memory)
	t.Cleanup(func() {
		x.Land()
		x.Release()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if x.Queue, err = b.NewQueue(); err != nil {
		t.Fatal(err)
	}
	n, err := newColumns(&x, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.release)
	return columnsRun{n, b}
}

// run ORs the operands of the steps of s into columns, one step after the other.
func (n columnsRun) run(s *plan.SelectBatch) error {
	if err := n.prepare(context.Background(), s, len(s.Steps)); err != nil {
		return err
	}
	err := n.b.Do(func() error {
		err := n.send()
		for i := range s.Steps {
			if err == nil {
				err = n.any(i, i)
			}
		}
		if err == nil {
			err = n.x.Queue.Finish()
		}
		n.x.ReleaseEvents()
		return err
	})
	if err != nil {
		return err
	}
	return n.check(context.Background())
}

// column reads column c, a group an element.
func (n columnsRun) column(t testing.TB, c int) []uint64 {
	t.Helper()
	words := make([]uint32, n.columnBytes()/4)
	err := n.b.Do(func() error {
		e, err := n.x.Queue.EnqueueReadBuffer(n.words.Buffer, true, c*int(n.columnBytes()), 4*len(words), unsafe.Pointer(&words[0]), nil)
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
func (n columnsRun) checkColumns(t *testing.T, vectors [][]uint64, s *plan.SelectBatch) {
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

// columnSteps are ORs of some of the vectors, of none, and of one vector many times.
func columnSteps(vectors, most int) *plan.SelectBatch {
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

// columnForms are the shapes of the kernels, with scans that look back and without, and with
// rows of other sizes.
func columnForms(d *device.Device) map[string]device.Tuning {
	all, rows := map[string]device.Tuning{}, []int{64, 8, 32}
	if devicetest.Small() {
		rows = rows[:1] // the small cases of CI have rows of 8 bytes
	}
	for name, t := range devicetest.Shapes(d) {
		t.LookBack, t.ScanWG, t.ScanChunk = false, 64, 3 // chunks end often
		all[name] = t
		for _, t.TableRow = range rows {
			all[fmt.Sprintf("%s, rows of %d bytes", name, t.TableRow)] = t
		}
		t.TableRow = 0
		if t.LookBack = !t.Serial; t.LookBack {
			all[name+", look-back"] = t
		}
	}
	return all
}

// testColumns compares the columns of every strategy, with new scans and without.
func (n columnsRun) testColumns(t *testing.T, groups [][]uint64, s *plan.SelectBatch) {
	t.Helper()
	for _, s.Strategy = range columnStrategies {
		for _, s.Rescan = range []bool{false, true} {
			if err := n.run(s); err != nil {
				t.Fatalf("%v, rescan %t: %v", s.Strategy, s.Rescan, err)
			}
			n.checkColumns(t, groups, s)
		}
	}
}

// TestColumns compares columns with plain groups, for sizes about groups and chunks.
func TestColumns(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range columnForms(d) {
		t.Run(name, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, form, true)
			for _, word := range []int{32, 64} {
				group := uint32(word - 1)
				sizes := []uint32{0, 1, group, group + 1, 5*group - 1, chunkLen*group + 1}
				if !devicetest.Small() {
					sizes = append(sizes, group-1, chunkLen*group-1, chunkLen*group, 5*chunkLen*group+17)
				}
				for _, rows := range sizes {
					t.Run(fmt.Sprintf("wah%d/%d rows", word, rows), func(t *testing.T) {
						tab, groups := groupedVectors(rows, word)
						n := newColumnsRun(t, b, &tab.Table)
						n.testColumns(t, groups, columnSteps(len(groups), 70))
						n.most = 4
						n.testColumns(t, groups, columnSteps(len(groups), 12))
					})
				}
			}
		})
	}
}

// TestColumnsMany ORs more vectors than a tile has pairs for, in one pass and in many.
func TestColumnsMany(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range columnForms(d) {
		t.Run(name, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, form, false)
			tab, groups := groupedVectors(500, 32)
			n := newColumnsRun(t, b, &tab.Table)
			for _, n.most = range []int{mostColumns, 300} {
				n.testColumns(t, groups, columnSteps(len(groups), 1100))
			}
		})
	}
}
