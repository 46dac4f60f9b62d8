package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestPreferred has auto take GPUs, and CPUs only where their row says so.
func TestPreferred(t *testing.T) {
	for _, c := range []struct {
		kind, name string
		beatsHost  bool
		want       bool
	}{
		{"gpu", "NVIDIA H200", false, true},
		{"gpu", "llvmpipe (LLVM 15.0.6, 256 bits)", false, false},
		{"cpu", "pthread-skylake", false, false},
		{"cpu", "pthread-skylake", true, true},
		{"accelerator", "FPGA", false, false},
	} {
		d := &Device{info: plan.Info{Type: c.kind, Device: c.name}, tuning: Tuning{BeatsHost: c.beatsHost}}
		if got, why := d.Preferred(); got != c.want || why == "" {
			t.Errorf("%+v: %t, %q", c, got, why)
		}
	}
}

// TestTypeName names the types, combined ones too.
func TestTypeName(t *testing.T) {
	for kind, want := range map[ocl.DeviceType]string{
		ocl.DeviceTypeGPU:                         "gpu",
		ocl.DeviceTypeGPU | ocl.DeviceTypeDefault: "gpu",
		ocl.DeviceTypeCPU:                         "cpu",
		ocl.DeviceTypeCPU | ocl.DeviceTypeDefault: "cpu",
		ocl.DeviceTypeAccelerator:                 "accelerator",
	} {
		if got := typeName(kind); got != want {
			t.Errorf("%v: %q, want %q", kind, got, want)
		}
	}
}

// checkKind checks the kind of a *plan.DeviceError and the error of the driver in it.
func checkKind(t *testing.T, err, driver, kind error) {
	t.Helper()
	failed, ok := errors.AsType[*plan.DeviceError](err)
	if !ok || failed.Kind != kind || !errors.Is(err, driver) || failed.Device == "" || failed.Op == "" {
		t.Errorf("%v is not of kind %v, or does not wrap %v", err, kind, driver)
	}
}

