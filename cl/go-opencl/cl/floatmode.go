//go:build !noopencl

package cl

import "runtime"

// keepFloatMode locks the goroutine to its thread until restore, which gives the thread the
// floating-point mode back that it has now: libraries change it while they load (crtfastmath.o of
// GCC makes subnormal numbers 0), and compilers while they run.
func keepFloatMode() (restore func()) {
	runtime.LockOSThread()
	mode := floatMode()
	return func() {
		setFloatMode(mode)
		runtime.UnlockOSThread()
	}
}
