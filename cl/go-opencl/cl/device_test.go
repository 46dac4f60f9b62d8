package cl

import (
	"os"
	"strings"
	"testing"
)

const poclPlatform = "Portable Computing Language"

// testDevice returns a device that can build programs: the first one whose name
// contains HEDDLE_TEST_DEVICE when that is set, else one of PoCL, else any. It
// skips the test when the machine has none.
func testDevice(t testing.TB) *Device {
	t.Helper()
	platforms, err := GetPlatforms()
	if err != nil {
		t.Skipf("no OpenCL here: %v", err)
	}
	want := os.Getenv("HEDDLE_TEST_DEVICE")
	var found *Device
	for _, p := range platforms {
		devices, err := p.GetDevices(DeviceTypeAll)
		if err != nil {
			continue // a platform without devices
		}
		for _, d := range devices {
			if !d.Available() || !d.CompilerAvailable() || !strings.Contains(d.Name(), want) {
				continue
			}
			if want != "" || p.Name() == poclPlatform {
				return d
			}
			if found == nil {
				found = d
			}
		}
	}
	if found == nil {
		t.Skipf("no OpenCL device here has %q in its name", want)
	}
	return found
}

func TestSmoke(t *testing.T) {
	d := testDevice(t)
	t.Log(d.Name(), d.Type(), d.MaxWorkItemSizes(), d.LocalMemType(), d.GlobalMemSize())
	ctx, err := CreateContext([]*Device{d})
	if err != nil {
		t.Fatal(err)
	}
	defer ctx.Release()
	p, err := ctx.CreateProgramWithSource([]string{"kernel void f(global uint*a, uint n)", "{ a[get_global_id(0)] = n + get_global_id(0); }"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.BuildProgram(nil, ""); err != nil {
		t.Fatal(err)
	}
	k, err := p.CreateKernel("f")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ctx.CreateEmptyBuffer(MemReadWrite, 4*256)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ctx.CreateCommandQueue(d, CommandQueueProfilingEnable)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.SetArgs(b, uint32(7)); err != nil {
		t.Fatal(err)
	}
	e, err := q.EnqueueNDRangeKernel(k, nil, []int{256}, []int{64}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, e2, err := q.EnqueueMapBuffer(b, true, MapFlagRead, 0, 1024, []*Event{e})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(m.ByteSlice()[:16], e2)
}
