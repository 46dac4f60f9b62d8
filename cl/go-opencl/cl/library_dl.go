//go:build !noopencl && !android && ((linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)) || (darwin && (amd64 || arm64)))

package cl

import (
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// libraries are the places of the OpenCL library, the first one preferred.
func libraries() []string {
	if runtime.GOOS == "darwin" {
		return []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}
	}
	return []string{"libOpenCL.so.1", "libOpenCL.so"}
}

func openLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(library uintptr, name string) (uintptr, error) { return purego.Dlsym(library, name) }

// setPath gives drivers a PATH where there is none: PoCL starts the linker ld and aborts the
// process if it does not find it. os.Setenv does not reach C without cgo.
func setPath() error {
	if os.Getenv("PATH") != "" {
		return nil
	}
	setenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return err
	}
	name, path := []byte("PATH\x00"), []byte("/usr/local/bin:/usr/bin:/bin\x00")
	purego.SyscallN(setenv, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&path[0])), 1)
	return nil
}
