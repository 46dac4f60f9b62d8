//go:build unix

package cputime

import (
	"os/exec"
	"testing"
	"time"
)

// TestWithChildren: the CPU time of a child that has ended counts.
func TestWithChildren(t *testing.T) {
	before := WithChildren()
	own := Total()
	if out, err := exec.Command("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if children, all := WithChildren()-before, Total()-own; children-all < time.Millisecond {
		t.Errorf("%v with the child, %v without it", children, all)
	}
}
