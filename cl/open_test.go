package cl

import (
	"errors"
	"strings"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestBuildFailure gives the log of the compiler.
func TestBuildFailure(t *testing.T) {
	testneeds.OneCaller(t)
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.Find(t, everything).Tuning())
	p, err := b.Build("__kernel void broken(__global int *x) { x[0] = no_such_name; }")
	if p != nil {
		p.Release()
	}
	var dev *plan.DeviceError
	if !errors.Is(err, plan.ErrBuild) || !errors.As(err, &dev) {
		t.Fatalf("a program that does not compile: %v", err)
	}
	if !strings.Contains(dev.Log, "no_such_name") || !strings.Contains(err.Error(), "no_such_name") {
		t.Errorf("the compiler's log is not in the error: %v", err)
	}
	p, err = b.Build("__kernel void fine(__global int *x) { x[0] = 1; }")
	if err != nil {
		t.Fatalf("after a failed build: %v", err)
	}
	p.Release()
}

// TestBuildFailureAtOpening closes the objects opened so far.
func TestBuildFailureAtOpening(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything)
	failed := &plan.DeviceError{Kind: plan.ErrBuild, Device: d.String(), Op: "building", Log: "line 3: what?"}
	b, err := device.Open(t.Context(), d, device.Options{Fault: func(step string) error {
		if step == "build" {
			return failed
		}
		return nil
	}})
	if b != nil || !errors.Is(err, plan.ErrBuild) || !strings.Contains(err.Error(), "line 3: what?") {
		t.Errorf("open: %v, %v", b, err)
	}
}

// TestSelfTestFails builds kernels that take bitsets for unknown lists, as after a
// miscompilation.
func TestSelfTestFails(t *testing.T) {
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.Find(t, everything).Tuning())
	source := b.Ops.Source(b.Tuning, false, b.Ops.Core()...)
	wrong := strings.Replace(source, "#define CODEC_BITSET 3", "#define CODEC_BITSET 5", 1)
	if wrong == source {
		t.Fatal("the kernels do not define CODEC_BITSET as 3")
	}
	var right *ocl.Program
	use := func(p *ocl.Program) {
		for _, k := range b.Ops.Core() {
			right = b.ReplaceProgram(k, p)
		}
	}
	broken, err := b.Build(wrong)
	if err != nil {
		t.Fatal(err)
	}
	use(broken)
	err = b.SelfTest(devicetest.Limited(t))
	use(right) // the same program for all of them
	broken.Release()
	var dev *plan.DeviceError
	if !errors.Is(err, plan.ErrSelfTest) || !errors.As(err, &dev) || dev.Err == nil {
		t.Errorf("the self-test of wrong kernels: %v", err)
	}
	if err := b.SelfTest(devicetest.Limited(t)); err != nil {
		t.Errorf("the self-test of right kernels: %v", err)
	}
}

// TestMemoryPreflight refuses before anything is allocated, with sizes.
func TestMemoryPreflight(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything)
	q := ask(t)
	f := devicetest.NewFaults()
	b, err := device.Open(t.Context(), d, device.Options{MemoryLimit: 1000, SkipSelfTest: true, Fault: f.Hook})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := load(t.Context(), b, q.src)
	if s != nil || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Fatalf("load into 1000 bytes: %v", err)
	}
	if n := f.Count("allocate"); n != 0 {
		t.Errorf("%d buffers were allocated before the refusal", n)
	}
	for _, word := range []string{"of 1000", "lists and scratch take"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %s", err, word)
		}
	}
	if b.Memory.InUse() != 0 {
		t.Errorf("%d bytes are reserved", b.Memory.InUse())
	}
	if b, err := device.Open(t.Context(), d, device.Options{MemoryLimit: 1000}); b != nil || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("a self-test in 1000 bytes: %v", err)
	}
}

