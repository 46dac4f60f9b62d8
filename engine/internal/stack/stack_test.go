package stack

import "testing"

// TestGrow: the room lies on the stack, not on the heap.
func TestGrow(t *testing.T) {
	if n := testing.AllocsPerRun(100, Grow); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
