package bitmap

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// question is a table, all selections of the self-test over it, and their answers.
func question(t *testing.T, word int) (*plan.Table, *plan.SelectBatch, [][]uint64) {
	t.Helper()
	const rows = 70_000
	tab, plain, err := sampleTable(rows, word)
	if err != nil {
		t.Fatal(err)
	}
	s := sampleSelections(len(plain.Bits))
	return tab, s, plain.Select(s)
}

// sameRows tells whether out has the rows of want.
func sameRows(out *plan.Rows, want [][]uint64) bool {
	return slices.Equal(out.Bits, slices.Concat(want...))
}

// TestTableFaults fails every step that loading and selecting take, once: the error
// says so, nothing stays reserved, and the next batch is answered.
func TestTableFaults(t *testing.T) {
	tab, sel, want := question(t, 32)
	b, faults := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
	for _, step := range []string{"allocate", "build", "upload", "enqueue", "wait"} {
		for n := 1; ; n++ {
			faults.Arm(step, n, ocl.ErrOutOfHostMemory)
			var out plan.Rows
			loaded, err := load(t.Context(), b, tab)
			if err == nil {
				err = loaded.Select(t.Context(), sel, &out)
			}
			met := faults.Met(t, step, n, err)
			if loaded != nil {
				if err := loaded.Select(t.Context(), sel, &out); err != nil || !sameRows(&out, want) {
					t.Errorf("after %s %d: other rows: %v", step, n, err)
				}
				if memory := loaded.Memory(); memory != b.Memory.InUse() {
					t.Errorf("after %s %d: memory of %d bytes, %d are reserved", step, n, memory, b.Memory.InUse())
				}
				if err := loaded.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := b.Memory.InUse(); n != 0 {
				t.Fatalf("after %s %d: %d bytes are still reserved", step, n, n)
			}
			for with := range device.Features(1 << 4) { // so that they are built again
				if p := b.ReplaceProgram(device.KernelID{Name: "rows", With: with}, nil); p != nil {
					p.Release()
				}
			}
			if !met {
				break
			}
		}
	}
}

// TestTableMemory gives less memory than some part of a table takes: the error says so,
// before anything is allocated if vectors do not fit, and the rest works.
func TestTableMemory(t *testing.T) {
	tab, sel, want := question(t, 32)
	d := devicetest.Find(t, ops)
	vectors := 4 * uint64(len(tab.Words32))
	for _, limit := range []uint64{vectors, vectors + 1<<12, vectors + 1<<16, 64 << 20} {
		asked := 0
		b, err := device.Open(t.Context(), d, device.Options{SkipSelfTest: true, MemoryLimit: limit, Fault: func(step string) error {
			if step == "allocate" {
				asked++
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		s, err := Load(t.Context(), b, tab)
		if err != nil {
			if !errors.Is(err, plan.ErrOutOfMemory) || limit > vectors+1<<16 {
				t.Errorf("load in %d bytes: %v", limit, err)
			}
			if asked > 0 && limit == vectors {
				t.Errorf("%d buffers were made for a table that does not fit", asked)
			}
			if n := b.Memory.InUse(); n != 0 {
				t.Errorf("%d bytes are still reserved", n)
			}
			continue
		}
		defer s.Close()
		var out plan.Rows
		switch err := s.Select(t.Context(), sel, &out); {
		case err == nil && limit < 64<<20, err != nil && limit == 64<<20, err != nil && !errors.Is(err, plan.ErrOutOfMemory):
			t.Errorf("selections in %d bytes: %v", limit, err)
		case err == nil && !sameRows(&out, want):
			t.Errorf("in %d bytes: other rows", limit)
		}
		few := &plan.SelectBatch{Output: plan.OutputCounts}
		few.Any(4)
		few.End()
		if err := s.Select(t.Context(), few, &out); err != nil {
			t.Errorf("one count in %d bytes: %v", limit, err)
		}
	}
}

// TestTableRounds runs batches that take many rounds, since their rows may take little
// memory, from several callers.
func TestTableRounds(t *testing.T) {
	// Rounds of one selection.
	d := devicetest.Find(t, ops).With(func(i *plan.Info, _ *device.Tuning) { i.Memory = 1 << 19 })
	for _, word := range []int{32, 64} {
		tab, sel, want := question(t, word)
		b, err := device.Open(t.Context(), d, device.Options{SkipSelfTest: true, MemoryLimit: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		s, err := Load(t.Context(), b, tab)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				var out plan.Rows
				for range 2 {
					if err := s.Select(context.Background(), sel, &out); err != nil || !sameRows(&out, want) {
						t.Errorf("words of %d bits: other rows: %v", word, err)
					}
				}
				if out.Stats.BytesDown < uint64(8*len(out.Bits)) || out.Stats.BytesUp == 0 {
					t.Errorf("words of %d bits: %+v", word, out.Stats)
				}
			})
		}
		wg.Wait()
	}
}

// TestTableCorrupt has words that are no vector, and a tile that is none: the
// error names the vector or the column.
func TestTableCorrupt(t *testing.T) {
	testneeds.OneCaller(t)
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
	tab, _, _ := question(t, 64)
	at := tab.Vectors[3].Off + 2
	good := tab.Words64[at]
	tab.Words64[at] = 1 << 63
	if _, err := Load(t.Context(), b, tab); !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "vector 3: ") {
		t.Errorf("a fill of no groups: %v", err)
	}
	tab.Words64[at] = good
	tab.Slices[tab.Columns[0].Tiles[1].Off] = math.MaxUint32
	if _, err := Load(t.Context(), b, tab); !errors.Is(err, bitslice.ErrCorrupt) || !strings.Contains(err.Error(), "column 0: ") {
		t.Errorf("slices outside of their tile: %v", err)
	}
}
