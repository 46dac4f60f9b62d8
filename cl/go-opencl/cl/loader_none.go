//go:build noopencl || android || !((linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)) || ((darwin || windows) && (amd64 || arm64)))

package cl

import "fmt"

type function struct {
	name  string
	setup bool
}

func load() error {
	return fmt.Errorf("%w: this build has no OpenCL", ErrUnsupported)
}

// call is not reached: without load no handle is valid.
func (f *function) call(...uintptr) uintptr {
	invalidOperation := int32(-59)
	return uintptr(invalidOperation)
}
