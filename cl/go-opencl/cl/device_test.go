package cl

import (
	"errors"
	"strings"
	"testing"
)

func TestPlatforms(t *testing.T) {
	d := testDevice(t)
	platforms, err := GetPlatforms()
	if err != nil || len(platforms) == 0 {
		t.Fatalf("%d platforms, %v", len(platforms), err)
	}
	found := false
	for _, p := range platforms {
		if p.Name() == "" || p.Vendor() == "" || !strings.HasPrefix(p.Version(), "OpenCL ") || !strings.HasSuffix(p.Profile(), "_PROFILE") {
			t.Errorf("platform %q of %q, %q, %q", p.Name(), p.Vendor(), p.Version(), p.Profile())
		}
		if s := p.Name() + p.Extensions(); strings.Contains(s, "\x00") {
			t.Errorf("zero byte in %q", s)
		}
		devices, err := p.GetDevices(DeviceTypeAll)
		if err != nil && !errors.Is(err, ErrDeviceNotFound) {
			t.Errorf("%s: %v", p.Name(), err)
		}
		for _, o := range devices {
			found = found || o.id == d.id
		}
		if same, err := GetDevices(p, DeviceTypeAll); len(same) != len(devices) {
			t.Errorf("%s: %d devices, then %d, %v", p.Name(), len(devices), len(same), err)
		}
	}
	if !found {
		t.Error("the device under test is not listed")
	}
}

func TestDeviceInfo(t *testing.T) {
	d := testDevice(t)
	for name, s := range map[string]string{
		"Name": d.Name(), "Vendor": d.Vendor(), "DriverVersion": d.DriverVersion(), "Extensions": d.Extensions(),
	} {
		if s == "" || strings.Contains(s, "\x00") {
			t.Errorf("%s is %q", name, s)
		}
	}
	for want, s := range map[string]string{"OpenCL ": d.Version(), "OpenCL C ": d.OpenCLCVersion(), "FULL_PROFILE": d.Profile()} {
		if !strings.HasPrefix(s, want) {
			t.Errorf("%q does not begin with %q", s, want)
		}
	}
	// The least values that OpenCL 1.2 allows.
	for name, c := range map[string]struct{ got, least int64 }{
		"MaxComputeUnits":         {int64(d.MaxComputeUnits()), 1},
		"MaxWorkItemDimensions":   {int64(d.MaxWorkItemDimensions()), 3},
		"MaxWorkGroupSize":        {int64(d.MaxWorkGroupSize()), 1},
		"PreferredVectorWidthInt": {int64(d.PreferredVectorWidthInt()), 1},
		"NativeVectorWidthInt":    {int64(d.NativeVectorWidthInt()), 1},
		"MaxMemAllocSize":         {d.MaxMemAllocSize(), 1 << 20},
		"MaxParameterSize":        {int64(d.MaxParameterSize()), 256},
		"MemBaseAddrAlign":        {int64(d.MemBaseAddrAlign()), 128},
		"GlobalMemSize":           {d.GlobalMemSize(), d.MaxMemAllocSize()},
		"MaxConstantBufferSize":   {d.MaxConstantBufferSize(), 1 << 10},
		"LocalMemSize":            {d.LocalMemSize(), 1 << 10},
		"MaxClockFrequency":       {int64(d.MaxClockFrequency()), 0},
		"GlobalMemCachelineSize":  {int64(d.GlobalMemCachelineSize()), 0},
		"GlobalMemCacheSize":      {int64(d.GlobalMemCacheSize()), 0},
	} {
		if c.got < c.least {
			t.Errorf("%s is %d, less than %d", name, c.got, c.least)
		}
	}
	if r := d.ProfilingTimerResolution(); r < 0 || r > 1e9 {
		t.Errorf("the timer's resolution is %d ns", r)
	}
	if bits := d.AddressBits(); bits != 32 && bits != 64 {
		t.Errorf("%d address bits", bits)
	}
	if !d.EndianLittle() || !d.Available() || !d.CompilerAvailable() {
		t.Error("the device is big-endian, not available or has no compiler")
	}
	if d.Type()&(DeviceTypeCPU|DeviceTypeGPU|DeviceTypeAccelerator) == 0 {
		t.Errorf("type %v", d.Type())
	}
	t.Logf("%s: %v, unified memory %v, error correction %v", d.Name(), d.Type(), d.HostUnifiedMemory(), d.ErrorCorrectionSupport())
	if m := d.LocalMemType(); m != LocalMemTypeLocal && m != LocalMemTypeGlobal {
		t.Errorf("local memory is %v", m)
	}
	sizes := d.MaxWorkItemSizes()
	if len(sizes) != d.MaxWorkItemDimensions() {
		t.Fatalf("sizes %v", sizes)
	}
	for _, s := range sizes {
		if s < 1 || s > d.MaxWorkGroupSize() {
			t.Errorf("sizes %v with a work-group of %d", sizes, d.MaxWorkGroupSize())
		}
	}
}

func TestStrings(t *testing.T) {
	for got, want := range map[string]string{
		DeviceType(0).String():                       "None",
		DeviceTypeGPU.String():                       "GPU",
		(DeviceTypeCPU | DeviceTypeDefault).String(): "CPU|Default",
		DeviceTypeAll.String():                       "CPU|GPU|Accelerator|Default",
		LocalMemTypeNone.String():                    "None",
		LocalMemTypeLocal.String():                   "Local",
		LocalMemTypeGlobal.String():                  "Global",
		LocalMemType(9).String():                     "Unknown",
		BuildError("log").Error():                    "cl: build error (log)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
