package testneeds

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// longest is the real time of a test in virtual time. The slowest one takes seconds.
var longest = 5 * time.Minute

// VirtualTime runs a test in virtual time (package synctest): computing takes no time and a pause
// takes exactly its length, on a busy machine, too. Virtual time does not pass while a goroutine
// waits for a network or a mutex. All goroutines of the test must end with it.
//
// A test that hangs ends the program with its name and the stacks of all goroutines: at once if all its
// goroutines wait, and after five minutes if one waits for a network or a mutex, or sleeps for ever in a loop.
//
// A test creates its channels, and all that has channels, in f: they are of no use outside.
func VirtualTime(t *testing.T, f func(*testing.T)) {
	t.Helper()
	emptyPools()
	defer emptyPools()
	Bubble(t, f)
}

// Bubble is VirtualTime for code that keeps no channels in a sync.Pool: it takes less time.
func Bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	alarm := time.AfterFunc(longest, func() {
		debug.SetTraceback("all")
		panic(t.Name() + " hangs in virtual time")
	})
	defer alarm.Stop()
	synctest.Test(t, f)
}

// emptyPools drops the objects in each sync.Pool, which may have channels. The first collection of
// garbage keeps them for a second one.
func emptyPools() {
	runtime.GC()
	runtime.GC()
}
