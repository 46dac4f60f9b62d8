package cl

import (
	"os"
	"testing"
	"unsafe"
)

// benchRig has a kernel of one work-group with its arguments set.
func benchRig(t testing.TB) (*rig, *Kernel, *MemObject) {
	r := newRig(t, 0)
	k := r.kernel("kernel void touch(global uint *a, uint k) { a[get_global_id(0)] += k; }", "touch")
	b := r.buffer(4096)
	r.write(b, make([]byte, 4096))
	r.must(k.SetArgs(b, uint32(1)))
	return r, k, b
}

// TestAllocations keeps the calls of the hot path at few objects of Go: the list of
// arguments, the event, and values that the caller passes by pointer.
func TestAllocations(t *testing.T) {
	if os.Getenv("HEDDLE_OPENCL_SERIAL") == "1" {
		t.Skip("serial mode allocates a request for each call")
	}
	r, k, b := benchRig(t)
	global, local := []int{64}, []int{64}
	data := make([]byte, 4096)
	for name, c := range map[string]struct {
		most float64
		run  func()
	}{
		"SetArgUint32": {1, func() { r.must(k.SetArgUint32(1, 1)) }},
		"SetArgBuffer": {1, func() { r.must(k.SetArgBuffer(0, b)) }},
		"Finish":       {1, func() { r.must(r.queue.Finish()) }},
		// Launch, marker, flush, list of events, wait, release: 7. Under the race detector a sync.Pool of
		// purego drops some values, which adds one.
		"launch": {8, func() {
			e, err := r.queue.EnqueueNDRangeKernel(k, nil, global, local, nil)
			r.must(err)
			r.must(WaitForEvents([]*Event{e}))
			e.Release()
		}},
		"read": {3, func() {
			e, err := r.queue.EnqueueReadBuffer(b, true, 0, 4096, unsafe.Pointer(&data[0]), nil)
			r.must(err)
			e.Release()
		}},
	} {
		if got := testing.AllocsPerRun(50, c.run); got > c.most {
			t.Errorf("%s allocates %v objects, more than %v", name, got, c.most)
		}
	}
}

func BenchmarkDeviceInfo(b *testing.B) {
	d := testDevice(b)
	b.ReportAllocs()
	for b.Loop() {
		d.MaxComputeUnits()
	}
}

func BenchmarkSetArg(b *testing.B) {
	_, k, _ := benchRig(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := k.SetArgUint32(1, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFinishIdle(b *testing.B) {
	r := newRig(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		r.must(r.queue.Finish())
	}
}

// BenchmarkLaunch is one work-group and Finish.
func BenchmarkLaunch(b *testing.B) {
	r, k, _ := benchRig(b)
	size := []int{64}
	b.ReportAllocs()
	for b.Loop() {
		e, err := r.queue.EnqueueNDRangeKernel(k, nil, size, size, nil)
		r.must(err)
		r.must(r.queue.Finish())
		e.Release()
	}
}

// BenchmarkLaunches is 32 launches and one Finish; the time is for one launch.
func BenchmarkLaunches(b *testing.B) {
	r, k, _ := benchRig(b)
	size := []int{64}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		e, err := r.queue.EnqueueNDRangeKernel(k, nil, size, size, nil)
		r.must(err)
		e.Release()
		if n++; n%32 == 0 {
			r.must(r.queue.Finish())
		}
	}
	r.must(r.queue.Finish())
}

func BenchmarkRead4KiB(b *testing.B) {
	r, _, buffer := benchRig(b)
	data := make([]byte, 4096)
	b.ReportAllocs()
	b.SetBytes(4096)
	for b.Loop() {
		e, err := r.queue.EnqueueReadBuffer(buffer, true, 0, 4096, unsafe.Pointer(&data[0]), nil)
		r.must(err)
		e.Release()
	}
}
