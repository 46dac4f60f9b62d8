//go:build !noopencl && !android && ((linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)) || (darwin && (amd64 || arm64)))

package drivers

import (
	"os"
	"runtime"

	"github.com/ebitengine/purego"
)

// loadLibrary loads the library of a driver as the loader of OpenCL does, which does not tell why it
// leaves a library out.
func loadLibrary(name string) error {
	runtime.LockOSThread() // dlerror knows only the errors of its thread
	defer runtime.UnlockOSThread()
	_, err := purego.Dlopen(name, purego.RTLD_LAZY|purego.RTLD_LOCAL)
	return err
}

// mapLargeBlocks has the C library map each block of 128 KiB or more by itself (mallopt of glibc,
// M_MMAP_THRESHOLD), so that its memory returns to the system when it is released. By itself glibc
// raises the bound to the size of released blocks, up to 32 MiB; drivers of CPUs make buffers of such
// blocks, and the memory of closed indexes would stay with the process. The variable
// MALLOC_MMAP_THRESHOLD_ has precedence.
func mapLargeBlocks() {
	const threshold = -3
	mallopt, err := purego.Dlsym(purego.RTLD_DEFAULT, "mallopt")
	if _, set := os.LookupEnv("MALLOC_MMAP_THRESHOLD_"); set || err != nil || runtime.GOOS != "linux" {
		return
	}
	var set func(parameter, value int32) int32
	purego.RegisterFunc(&set, mallopt)
	set(threshold, 128<<10)
}
