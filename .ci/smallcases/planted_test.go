package smallcases

import (
	"os"
	"strings"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// planted has a data race on o[0], and a branch on o[1], which is never written. The host writes
// o[2].
const planted = `__kernel void planted(__global uint *o) {
	o[0] = get_global_id(0);
	if (o[1]) o[3] = 1;
	if (o[2]) o[4] = 1;
}`

// TestPlanted runs a kernel with two faults, to see that the checker reports
// them: a checker that is silent here proves nothing elsewhere. Then it opens a second
// context, as the other tests do: the reports must outlive it. It is no test of
// heddle, and runs only where HEDDLE_TEST_PLANTED is set.
func TestPlanted(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_PLANTED") == "" {
		t.Skip("runs a faulty kernel: for a checker only (HEDDLE_TEST_PLANTED)")
	}
	device := findDevice(t)
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	context, err := ocl.CreateContext([]*ocl.Device{device})
	try(err)
	defer context.Release()
	queue, err := context.CreateCommandQueue(device, 0)
	try(err)
	defer queue.Release()
	program, err := context.CreateProgramWithSource([]string{planted})
	try(err)
	defer program.Release()
	try(program.BuildProgram([]*ocl.Device{device}, "-cl-std=CL1.2"))
	kernel, err := program.CreateKernel("planted")
	try(err)
	defer kernel.Release()
	buffer, err := context.CreateEmptyBuffer(ocl.MemReadWrite, 64)
	try(err)
	defer buffer.Release()
	one := uint32(1)
	written, err := queue.EnqueueWriteBuffer(buffer, true, 8, 4, unsafe.Pointer(&one), nil)
	try(err)
	defer written.Release()
	try(kernel.SetArgBuffer(0, buffer))
	event, err := queue.EnqueueNDRangeKernel(kernel, nil, []int{4}, []int{4}, nil)
	try(err)
	defer event.Release()
	try(queue.Finish())
	second, err := ocl.CreateContext([]*ocl.Device{device})
	try(err)
	second.Release()
}

func findDevice(t *testing.T) *ocl.Device {
	platforms, err := ocl.GetPlatforms()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range platforms {
		devices, err := p.GetDevices(ocl.DeviceTypeAll)
		if err != nil {
			continue
		}
		for _, d := range devices {
			if strings.Contains(strings.ToLower(p.Name()+d.Name()), os.Getenv("HEDDLE_TEST_DEVICE")) {
				return d
			}
		}
	}
	t.Fatal("no such device")
	return nil
}
