package memlimit

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// TestIdle: the collector waits for as many bytes again, until release.
func TestIdle(t *testing.T) {
	goal := func() uint64 {
		runtime.GC()
		runtime.GC() // the first one may have begun before
		all := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(all)
		return all[0].Value.Uint64()
	}
	before := goal()
	release := Idle()
	if got := goal(); got < before+idle {
		t.Errorf("the goal of the collector is %d bytes, want at least %d", got, before+idle)
	}
	release()
	if got := goal(); got >= before+idle {
		t.Errorf("the goal of the collector is %d bytes after the release", got)
	}
}
