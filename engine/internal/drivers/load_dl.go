//go:build !noopencl && !android && ((linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)) || (darwin && (amd64 || arm64)))

package drivers

import (
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
