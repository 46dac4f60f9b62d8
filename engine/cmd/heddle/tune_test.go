package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"heddle/cl"
	"heddle/engine/plan/testneeds"
)

func TestTuneUsage(t *testing.T) {
	useBackend(t)
	inTempDir(t)
	wantFailure(t, heddle(t, "tune", "now"), exitUsage, "takes no argument")
	wantFailure(t, heddle(t, "tune", "--device", "no-such-device"), exitDevice, "no-such-device")
	writeFile(t, "mine.txt", "mine")
	wantFailure(t, heddle(t, "tune", "-o", "mine.txt"), exitFailure, "mine.txt: file already exists: choose another output (--force replaces it)")
	wantFailure(t, heddle(t, "tune", "-o", "mine.txt", "--force", "--device", "no-such-device"), exitDevice, "no-such-device")
	writeFile(t, "bad.toml", "[[row]]\nname = \"x\"\nwg = 7\n")
	writeFile(t, "damaged.toml", "[[row]]\n=\n")
	for _, command := range []string{"tune", "devices", "bench lists", "bench decode", "bench rank", "bench bitmap", "bench schedule"} {
		command := strings.Fields(command)
		if isCore && command[0] == "bench" {
			continue
		}
		wantFailure(t, heddle(t, append(command, "--tuning", "bad.toml")...), exitUsage, `bad.toml:1:1: row "x": work-groups of 7`)
		wantFailure(t, heddle(t, append(command, "--tuning", "damaged.toml")...), exitUsage, "damaged.toml:2:")
		wantFailure(t, heddle(t, append(command, "--tuning", "none.toml")...), exitFailure, "none.toml")
	}
}

// needsTuning skips tests that measure a device.
func needsTuning(t *testing.T) {
	t.Helper()
	testneeds.Device(t)
	testneeds.Long(t)
}

// tuningRow is a file in the format of heddle tune.
const tuningRow = `[[row]]
name = "mine"
match = ["no such device"]
wg = 64
tile = 256
round_tiles = 8192
slots = 2
batch = 1048576
scan_wg = 256
scan_chunk = 1024
merge_wg = 128
merge_rows = 8
merge_least = 65536
`

// TestTune measures the device under test with --short and checks that the row is in
// force afterwards. The example of the help text writes it as TOML.
func TestTune(t *testing.T) {
	useBackend(t)
	needsTuning(t)
	device := testneeds.Device(t)
	r := heddleWith(t, "", nil, "tune", "--short", "--json", "--device", device)
	var answer struct {
		Device string
		Row    []map[string]any
		Steps  []tuneStep
	}
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil || r.code != 0 || len(answer.Row) != 1 || len(answer.Steps) < 10 ||
		strings.Count(r.stderr, "\n") <= len(answer.Steps) || !strings.Contains(r.stderr, "* probe") {
		t.Fatalf("%v: %+v", err, r)
	}
	for k, v := range answer.Row[0] {
		if f, ok := v.(float64); ok {
			answer.Row[0][k] = int64(f) // JSON has no integers
		}
	}
	text, err := toml.Marshal(map[string]any{"row": answer.Row})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "row.toml")
	writeFile(t, file, string(text))
	rows, err := cl.ReadTunings(file)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v: %v\n%s", rows, err, text)
	}
	a := devicesJSON(t, "--backend", "opencl", "--device", device, "--tuning", file)
	if a.Devices[0].Tuning != rows[0].Name || !a.Devices[0].Usable {
		t.Errorf("%+v, want row %s", a.Devices[0], rows[0].Name)
	}
}
