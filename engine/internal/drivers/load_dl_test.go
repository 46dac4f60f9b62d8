//go:build !noopencl && linux && (amd64 || arm64)

package drivers

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ebitengine/purego"
)

// TestMapLargeBlocks counts the blocks that the C library maps after it has released one of their size.
func TestMapLargeBlocks(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_BLOCKS") != "" {
		allocateBlocks(t)
		return
	}
	if _, err := purego.Dlsym(purego.RTLD_DEFAULT, "malloc_stats"); err != nil {
		t.Skip("the C library is not glibc")
	}
	for mode, want := range map[string]string{"default": "max mmap regions =          1", "map": "max mmap regions =          2"} {
		c := exec.Command(os.Args[0], "-test.run=^TestMapLargeBlocks$")
		c.Env = append(os.Environ(), "HEDDLE_TEST_BLOCKS="+mode)
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", mode, err, out)
		}
	}
}

func allocateBlocks(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_BLOCKS") == "map" {
		mapLargeBlocks()
	}
	var malloc func(uintptr) uintptr
	var free func(uintptr)
	var stats func()
	purego.RegisterLibFunc(&malloc, purego.RTLD_DEFAULT, "malloc")
	purego.RegisterLibFunc(&free, purego.RTLD_DEFAULT, "free")
	purego.RegisterLibFunc(&stats, purego.RTLD_DEFAULT, "malloc_stats")
	free(malloc(1 << 20))
	for range 2 {
		if malloc(1<<20) == 0 {
			t.Error("no memory")
		}
	}
	stats()
}
