package device

import (
	"errors"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan/testneeds"
)

// TestTook reads the time of a command whose end the driver has not noticed once, and one that it never notices.
func TestTook(t *testing.T) {
	found, err := Find(testneeds.Device(t), nil, nil)
	if err != nil || len(found.Devices) == 0 {
		t.Fatalf("no device: %v", err)
	}
	late := 0 // answers that come too early
	rt, err := Open(t.Context(), found.Devices[0], Options{Profiling: true, Fault: func(step string) error {
		if step != "profile" || late == 0 {
			return nil
		}
		late--
		return ocl.ErrProfilingInfoNotAvailable
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	q, err := rt.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	buffer, err := rt.context.CreateEmptyBuffer(ocl.MemReadWrite, 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer buffer.Release()
	words := make([]uint32, 1024)
	e, err := q.EnqueueWriteBuffer(buffer, true, 0, 4096, unsafe.Pointer(&words[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Release()
	for n, fails := range []bool{false, false, true} {
		late = n
		took, err := rt.Took(e, e)
		if fails != errors.Is(err, ocl.ErrProfilingInfoNotAvailable) || !fails && (err != nil || took < 0) {
			t.Errorf("%d early answers: %v, %v", n, took, err)
		}
	}
}