// TestMemoryLimits raises the limit step by step: at first a load is refused, then it
// succeeds without tables, in the end with all tables. The limit holds throughout.
func TestMemoryLimits(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything)
	q := ask(t)
	tuning := devicetest.FewTiles(devicetest.Find(t, everything))
	full, err := device.Open(t.Context(), d, device.Options{Tuning: &tuning, SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := loadUntestedLists(t.Context(), full, q.src)
	if err != nil {
		t.Fatal(err)
	}
	needed, bits := s.Memory(), s.set.Tables[plan.Bits].Bytes
	if err := errors.Join(s.Close(), full.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit uint64
		auto  plan.Algorithm // Auto: the load is refused
	}{
		{needed - bits - 1, plan.Auto},
		{needed - bits, plan.BS},
		{needed, plan.Bits},
	} {
		b, err := device.Open(t.Context(), d, device.Options{Tuning: &tuning, SkipSelfTest: true, MemoryLimit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		s, err := loadUntestedLists(t.Context(), b, q.src)
		if c.auto == plan.Auto {
			if !errors.Is(err, plan.ErrOutOfMemory) || b.Memory.InUse() != 0 {
				t.Errorf("limit %d of %d: %v, %d bytes reserved", c.limit, needed, err, b.Memory.InUse())
			}
		} else if err != nil {
			t.Errorf("limit %d of %d: %v", c.limit, needed, err)
		} else {
			if s.set.Auto != c.auto || b.Memory.InUse() > c.limit {
				t.Errorf("limit %d of %d: %v, %d bytes reserved", c.limit, needed, s.set.Auto, b.Memory.InUse())
			}
			if err := q.run(devicetest.Limited(t), t, s); err != nil {
				t.Error(err)
			}
			if s.set.Auto == plan.BS { // an explicit algorithm is not replaced
				batch := q.batch
				batch.Algorithm = plan.Bits
				if err := s.Match(devicetest.Limited(t), &batch, &plan.Results{}); !errors.Is(err, plan.ErrOutOfMemory) {
					t.Errorf("tables that do not fit: %v", err)
				}
				if err := q.run(devicetest.Limited(t), t, s); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if b.Memory.InUse() != 0 {
			t.Errorf("limit %d: %d bytes are still reserved", c.limit, b.Memory.InUse())
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSelfTestOnFirstUse tests the kernels of codecs when lists are loaded, and the kernels of
// algorithms when a batch names one, also if another process has passed the self-test. Wrong kernels are not used.
func TestSelfTestOnFirstUse(t *testing.T) {
	b, err := device.Open(t.Context(), devicetest.Find(t, everything), device.Options{Passed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	src, _, err := lists.Sample(codec.Raw, codec.HSLRC256)
	if err != nil {
		t.Fatal(err)
	}
	id := device.KernelID{Name: "intersect", With: lists.UseLines}
	source := b.Source(id)
	wrong := strings.Replace(source, "#define PROBE_OWN 4", "#define PROBE_OWN 44", 1)
	if wrong == source {
		t.Fatal("the kernels do not define PROBE_OWN as 4")
	}
	p, err := b.Build(wrong)
	if err != nil {
		t.Fatal(err)
	}
	b.ReplaceProgram(id, p)
	if s, err := load(t.Context(), b, src); s != nil || !errors.Is(err, plan.ErrSelfTest) || b.HasPassed(codec.HSLRC256) {
		t.Errorf("lists whose kernels are wrong: %v", err)
	}
	b.ReplaceProgram(id, nil).Release()
	s, err := load(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !b.HasPassed(codec.HSLRC256) || b.HasPassed(codec.LRC) || b.HasPassed(plan.PMF1) {
		t.Error("tests have passed that did not run, or the reverse")
	}
	for _, a := range []plan.Algorithm{plan.HS32, plan.PMF1} {
		batch := plan.MatchBatch{Algorithm: a}
		batch.Add(src, 0, 2)
		if err := s.Match(t.Context(), &batch, &plan.Results{}); err != nil {
			t.Fatal(err)
		}
	}
	if !b.HasPassed(plan.PMF1) || b.HasPassed(plan.HS32) || b.HasPassed(plan.PMF2) {
		t.Error("tests have passed that did not run, or the reverse")
	}
}
