package drivers

import (
	"runtime"
	"slices"
	"testing"
)

// TestBoundPoCL: PoCL gets as many threads as the process may use, unless the user chose a number.
func TestBoundPoCL(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("one core needs no bound")
	}
	var set []string
	setenv := func(name, value string) error {
		set = append(set, name+"="+value)
		return nil
	}
	if got := boundPoCL([]string{"A=1"}, setenv); runtime.GOMAXPROCS(0) == runtime.NumCPU() && (len(got) != 1 || set != nil) {
		t.Errorf("without a limit: %q, %q", got, set)
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	set = nil
	got := boundPoCL([]string{"A=1"}, setenv)
	if !slices.Equal(got, []string{"A=1", "POCL_MAX_PTHREAD_COUNT=1", "POCL_CPU_MAX_CU_COUNT=1"}) || !slices.Equal(got[1:], set) {
		t.Errorf("with one processor: %q, %q", got, set)
	}
	set = nil
	if got := boundPoCL([]string{"POCL_CPU_MAX_CU_COUNT=7"}, setenv); len(got) != 1 || set != nil {
		t.Errorf("with a number of the user: %q, %q", got, set)
	}
}
