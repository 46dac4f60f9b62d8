//go:build !noopencl && linux && (amd64 || arm64)

package drivers

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
)

// TestShareArenas counts the heaps of the C library in a process before and after eight threads
// allocate. Threads of Go's own may have made some before the limit.
func TestShareArenas(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_ARENAS") != "" {
		allocateOnThreads(t)
		return
	}
	if _, err := purego.Dlsym(purego.RTLD_DEFAULT, "malloc_stats"); err != nil {
		t.Skip("the C library is not glibc")
	}
	for mode, grows := range map[string]bool{"default": true, "share": false} {
		c := exec.Command(os.Args[0], "-test.run=^TestShareArenas$")
		c.Env = append(os.Environ(), "HEDDLE_TEST_ARENAS="+mode)
		out, err := c.CombinedOutput()
		before, after, ok := strings.Cut(string(out), "Total")
		if err != nil || !ok {
			t.Fatalf("%v: %s", err, out)
		}
		n := strings.Count(after, "Arena ") - strings.Count(before, "Arena ")
		if (n > 1) != grows {
			t.Errorf("%s: %d more heaps: %s", mode, n, out)
		}
	}
}

func allocateOnThreads(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_ARENAS") == "share" {
		ShareArenas()
	}
	var malloc func(uintptr) uintptr
	var stats func()
	purego.RegisterLibFunc(&malloc, purego.RTLD_DEFAULT, "malloc")
	purego.RegisterLibFunc(&stats, purego.RTLD_DEFAULT, "malloc_stats")
	stats()
	var started, done sync.WaitGroup
	started.Add(8)
	for range 8 {
		done.Go(func() {
			runtime.LockOSThread()
			started.Done()
			started.Wait()
			if malloc(1000) == 0 {
				t.Error("no memory")
			}
		})
	}
	done.Wait()
	stats()
}
