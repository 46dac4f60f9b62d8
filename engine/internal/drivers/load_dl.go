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

// ShareArenas has all threads allocate from two heaps of the C library, where it has more (mallopt
// of glibc, M_ARENA_MAX). Drivers allocate on any thread, and with a heap for each thread the memory
// of closed indexes would stay with the process. Only a program calls it, before drivers load. The
// variable MALLOC_ARENA_MAX has precedence.
func ShareArenas() {
	const arenaMax = -8
	mallopt, err := purego.Dlsym(purego.RTLD_DEFAULT, "mallopt")
	if _, set := os.LookupEnv("MALLOC_ARENA_MAX"); set || err != nil || runtime.GOOS != "linux" {
		return
	}
	var set func(parameter, value int32) int32
	purego.RegisterFunc(&set, mallopt)
	set(arenaMax, 2)
}
