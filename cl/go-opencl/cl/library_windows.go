//go:build !noopencl && (amd64 || arm64)

package cl

import (
	"fmt"
	"path/filepath"
	"syscall"
	"unsafe"
)

// Flags of LoadLibraryEx.
const (
	searchSystem32 = 0x800 // LOAD_LIBRARY_SEARCH_SYSTEM32
	alteredPath    = 0x8   // LOAD_WITH_ALTERED_SEARCH_PATH
)

var loadLibraryEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LoadLibraryExW")

// libraries is the loader that drivers install in the folder of the system.
func libraries() []string { return []string{"OpenCL.dll"} }

// openLibrary takes a bare name from the folder of the system alone: a file of this name beside the
// program or in the working folder could be anyone's. The libraries that a path needs may lie beside it.
func openLibrary(path string) (uintptr, error) {
	flags := uintptr(searchSystem32)
	if filepath.IsAbs(path) {
		flags = alteredPath
	}
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", path, err)
	}
	library, _, err := loadLibraryEx.Call(uintptr(unsafe.Pointer(name)), 0, flags)
	if library == 0 {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return library, nil
}

func symbol(library uintptr, name string) (uintptr, error) {
	addr, err := syscall.GetProcAddress(syscall.Handle(library), name)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return addr, nil
}

// setPath has nothing to do: PATH of Windows is never empty.
func setPath() error { return nil }
