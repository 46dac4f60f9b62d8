// Package testneeds lets a test state its needs and its cost, so that no script has to know
// its name. A test calls the functions of this package first; they skip it where its needs
// are not met or where its cost is out of proportion.
//
// The environment names the backend under test:
//
//	HEDDLE_TEST_BACKEND  host (the default) or opencl
//	HEDDLE_TEST_DEVICE   a part of the name of the OpenCL device
//	HEDDLE_TEST_FULL     any value: the largest numbers of random cases
//	HEDDLE_TEST_QUICK    any value: no test that waits for seconds; make quick sets it
//
// The flag -short asks for few and small cases. Slow runtimes and the race detector get it.
package testneeds

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// OnDevice reports whether the tests run on an OpenCL device.
func OnDevice() bool { return os.Getenv("HEDDLE_TEST_BACKEND") == "opencl" }

// Backend returns the backend under test, "host" or "opencl", and a part of the device's name.
func Backend() (backend, device string) {
	if OnDevice() {
		return "opencl", os.Getenv("HEDDLE_TEST_DEVICE")
	}
	return "host", ""
}

// Device skips a test that needs an OpenCL device unless the tests run on one. It returns a
// part of the device's name.
func Device(tb testing.TB) string {
	tb.Helper()
	if !OnDevice() {
		tb.Skip("needs an OpenCL device: set HEDDLE_TEST_BACKEND=opencl")
	}
	return os.Getenv("HEDDLE_TEST_DEVICE")
}

// Host skips a test if the tests run on a device. It is for tests that use the host, whatever the
// backend under test: the tests on the host include them.
func Host(tb testing.TB) {
	tb.Helper()
	if OnDevice() {
		tb.Skip("uses the host alone: not with HEDDLE_TEST_BACKEND=opencl")
	}
}

// Long skips a test that takes more than a second if -short is set.
func Long(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("takes long: not with -short")
	}
}

// Link makes a symbolic link. It skips a test on Windows if there is none: it takes a right there, and under Wine 8 the
// call succeeds and makes nothing.
func Link(tb testing.TB, to, link string) {
	tb.Helper()
	err := os.Symlink(to, link)
	if err == nil {
		_, err = os.Lstat(link)
	}
	switch {
	case err != nil && runtime.GOOS == "windows":
		tb.Skip("no symbolic links here: ", err)
	case err != nil:
		tb.Fatal(err)
	}
}

// Clock skips a test of times of microseconds if the clock has greater steps, as on Windows.
func Clock(tb testing.TB) {
	tb.Helper()
	began := time.Now()
	step := time.Since(began)
	for step == 0 {
		step = time.Since(began)
	}
	if step > 10*time.Microsecond && runtime.GOOS == "windows" {
		tb.Skip("the clock has steps of ", step)
	}
}

// Waits skips a test if HEDDLE_TEST_QUICK is set. It is for tests that wait for more than a second:
// for an election, a time-out or a process.
func Waits(tb testing.TB) {
	tb.Helper()
	if os.Getenv("HEDDLE_TEST_QUICK") != "" {
		tb.Skip("waits for seconds: not with HEDDLE_TEST_QUICK")
	}
}

// Full reports whether the tests take their largest numbers of random cases: HEDDLE_TEST_FULL=1.
// Without it, tests of many similar cases take fewer of them, and each named case.
func Full() bool { return os.Getenv("HEDDLE_TEST_FULL") != "" }

// Sequential skips a test if the race detector is on. It is for tests that compute long in one
// goroutine: the detector makes them ten times as slow and has nothing to find.
func Sequential(tb testing.TB) {
	tb.Helper()
	if Race {
		tb.Skip("one goroutine: not with the race detector")
	}
}

// OneCaller skips a test with one caller if the race detector is on and the tests run on a
// device: the work is the device's, and tests with several callers cover the code around it.
func OneCaller(tb testing.TB) {
	tb.Helper()
	if Race && OnDevice() {
		tb.Skip("one caller on a device: not with the race detector")
	}
}

// With returns a test that states a need before it starts: With(Sequential, test).
func With(need func(testing.TB), test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		need(t)
		test(t)
	}
}
