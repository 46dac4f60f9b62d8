package harness

import "testing"

func TestHostCopyPeak(t *testing.T) {
	if got := hostCopyPeak(2, 1<<20); got < 1e8 || got > 1e13 {
		t.Errorf("%.3g bytes a second", got)
	}
}
