package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/cl"
)

func TestTuneUsage(t *testing.T) {
	inTempDir(t)
	wantFailure(t, heddle(t, "tune", "now"), exitUsage, "takes no argument")
	wantFailure(t, heddle(t, "tune", "--device", "no-such-device"), exitDevice, "no-such-device")
	writeFile(t, "bad.toml", "[[row]]\nname = \"x\"\nwg = 7\n")
	for _, command := range []string{"tune", "devices"} {
		wantFailure(t, heddle(t, command, "--tuning", "bad.toml"), exitFailed, `bad.toml: row "x": work-groups of 7`)
		wantFailure(t, heddle(t, command, "--tuning", "none.toml"), exitFailed, "none.toml")
	}
}

// needsTuning skips what measures a device.
func needsTuning(t *testing.T) {
	t.Helper()
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" || os.Getenv("HEDDLE_TEST_SMALL") == "1" || testing.Short() {
		t.Skip("needs an OpenCL device and half a minute: set HEDDLE_TEST_BACKEND=opencl, neither HEDDLE_TEST_SMALL nor -short")
	}
}

// tuningRow is a file that `heddle tune` could have written.
const tuningRow = `[[row]]
name = "mine"
match = ["no such device"]
wg = 64
tile = 256
round_tiles = 8192
slots = 2
batch = 1048576
scan_wg = 256
scan_rows = 4
scan_chunk = 1024
merge_wg = 128
merge_rows = 8
merge_least = 65536
`

// TestTune measures the device under test in the short way, and has the row in
// force afterwards.
func TestTune(t *testing.T) {
	needsTuning(t)
	device := os.Getenv("HEDDLE_TEST_DEVICE")
	file := filepath.Join(t.TempDir(), "row.toml")
	r := heddleWith(t, "", nil, "tune", "--short", "--device", device, "-o", file)
	if r.code != 0 || r.stdout != "" || strings.Count(r.stderr, "\n") < 10 || !strings.Contains(r.stderr, "* probe") {
		t.Fatalf("%+v", r)
	}
	rows, err := cl.ReadTunings(file)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v: %v", rows, err)
	}
	a := devicesJSON(t, "--backend", "opencl", "--device", device, "--tuning", file)
	if a.Devices[0].Tuning != rows[0].Name || !a.Devices[0].Usable {
		t.Errorf("%+v, want row %s", a.Devices[0], rows[0].Name)
	}
	r = heddleWith(t, "", []string{"HEDDLE_DEVICES_TUNING=" + file}, "tune", "--short", "--json", "--device", device)
	var answer struct {
		Device string
		Row    []map[string]any
		Steps  []tuneStep
	}
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil || r.code != 0 || len(answer.Row) != 1 || len(answer.Steps) < 10 ||
		answer.Row[0]["name"] != rows[0].Name || answer.Row[0]["wg"] == nil || !strings.Contains(r.stderr, rows[0].Name) {
		t.Errorf("%v: %+v", err, r)
	}
}
