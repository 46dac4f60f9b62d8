//go:build !noopencl && (amd64 || arm64)

package cl

import (
	"runtime"
	"testing"
)

//go:noinline
func double(x float64) float64 { return x + x }

// TestFloatMode: the mode in which subnormal numbers are 0 ends with the call that set it.
func TestFloatMode(t *testing.T) {
	flush := uint32(0x8040) // of MXCSR: flush to zero, denormals are zero
	if runtime.GOARCH == "arm64" {
		flush = 1 << 24 // of FPCR
	}
	before := floatMode()
	restore := keepFloatMode()
	setFloatMode(before | flush)
	inside := double(1e-310)
	restore()
	if inside != 0 {
		t.Errorf("the sum is %g in the other mode", inside)
	}
	if sum := double(1e-310); sum != 2e-310 || (floatMode()^before)&^0x3f != 0 { // the low bits of MXCSR report exceptions
		t.Errorf("the sum is %g after it, mode %x, before %x", sum, floatMode(), before)
	}
}
