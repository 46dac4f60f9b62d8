package cl

import (
	"errors"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	r := newRig(t, 0)
	p, err := r.ctx.CreateProgramWithSource([]string{
		"#define ONE 1\n", "", "kernel void f(global uint *out) ", "{ out[get_global_id(0)] = ONE + TWO; }",
	})
	r.must(err)
	defer p.Release()
	r.must(p.BuildProgram([]*Device{r.device}, "-DTWO=20"))
	if got := r.run(p); got != 21 {
		t.Errorf("the kernel gave %d, want 21", got)
	}
	if _, err := p.CreateKernel("g"); !errors.Is(err, ErrInvalidKernelName) {
		t.Errorf("a kernel that is not there: %v", err)
	}
	if _, err := p.CreateKernel(""); err == nil {
		t.Error("a kernel without a name was found")
	}
}

func TestBuildErrors(t *testing.T) {
	r := newRig(t, 0)
	if _, err := r.ctx.CreateProgramWithSource(nil); !errors.Is(err, ErrInvalidValue) {
		t.Errorf("no sources: %v", err)
	}
	p, err := r.ctx.CreateProgramWithSource([]string{"kernel void f() {}"})
	r.must(err)
	defer p.Release()
	if _, err := p.CreateKernel("f"); err == nil {
		t.Error("a program that is not built has a kernel")
	}
	if err := p.BuildProgram([]*Device{nil}, ""); !errors.Is(err, ErrInvalidDevice) {
		t.Errorf("no device: %v", err)
	}
	if err := p.BuildProgram(nil, "--no-such-option"); err == nil {
		t.Error("an option that is not there was taken")
	}
}

// TestBuildLog builds a wrong program for all devices of a platform.
func TestBuildLog(t *testing.T) {
	d := testDevice(t)
	devices := []*Device{d}
	if inChild() {
		platforms, err := GetPlatforms()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range platforms {
			if p.Name() == poclPlatform {
				if devices, err = p.GetDevices(DeviceTypeAll); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	ctx, err := CreateContext(devices)
	if err != nil {
		t.Fatal(err)
	}
	defer ctx.Release()
	p, err := ctx.CreateProgramWithSource([]string{"kernel void f(global uint *out) { out[0] = missing; }"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	err = p.BuildProgram(nil, "")
	log, ok := errors.AsType[BuildError](err)
	if !ok {
		t.Fatalf("a wrong program gave %v", err)
	}
	if !strings.Contains(string(log), "missing") {
		t.Errorf("the log does not name the fault: %s", log)
	}
	if strings.Contains(string(log), "\x00") {
		t.Errorf("zero byte in %q", log)
	}
	named := 0
	for _, d := range devices {
		if strings.Contains(string(log), d.Name()+": ") {
			named++
		}
	}
	t.Logf("devices: %d, named in the log: %d", len(devices), named)
	if named != len(devices) {
		t.Errorf("the log names %d of %d devices: %s", named, len(devices), log)
	}
}

func TestBuildLogOfAllDevices(t *testing.T) {
	testDevice(t)
	out := child(t, "^TestBuildLog$", "POCL_DEVICES=pthread basic")
	if !strings.Contains(out, "devices: 2,") {
		t.Skip("PoCL has no second device here")
	}
	if !strings.Contains(out, "named in the log: 2") {
		t.Errorf("unexpected output:\n%s", out)
	}
}
