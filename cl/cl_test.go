package cl

import (
	"context"
	"os"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
	"heddle/engine/plan/plantest/ranktest"
)

// testDevice is the device that the environment asks for: these tests run where
// HEDDLE_TEST_BACKEND is "opencl", on the first device whose name contains
// HEDDLE_TEST_DEVICE.
func testDevice(t testing.TB) *Device {
	t.Helper()
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" {
		t.Skip("needs an OpenCL device: set HEDDLE_TEST_BACKEND=opencl")
	}
	devices, err := Devices(os.Getenv("HEDDLE_TEST_DEVICE"))
	if err != nil || len(devices) == 0 {
		t.Fatalf("HEDDLE_TEST_BACKEND=opencl, but no device matches %q: %v", os.Getenv("HEDDLE_TEST_DEVICE"), err)
	}
	return devices[0]
}

// shapes are the two shapes of every kernel with a scan; each device runs both.
func shapes(d *Device) map[string]Tuning {
	serial, local := d.Tuning(), d.Tuning()
	serial.Serial, serial.NVShuffle = true, false
	local.Serial, local.NVShuffle = false, false
	shapes := map[string]Tuning{"serial": serial, "local": local}
	if d.Tuning().NVShuffle {
		shapes["shuffle"] = d.Tuning()
	}
	return shapes
}

func small() bool { return os.Getenv("HEDDLE_TEST_SMALL") == "1" }

// TestSuite runs the suite of all backends over both shapes of the kernels.
func TestSuite(t *testing.T) {
	d := testDevice(t)
	for name, shape := range shapes(d) {
		t.Run(name, func(t *testing.T) {
			open := func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			opt := plantest.Options{Small: small()}
			matchtest.Run(t, open, opt)
			ranktest.Run(t, open, opt)
		})
	}
}

// TestSelfTest opens the device as an engine does.
func TestSelfTest(t *testing.T) {
	b, err := Open(context.Background(), testDevice(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != plan.ErrClosed {
		t.Fatalf("second Close: %v", err)
	}
}
