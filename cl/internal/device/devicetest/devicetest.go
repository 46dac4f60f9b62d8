package devicetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// Find returns the first device that testneeds.Device names, with some operations. It skips the
// test if the tests run on no device.
func Find(t testing.TB, ops device.Operations) *device.Device {
	t.Helper()
	name := testneeds.Device(t)
	found, err := device.Find(name, ops, nil)
	if err != nil || len(found.Devices) == 0 {
		t.Fatalf("HEDDLE_TEST_BACKEND=opencl, but no device matches %q: %v", name, err)
	}
	return found.Devices[0]
}

// Small reports whether tests have few and small cases: -short is set.
func Small() bool { return testing.Short() }

// Shapes returns the shapes of every kernel with a scan. Each device runs all of them.
func Shapes(d *device.Device) map[string]device.Tuning {
	serial, local := d.Tuning(), d.Tuning()
	serial.Serial, serial.NVShuffle = true, false
	local.Serial, local.NVShuffle = false, false
	shapes := map[string]device.Tuning{"serial": serial, "local": local}
	if d.Tuning().NVShuffle {
		shapes["shuffle"] = d.Tuning()
	}
	return shapes
}

// ForShapes opens the device once for each shape of the kernels, without a self-test.
func ForShapes(t *testing.T, d *device.Device, f func(t *testing.T, rt *device.Runtime)) {
	for name, shape := range Shapes(d) {
		t.Run(name, func(t *testing.T) { f(t, OpenRow(t, d, shape, false)) })
	}
}

// OpenRow opens the device with a tuning row and without a self-test. At the end of the test
// no memory may be reserved.
func OpenRow(t testing.TB, d *device.Device, row device.Tuning, profiling bool) *device.Runtime {
	t.Helper()
	return openWith(t, d, device.Options{Tuning: &row, Profiling: profiling})
}

// openWith opens the device with some options and without a self-test. At the end of the
// test no memory may be reserved.
func openWith(t testing.TB, d *device.Device, opt device.Options) *device.Runtime {
	t.Helper()
	opt.SkipSelfTest = true
	rt, err := device.Open(t.Context(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := rt.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// FewTiles returns the row of the device with rounds so small that a batch takes several.
func FewTiles(d *device.Device) device.Tuning {
	row := d.Tuning()
	row.RoundTiles = 8
	return row
}

// faults makes one driver step fail, or every n-th.
type faults struct {
	Mu    sync.Mutex
	step  string
	n     int // the n-th step from now fails; 0: none does
	Every bool
	err   error
	calls map[string]int
}

// NewFaults makes faults that fail no step.
func NewFaults() *faults { return &faults{calls: map[string]int{}} }

// OpenFaulty opens the device with a row, without a self-test, and with faults. Its budget
// forgets at once that the driver has refused memory.
func OpenFaulty(t testing.TB, d *device.Device, row device.Tuning) (*device.Runtime, *faults) {
	t.Helper()
	f := NewFaults()
	rt := openWith(t, d, device.Options{Tuning: &row, Fault: f.Hook})
	rt.Memory.Calm = 1
	return rt, f
}

// Arm makes the n-th call of a step from now fail with err.
func (f *faults) Arm(step string, n int, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.step, f.n, f.err, f.Every = step, n, err, false
	f.calls = map[string]int{}
}

// Disarm lets all steps succeed.
func (f *faults) Disarm() { f.Arm("", 0, nil) }

// Count returns the number of calls of a step since the last arm.
func (f *faults) Count(step string) int {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.calls[step]
}

// Met disarms f and reports whether call n of a step came. It checks err, the result of the
// work whose call n failed: a *plan.DeviceError if the call came, else nil.
func (f *faults) Met(t *testing.T, step string, n int, err error) bool {
	t.Helper()
	met := f.Count(step) >= n
	f.Disarm()
	var failed *plan.DeviceError
	if met && !errors.As(err, &failed) || !met && err != nil {
		t.Errorf("%s %d, met %t: %v", step, n, met, err)
	}
	if !met && n == 1 {
		t.Errorf("%s is no step", step)
	}
	return met
}

// Hook is the Fault of device.Options.
func (f *faults) Hook(step string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	again := step == "allocate again" // fails as the first attempt did
	if again || step == "pin" {
		step = "allocate"
	}
	if !again {
		f.calls[step]++
	}
	if step == f.step && f.n > 0 && (f.calls[step] == f.n || f.Every && f.calls[step]%f.n == 0) {
		return f.err
	}
	return nil
}

// Limited returns a context that ends a test after five minutes, so that it cannot hang. Calls
// may build programs, which takes a loaded machine more than a minute.
func Limited(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// Typed checks that err is a *plan.DeviceError of one of kinds that names device and
// operation and wraps the error of the driver.
func Typed(t *testing.T, err, driver error, kinds ...error) {
	t.Helper()
	var dev *plan.DeviceError
	if !errors.As(err, &dev) {
		t.Errorf("%T is no *plan.DeviceError: %v", err, err)
		return
	}
	if !slices.Contains(kinds, dev.Kind) {
		t.Errorf("%v is of kind %v, want one of %v", err, dev.Kind, kinds)
	}
	if !errors.Is(err, driver) {
		t.Errorf("%v does not wrap %v", err, driver)
	}
	if dev.Device == "" || dev.Op == "" {
		t.Errorf("%v does not name device and operation: %+v", err, dev)
	}
}

// Spread returns n docIDs with gaps uniform in [lo, hi].
func Spread(r *rand.Rand, n int, lo, hi uint32) []uint32 {
	docs := make([]uint32, n)
	at := uint32(0)
	for i := range docs {
		at += lo + r.Uint32N(hi-lo+1)
		docs[i] = at
	}
	return docs
}

// Forms returns the rows for kernels with and without look-back: both shapes of the plain
// kernels, kernels that look back, and the row of the device. Chunks of scans end often.
func Forms(d *device.Device) map[string]device.Tuning {
	all := map[string]device.Tuning{}
	for name, t := range Shapes(d) {
		t.LookBack = false
		t.ScanWG, t.ScanChunk = 64, 3
		all[name] = t
		if t.LookBack = !t.Serial; t.LookBack {
			all[name+", look-back"] = t
		}
	}
	if own := d.Tuning(); !own.Serial || !Small() {
		all["own"] = own
	}
	return all
}
