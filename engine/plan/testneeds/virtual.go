package testneeds

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// VirtualTime runs a test in virtual time (package synctest): computing takes no time and a pause
// takes exactly its length, on a busy machine, too. Virtual time does not pass while a goroutine
// waits for a network or a mutex. All goroutines of the test must end with it.
//
// A test creates its channels, and all that has channels, in f: they are of no use outside.
func VirtualTime(t *testing.T, f func(*testing.T)) {
	t.Helper()
	emptyPools()
	defer emptyPools()
	synctest.Test(t, f)
}

// emptyPools drops the objects in each sync.Pool, which may have channels. The first collection of
// garbage keeps them for a second one.
func emptyPools() {
	runtime.GC()
	runtime.GC()
}
