package cl

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan"
)

// testDevice returns the device that the environment asks for, with some operations. Tests
// on a device run if HEDDLE_TEST_BACKEND is "opencl", on the first device whose name contains
// HEDDLE_TEST_DEVICE.
func testDevice(t testing.TB, ops operations) *Device {
	t.Helper()
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" {
		t.Skip("needs an OpenCL device: set HEDDLE_TEST_BACKEND=opencl")
	}
	devices, err := findDevices(os.Getenv("HEDDLE_TEST_DEVICE"), ops)
	if err != nil || len(devices) == 0 {
		t.Fatalf("HEDDLE_TEST_BACKEND=opencl, but no device matches %q: %v", os.Getenv("HEDDLE_TEST_DEVICE"), err)
	}
	return devices[0]
}

// small tells whether tests have few and small cases: HEDDLE_TEST_SMALL is 1.
func small() bool { return os.Getenv("HEDDLE_TEST_SMALL") == "1" }

// shapes returns the shapes of every kernel with a scan. Each device runs all of them.
func shapes(d *Device) map[string]Tuning {
	serial, local := d.Tuning(), d.Tuning()
	serial.Serial, serial.NVShuffle = true, false
	local.Serial, local.NVShuffle = false, false
	shapes := map[string]Tuning{"serial": serial, "local": local}
	if d.Tuning().NVShuffle {
		shapes["shuffle"] = d.Tuning()
	}
	return shapes
}

// forShapes opens the device once for each shape of the kernels, without a self-test.
func forShapes(t *testing.T, d *Device, f func(t *testing.T, rt *opened)) {
	for name, shape := range shapes(d) {
		t.Run(name, func(t *testing.T) { f(t, openRow(t, d, shape, false)) })
	}
}

// openRow opens the device with a tuning row and without a self-test. At the end of the test
// no memory may be reserved.
func openRow(t testing.TB, d *Device, row Tuning, profiling bool) *opened {
	t.Helper()
	return openWith(t, d, deviceOptions{Tuning: &row, Profiling: profiling})
}

// openWith opens the device with some options and without a self-test. At the end of the
// test no memory may be reserved.
func openWith(t testing.TB, d *Device, opt deviceOptions) *opened {
	t.Helper()
	opt.SkipSelfTest = true
	rt, err := openDevice(t.Context(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := rt.memory.inUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
		if err := rt.close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// fewTiles returns the row of the device with rounds so small that a batch takes several.
func fewTiles(d *Device) Tuning {
	row := d.Tuning()
	row.RoundTiles = 8
	return row
}

// faults makes one driver step fail, or every n-th.
type faults struct {
	mu    sync.Mutex
	step  string
	n     int // the n-th step from now fails; 0: none does
	every bool
	err   error
	calls map[string]int
}

// newFaults makes faults that fail no step.
func newFaults() *faults { return &faults{calls: map[string]int{}} }

// openFaulty opens the device with a row, without a self-test, and with faults.
func openFaulty(t testing.TB, d *Device, row Tuning) (*opened, *faults) {
	t.Helper()
	f := newFaults()
	return openWith(t, d, deviceOptions{Tuning: &row, Fault: f.hook}), f
}

// arm makes the n-th call of a step from now fail with err.
func (f *faults) arm(step string, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step, f.n, f.err, f.every = step, n, err, false
	f.calls = map[string]int{}
}

// armEvery makes every n-th call of a step fail with err.
func (f *faults) armEvery(step string, n int, err error) {
	f.arm(step, n, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every = true
}

// disarm lets all steps succeed.
func (f *faults) disarm() { f.arm("", 0, nil) }

// count returns the number of calls of a step since the last arm.
func (f *faults) count(step string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[step]
}

// hook is the Fault of deviceOptions.
func (f *faults) hook(step string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[step]++
	if step == f.step && f.n > 0 && (f.calls[step] == f.n || f.every && f.calls[step]%f.n == 0) {
		return f.err
	}
	return nil
}

// limited returns a context that ends a test after a minute, so that it cannot hang.
func limited(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	return ctx
}

// typed checks that err is a *plan.DeviceError of one of kinds that names device and
// operation and wraps the error of the driver.
func typed(t *testing.T, err, driver error, kinds ...error) {
	t.Helper()
	var device *plan.DeviceError
	if !errors.As(err, &device) {
		t.Errorf("%T is no *plan.DeviceError: %v", err, err)
		return
	}
	if !slices.Contains(kinds, device.Kind) {
		t.Errorf("%v is of kind %v, want one of %v", err, device.Kind, kinds)
	}
	if !errors.Is(err, driver) {
		t.Errorf("%v does not wrap %v", err, driver)
	}
	if device.Device == "" || device.Op == "" {
		t.Errorf("%v does not name device and operation: %+v", err, device)
	}
}

// spread returns n docIDs with gaps uniform in [lo, hi].
func spread(r *rand.Rand, n int, lo, hi uint32) []uint32 {
	docs := make([]uint32, n)
	at := uint32(0)
	for i := range docs {
		at += lo + r.Uint32N(hi-lo+1)
		docs[i] = at
	}
	return docs
}

// forms returns the rows for kernels with and without look-back: both shapes of the plain
// kernels, kernels that look back, and the row of the device. Chunks of scans end often.
func forms(d *Device) map[string]Tuning {
	all := map[string]Tuning{}
	for name, t := range shapes(d) {
		t.LookBack = false
		t.ScanWG, t.ScanChunk = 64, 3
		all[name] = t
		if t.LookBack = !t.Serial; t.LookBack {
			all[name+", look-back"] = t
		}
	}
	if own := d.Tuning(); !own.Serial || !small() {
		all["own"] = own
	}
	return all
}
