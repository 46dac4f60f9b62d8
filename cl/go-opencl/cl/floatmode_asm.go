//go:build !noopencl && (amd64 || arm64)

package cl

// floatMode returns the floating-point mode of the thread: MXCSR on amd64, FPCR on arm64. It rules
// the rounding, and whether subnormal numbers count as 0.
func floatMode() uint32

// setFloatMode sets the floating-point mode of the thread.
func setFloatMode(mode uint32)
