package cl

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// TestDevices lists devices by parts of their names, in any case, GPUs first.
func TestDevices(t *testing.T) {
	d := devicetest.Find(t, everything)
	all, err := Devices("")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(all, func(a, b *device.Device) int { return class(a) - class(b) }) {
		t.Error("GPUs do not come first")
	}
	name := d.Info().Device
	for _, filter := range []string{name, strings.ToUpper(name), name[1:], d.Info().Platform, d.Info().Vendor} {
		found, err := Devices(filter)
		if err != nil || !slices.ContainsFunc(found, func(f *device.Device) bool { return f.Info().Device == name }) {
			t.Errorf("filter %q does not find %q: %v, %v", filter, name, found, err)
		}
	}
	if found, err := Devices("no such device anywhere"); len(found) != 0 || err != nil {
		t.Errorf("devices of no name: %v, %v", found, err)
	}
	i := d.Info()
	if i.Kind != "opencl" || i.Device == "" || i.Platform == "" || i.Version == "" || i.Driver == "" || i.ComputeUnits <= 0 ||
		i.Memory == 0 || i.MaxAlloc == 0 || i.MaxAlloc > i.Memory || i.LocalMemory == 0 || i.Tuning != d.Tuning().Name ||
		!slices.Contains([]string{"cpu", "gpu", "accelerator"}, i.Type) {
		t.Errorf("incomplete: %+v", i)
	}
	if !strings.Contains(d.String(), i.Device) || !strings.Contains(d.String(), i.Platform) {
		t.Errorf("%q does not name device and platform", d)
	}
}

func class(d *device.Device) int {
	if d.Info().Type == "gpu" {
		return 0
	}
	return 1
}

// TestLimits refuses devices that the kernels cannot run on, before anything is
// created there.
func TestLimits(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything)
	for name, c := range map[string]struct {
		change func(*plan.Info, *device.Tuning)
		says   string
	}{
		"work-groups too small": {func(_ *plan.Info, r *device.Tuning) { r.Serial, r.WG = false, 1<<20 }, "work-group"},
		"no local memory":       {func(i *plan.Info, r *device.Tuning) { r.Serial, i.LocalMemory = false, 16 }, "local memory"},
		"no memory of a walk": {func(i *plan.Info, r *device.Tuning) {
			r.Serial, r.NVShuffle, r.LookBack, i.LocalMemory = true, false, false, 16
		}, "16 bytes of local memory"},
		"tiny buffers": {func(i *plan.Info, _ *device.Tuning) { i.MaxAlloc = 1 << 10 }, "1024 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			poor := d.With(c.change)
			f := devicetest.NewFaults()
			b, err := device.Open(t.Context(), poor, device.Options{Fault: f.Hook})
			var dev *plan.DeviceError
			if b != nil || !errors.As(err, &dev) || dev.Kind != plan.ErrNoDevice || !strings.Contains(err.Error(), c.says) {
				t.Errorf("open: %v, %v", b, err)
			}
			if f.Count("open") != 0 {
				t.Error("a context was created")
			}
		})
	}
	serial := d.With(func(i *plan.Info, r *device.Tuning) {
		r.Serial, r.NVShuffle, r.LookBack, r.TableTile, r.GroupLocal, i.LocalMemory = true, false, false, 128, 1<<16, 16<<10
	})
	if err := serial.Check(); err != nil {
		t.Errorf("the serial shape needs 16 KiB of local memory: %v", err)
	}
}

