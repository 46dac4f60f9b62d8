//go:build noopencl || android || !((linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)) || (darwin && (amd64 || arm64)))

package drivers

// loadLibrary leaves the library to the loader of OpenCL.
func loadLibrary(string) error { return nil }

// mapLargeBlocks does nothing where no driver loads.
func mapLargeBlocks() {}
