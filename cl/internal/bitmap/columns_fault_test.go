package bitmap

import (
	"errors"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// TestColumnsFaults fails every step that a batch takes to decompress, once: it is
// answered all the same, with less scratch, or the error says so, nothing stays reserved
// that the store does not know of, and the next batch is answered.
func TestColumnsFaults(t *testing.T) {
	tab, sel, want := question(t, 32)
	sel.Strategy, sel.Rescan = plan.Hybrid, true
	b, faults := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
	for _, step := range []string{"allocate", "enqueue", "wait"} {
		for n := 1; ; n++ {
			s, err := load(t.Context(), b, tab)
			if err != nil {
				t.Fatal(err)
			}
			faults.Arm(step, n, ocl.ErrOutOfHostMemory)
			var out plan.Rows
			err = s.Select(t.Context(), sel, &out)
			met := faults.Count(step) >= n
			faults.Disarm()
			var failed *plan.DeviceError
			switch {
			case err == nil && !sameRows(&out, want):
				t.Errorf("%s %d, met %t: other rows", step, n, met)
			case err != nil && (!met || !errors.As(err, &failed)):
				t.Errorf("%s %d, met %t: %v", step, n, met, err)
			}
			if err := s.Select(t.Context(), sel, &out); err != nil || !sameRows(&out, want) {
				t.Errorf("after %s %d: other rows: %v", step, n, err)
			}
			if memory := s.Memory(); memory != b.Memory.InUse() {
				t.Errorf("after %s %d: memory of %d bytes, %d are reserved", step, n, memory, b.Memory.InUse())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if n := b.Memory.InUse(); n != 0 {
				t.Fatalf("after %s: %d bytes are still reserved", step, n)
			}
			if !met {
				if n == 1 {
					t.Errorf("%s is no step", step)
				}
				break
			}
		}
	}
}