// TestLies has a device that claims more memory than there is: the driver's
// refusal is a typed error, and nothing stays.
func TestLies(t *testing.T) {
	testneeds.OneCaller(t)
	boast := devicetest.Find(t, everything).With(func(i *plan.Info, _ *device.Tuning) { i.Memory, i.MaxAlloc = 1<<62, 1<<61 })
	b, err := device.Open(t.Context(), boast, device.Options{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const much = 1 << 50
	if err := b.Memory.Reserve(much, "too much"); err != nil {
		t.Fatalf("within the limit that the device claims: %v", err)
	}
	m, err := b.Buffer(ocl.MemReadWrite, much, "too much")
	if err == nil { // some drivers grant at once and take the memory at first use
		t.Log("this driver grants a pebibyte")
		m.Release()
	} else if m != nil || !errors.Is(err, plan.ErrOutOfMemory) || !strings.Contains(err.Error(), "1125899906842624") {
		t.Errorf("a buffer of a pebibyte: %v", err)
	}
	if p, err := b.NewPinned(much); p != nil || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("staging of a pebibyte: %v", err)
	}
	b.Memory.Unreserve(much)
	q := ask(t)
	s, err := load(t.Context(), b, q.src)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.run(devicetest.Limited(t), t, s); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnderstated has a device that says it has no memory.
func TestUnderstated(t *testing.T) {
	testneeds.OneCaller(t)
	poor := devicetest.Find(t, everything).With(func(i *plan.Info, _ *device.Tuning) { i.Memory = 0 })
	if b, err := device.Open(t.Context(), poor, device.Options{}); b != nil || !errors.Is(err, plan.ErrNoDevice) || !strings.Contains(err.Error(), "0 bytes") {
		t.Errorf("open: %v, %v", b, err)
	}
}

// TestArenas spreads lists over as many buffers as kernels take, and refuses
// more, as a device does whose allocations are capped.
func TestArenas(t *testing.T) {
	testneeds.OneCaller(t)
	capped := devicetest.Find(t, everything).With(func(i *plan.Info, r *device.Tuning) { i.MaxAlloc, r.RoundTiles = 1<<20, min(r.RoundTiles, 256) })
	b, err := device.Open(t.Context(), capped, device.Options{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	src := &plan.Source{Docs: 1 << 20}
	var postings [][]uint32
	ranges := 0
	for i := 0; ; i++ {
		docs := make([]uint32, 0, 100_000)
		for d := uint32(i); d < src.Docs && len(docs) < 100_000; d += 1 + uint32(i+len(docs))%9 {
			docs = append(docs, d)
		}
		id := []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}[i%3]
		next := *src
		if _, err := next.Append(id, docs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		r, _, err := lists.Layout(&next, capped.Info().MaxAlloc, lists.FilterArena)
		if err != nil { // one list too many
			s, err := load(t.Context(), b, &next)
			if s != nil || !errors.Is(err, plan.ErrOutOfMemory) || b.Memory.InUse() != 0 {
				t.Errorf("lists for four buffers: %v", err)
			}
			break
		}
		ranges, *src, postings = len(r), next, append(postings, docs)
	}
	if ranges != lists.FilterArena {
		t.Fatalf("the lists take %d buffers, the test wants %d", ranges, lists.FilterArena)
	}
	s, err := loadUntestedLists(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	var batch plan.MatchBatch
	var out plan.Results
	for h := range uint32(len(postings)) {
		batch.Add(src, h)
		batch.Add(src, h, (h+5)%uint32(len(postings)), (h+11)%uint32(len(postings)))
	}
	if err := s.Match(devicetest.Limited(t), &batch, &out); err != nil {
		t.Fatal(err)
	}
	for i := range batch.Queries() {
		if want := reference.Conjunction(postings, batch.Query(i)...); !slices.Equal(out.Query(i), want) {
			t.Errorf("query over lists %v: %d docIDs, want %d", batch.Query(i), out.Count(i), len(want))
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if b.Memory.InUse() != 0 {
		t.Errorf("%d bytes are still reserved", b.Memory.InUse())
	}
}

// TestCopyPeak measures, gives the memory back, and can be cancelled.
func TestCopyPeak(t *testing.T) {
	testneeds.OneCaller(t)
	b, err := device.Open(t.Context(), devicetest.Find(t, everything), device.Options{SkipSelfTest: true, MemoryLimit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	peak, err := b.CopyPeak(t.Context())
	if err != nil || peak < 1e8 || peak > 1e14 {
		t.Errorf("%g bytes a second: %v", peak, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := b.CopyPeak(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: %v", err)
	}
	if b.Memory.InUse() != 0 {
		t.Errorf("%d bytes are still reserved", b.Memory.InUse())
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.CopyPeak(t.Context()); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("on a closed backend: %v", err)
	}
}

// TestOpenAndClose comes back to the descriptors that it began with.
func TestOpenAndClose(t *testing.T) {
	d := devicetest.Find(t, everything)
	files := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("counting descriptors needs /proc: ", err)
		}
		return len(names)
	}
	q := ask(t)
	cycle := func() {
		b, err := device.Open(t.Context(), d, device.Options{SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		s, err := load(t.Context(), b, q.src)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.run(devicetest.Limited(t), t, s); err != nil {
			t.Error(err)
		}
		if err := errors.Join(s.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		cycle()
	}
	before := files()
	for range 5 {
		cycle()
	}
	if after := files(); after > before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}
