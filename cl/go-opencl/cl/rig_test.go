package cl

import (
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"
)

const poclPlatform = "Portable Computing Language"

// testDevice returns a device that can build programs: the first one whose name, or the
// name of its platform, contains HEDDLE_TEST_DEVICE when that is set, else one of PoCL,
// else any. It skips the test when the machine has none.
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
			if !d.Available() || !d.CompilerAvailable() || !strings.Contains(d.Name(), want) && !strings.Contains(p.Name(), want) {
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
		t.Skipf("no OpenCL device or platform here has %q in its name", want)
	}
	return found
}

// rig is a context and a queue on the device under test.
type rig struct {
	t      testing.TB
	device *Device
	ctx    *Context
	queue  *CommandQueue
}

func newRig(t testing.TB, properties CommandQueueProperty) *rig {
	t.Helper()
	r := &rig{t: t, device: testDevice(t)}
	var err error
	r.ctx, err = CreateContext([]*Device{r.device})
	r.must(err)
	t.Cleanup(r.ctx.Release)
	r.queue, err = r.ctx.CreateCommandQueue(r.device, properties)
	r.must(err)
	t.Cleanup(r.queue.Release)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// kernel builds the source and returns one of its kernels.
func (r *rig) kernel(source, name string) *Kernel {
	r.t.Helper()
	p, err := r.ctx.CreateProgramWithSource([]string{source})
	r.must(err)
	r.t.Cleanup(p.Release)
	r.must(p.BuildProgram(nil, ""))
	k, err := p.CreateKernel(name)
	r.must(err)
	r.t.Cleanup(k.Release)
	return k
}

func (r *rig) buffer(size int) *MemObject {
	r.t.Helper()
	b, err := r.ctx.CreateEmptyBuffer(MemReadWrite, size)
	r.must(err)
	r.t.Cleanup(b.Release)
	return b
}

// done waits for a command and releases its event.
func (r *rig) done(e *Event, err error) {
	r.t.Helper()
	r.must(err)
	r.must(WaitForEvents([]*Event{e}))
	e.Release()
}

func (r *rig) write(b *MemObject, data []byte) {
	r.t.Helper()
	r.done(r.queue.EnqueueWriteBuffer(b, true, 0, len(data), unsafe.Pointer(&data[0]), nil))
}

func (r *rig) read(b *MemObject, size int) []byte {
	r.t.Helper()
	data := make([]byte, size)
	r.done(r.queue.EnqueueReadBuffer(b, true, 0, size, unsafe.Pointer(&data[0]), nil))
	return data
}

// counting returns n bytes that begin with the given one and rise.
func counting(n int, from byte) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = from + byte(i)
	}
	return data
}

// words turns the bytes that a device wrote into its 32-bit words.
func words(data []byte) []uint32 {
	w := make([]uint32, len(data)/4)
	for i := range w {
		w[i] = binary.NativeEndian.Uint32(data[4*i:])
	}
	return w
}

// child runs one test of this binary in a process of its own, with the environment
// added, and returns its output. The test there finds inChild true.
func child(t *testing.T, test string, environment ...string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", test, "-test.v", "-test.timeout", "2m")
	cmd.Env = append(os.Environ(), "HEDDLE_TEST_CHILD=1")
	cmd.Env = append(cmd.Env, environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", environment, err, out)
	}
	return string(out)
}

func inChild() bool { return os.Getenv("HEDDLE_TEST_CHILD") != "" }
