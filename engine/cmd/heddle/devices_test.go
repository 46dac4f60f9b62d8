package main

import (
	"encoding/json"
	"strings"
	"testing"

	"heddle/engine/cmd/heddle/internal/doctor"
	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/plan/testneeds"
)

type devicesAnswer struct {
	Devices []machine.Place
	OpenCL  string `json:"opencl_error"`
}

func devicesJSON(t *testing.T, args ...string) devicesAnswer {
	t.Helper()
	r := heddleWith(t, "", nil, append([]string{"devices", "--json"}, args...)...)
	var a devicesAnswer
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || r.code != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	return a
}

// TestDevices checks that the host is always usable, and that auto chooses exactly one
// processor: the first one that is preferred and usable.
func TestDevices(t *testing.T) {
	a := devicesJSON(t)
	taken := -1
	for i, p := range a.Devices {
		if p.Reason == "" || p.Device == "" || p.Usable == (p.Error != "") {
			t.Errorf("%+v", p)
		}
		if p.Auto {
			if taken >= 0 || !p.Usable || !p.Preferred {
				t.Errorf("auto chooses %+v", p)
			}
			taken = i
		} else if taken < 0 && p.Usable && p.Preferred {
			t.Errorf("auto passes by %+v", p)
		}
	}
	if taken < 0 {
		t.Error("auto takes nothing")
	}
	last := a.Devices[len(a.Devices)-1]
	if last.Kind != "host" || !last.Usable || last.ComputeUnits < 1 {
		t.Errorf("the last place is %+v, want the host", last)
	}

	r := heddleWith(t, "", nil, "devices")
	if r.code != 0 || strings.Count(r.stdout, "\n* ")+strings.Count(r.stdout[:2], "* ") != 1 || !strings.Contains(r.stdout, " host: pure Go") {
		t.Errorf("%+v", r)
	}
}

func TestDevicesOfHost(t *testing.T) {
	a := devicesJSON(t, "--backend", "host", "--threads", "3")
	if len(a.Devices) != 1 || !a.Devices[0].Auto || a.Devices[0].ComputeUnits != 3 || a.OpenCL != "" {
		t.Errorf("%+v", a)
	}
}

func TestDevicesNone(t *testing.T) {
	for _, args := range []string{"--device no-such-device", "--backend opencl --device no-such-device"} {
		r := heddleWith(t, "", nil, append([]string{"devices"}, strings.Fields(args)...)...)
		if r.code != exitDevice || !strings.Contains(r.stderr, "no-such-device") || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// TestDevicesUnderTest checks that the list contains the OpenCL device of the test run.
func TestDevicesUnderTest(t *testing.T) {
	a := devicesJSON(t, "--backend", "opencl", "--device", testneeds.Device(t))
	if len(a.Devices) == 0 || !a.Devices[0].Usable || a.Devices[0].SelfTest <= 0 || a.Devices[0].Memory == 0 || a.Devices[0].Platform == "" {
		t.Errorf("%+v", a)
	}
}

// TestDoctor examines this machine.
func TestDoctor(t *testing.T) {
	r := heddleWith(t, "", nil, "devices", "--doctor")
	if missing := strings.Contains("\n"+r.stdout, "\nmissing "); r.code != exitSuccess && r.code != exitDevice || missing != (r.code == exitDevice) || !strings.Contains(r.stdout, "OpenCL devices: ") {
		t.Errorf("%+v", r)
	}
	var parts []doctor.Part
	if err := json.Unmarshal([]byte(heddleWith(t, "", nil, "devices", "--doctor", "--json").stdout), &parts); err != nil || len(parts) < 3 {
		t.Errorf("%v, %+v", err, parts)
	}
}
