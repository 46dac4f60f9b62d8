package bitmap

import (
	"errors"
	"slices"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// lendable is the rows of one selection in one round.
func lendable(t *testing.T) (*plan.Table, *plan.SelectBatch, [][]uint64) {
	tab, all, want := question(t, 32)
	one := &plan.SelectBatch{}
	one.Copy(all, all.Selection(1))
	one.End()
	return tab, one, want[1:2]
}

// TestLoans: a store lends pinned memory up to its limits, copies beyond them, and pins no more memory in a steady state.
func TestLoans(t *testing.T) {
	tab, sel, want := lendable(t)
	b, faults := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
	s, err := load(t.Context(), b, tab)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(out *plan.Rows) {
		t.Helper()
		out.Lend = true
		if err := s.Select(t.Context(), sel, out); err != nil || !sameRows(out, want) {
			t.Fatalf("other rows: %v", err)
		}
	}
	held := make([]plan.Rows, mostLoans+2)
	for i := range held {
		if answer(&held[i]); (held[i].Lender != nil) != (i < mostLoans) {
			t.Errorf("loan %d: %v", i, held[i].Lender)
		}
	}
	held[0].Bits[0] ^= 1
	for i := range held {
		if sameRows(&held[i], want) != (i > 0) {
			t.Errorf("rows %d share memory with others", i)
		}
	}
	answer(&held[3]) // returns its loan first
	for i := range held {
		held[i].Release()
	}
	faults.Disarm() // counts from here
	for range 100 {
		answer(&held[0])
		answer(&held[1])
		held[1].Release()
		held[0].Release()
	}
	if n := faults.Count("allocate"); n > 2 {
		t.Errorf("%d buffers were pinned in a steady state", n)
	}
	answer(&held[0])
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !sameRows(&held[0], want) {
		t.Error("the rows change when the store is closed")
	}
	if held[0].Release(); held[0].Bits != nil || s.loans.out != (size{}) || len(s.loans.free) > 0 {
		t.Errorf("after the last release: %+v", s.loans.out)
	}
}

// TestLoanFaults fails each wait of an answer on loan, and the memory for it: nothing stays on loan.
func TestLoanFaults(t *testing.T) {
	tab, sel, want := lendable(t)
	b, faults := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
	for _, step := range []string{"allocate", "enqueue", "wait"} {
		for n := 1; ; n++ {
			faults.Disarm()
			s, err := load(t.Context(), b, tab)
			if err != nil {
				t.Fatal(err)
			}
			faults.Arm(step, n, ocl.ErrOutOfHostMemory)
			out := plan.Rows{Lend: true}
			err = s.Select(t.Context(), sel, &out)
			met := faults.Met(t, step, n, err)
			if err != nil && (out.Lender != nil || s.loans.out != (size{})) {
				t.Errorf("%s %d: %+v on loan", step, n, s.loans.out)
			}
			if faults.Disarm(); err != nil {
				if again := s.Select(t.Context(), sel, &out); again != nil || !sameRows(&out, want) {
					t.Errorf("after %s %d: other rows: %v", step, n, errors.Join(err, again))
				}
			}
			rows := slices.Clone(out.Bits)
			if out.Release(); !slices.Equal(rows, slices.Concat(want...)) || s.loans.out != (size{}) {
				t.Errorf("after %s %d: other rows, or %+v on loan", step, n, s.loans.out)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if !met {
				break
			}
		}
	}
}