// TestErrorKinds maps errors of drivers to the kinds of the engine.
func TestErrorKinds(t *testing.T) {
	b := &Runtime{dev: &Device{info: plan.Info{Device: "A", Platform: "P"}}}
	for _, c := range []struct {
		driver      error
		work, alloc error // the kind during work, and while buffers are made
	}{
		{ocl.ErrMemObjectAllocationFailure, plan.ErrOutOfMemory, plan.ErrOutOfMemory},
		{ocl.ErrOutOfHostMemory, plan.ErrOutOfMemory, plan.ErrOutOfMemory},
		{ocl.ErrInvalidBufferSize, plan.ErrOutOfMemory, plan.ErrOutOfMemory},
		{ocl.ErrOutOfResources, plan.ErrDeviceLost, plan.ErrOutOfMemory},
		{ocl.ErrDeviceNotAvailable, plan.ErrDeviceLost, plan.ErrDeviceLost},
		{ocl.ErrInvalidCommandQueue, plan.ErrDeviceLost, plan.ErrDeviceLost},
		{ocl.ErrExecStatusErrorForEventsInWaitList, plan.ErrDeviceLost, plan.ErrDeviceLost},
		{ocl.ErrOther(-9999), plan.ErrDeviceLost, plan.ErrDeviceLost},
	} {
		checkKind(t, b.Fail("working", c.driver), c.driver, c.work)
		checkKind(t, b.failAlloc("allocating", c.driver), c.driver, c.alloc)
		checkKind(t, b.Fail("working", fmt.Errorf("wrapped: %w", c.driver)), c.driver, c.work)
	}
	if err := b.Fail("working", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	if err := b.failAlloc("allocating", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	first := b.Fail("the first step", ocl.ErrOutOfHostMemory)
	if err := b.Fail("the second step", first); err != first {
		t.Errorf("a typed error was wrapped again: %v", err)
	}
	fault := fmt.Errorf("copying: %w", &mapped.Fault{Err: errors.New("the file was truncated")})
	if err := b.Fail("the second step", fault); err != fault {
		t.Errorf("the fault of a file became one of the device: %v", err)
	}
	for _, word := range []string{"A (P)", "the first step", "out of memory", "out of host memory"} {
		if !strings.Contains(first.Error(), word) {
			t.Errorf("%q does not say %q", first, word)
		}
	}
}

// TestBudgetFreesSpare reserves more than is left: owners of spare memory give it back, one
// by one, until it is enough, and not after they withdraw.
func TestBudgetFreesSpare(t *testing.T) {
	b := NewBudget("a device", 100)
	spare := []uint64{30, 20, 50}
	var remove []func()
	for i := range spare {
		if err := b.Reserve(spare[i], "spare memory"); err != nil {
			t.Fatal(err)
		}
		remove = append(remove, b.OnShortage(func() bool {
			n := spare[i]
			b.Unreserve(n)
			spare[i] = 0
			return n > 0
		}))
	}
	if err := b.Reserve(10, "a buffer"); err != nil || spare[0]+spare[1]+spare[2] == 100 {
		t.Errorf("%v, spare %v", err, spare)
	}
	if err := b.Reserve(90, "a buffer"); err != nil || b.Left() != 0 {
		t.Errorf("%v, %d bytes left, spare %v", err, b.Left(), spare)
	}
	if err := b.Reserve(1, "a buffer"); !IsExceeded(err) {
		t.Errorf("without spare memory: %v", err)
	}
	b.Unreserve(50)
	spare[0] = 50
	if err := b.Reserve(50, "spare memory"); err != nil {
		t.Fatal(err)
	}
	for _, f := range remove {
		f()
	}
	if err := b.Reserve(1, "a buffer"); !IsExceeded(err) {
		t.Errorf("after the owners withdrew: %v", err)
	}
}

// TestContextsDiffer gives the programs of two open contexts different options where a driver
// mixes them, and closed contexts their number back.
func TestContextsDiffer(t *testing.T) {
	a, b := takeNumber(), takeNumber()
	if a == b {
		t.Fatalf("two open contexts have number %d", a)
	}
	returnNumber(a)
	if again := takeNumber(); again != a {
		t.Errorf("number %d after %d is free", again, a)
	}
	returnNumber(a)
	returnNumber(b)
	for platform, differs := range map[string]bool{"Portable Computing Language": true, "NVIDIA CUDA": false} {
		dev := &Device{quirks: quirksFor(platform, "device")}
		first, second := &Runtime{dev: dev}, &Runtime{dev: dev, number: 1}
		if (first.buildOptions() != second.buildOptions()) != differs {
			t.Errorf("%s: %q and %q", platform, first.buildOptions(), second.buildOptions())
		}
	}
}

// TestNeeds checks kernels that need as much as the device has, and one more.
func TestNeeds(t *testing.T) {
	found, err := Find(testneeds.Device(t), nil, nil)
	if err != nil || len(found.Devices) == 0 {
		t.Fatalf("no device: %v", err)
	}
	d := *found.Devices[0]
	d.tuning.Serial, d.tuning.NVShuffle, d.tuning.LookBack = false, false, false
	local, group := int(d.info.LocalMemory), d.handle.MaxWorkGroupSize()
	for _, c := range []struct {
		local, group int
		serial, fits bool
	}{{local, group, false, true}, {local + 1, 1, false, false}, {local + 1, 1, true, false}, {1, group + 1, false, false}} {
		d.tuning.Serial = c.serial
		d.ops = Operations{{Limits: func(Tuning) (int, int) { return 1, 1 }}, {Limits: func(Tuning) (int, int) { return c.local, c.group }}, {}}
		if err := d.Check(); (err == nil) != c.fits || err != nil && !errors.Is(err, plan.ErrNoDevice) {
			t.Errorf("%+v of %d bytes and %d work-items: %v", c, local, group, err)
		}
	}
}
