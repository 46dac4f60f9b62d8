package cl

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/config"
	"heddle/engine/plan/testneeds"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "row.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTuningFile writes every built-in row and reads it again.
func TestTuningFile(t *testing.T) {
	for _, row := range device.BuiltInRows() {
		var b bytes.Buffer
		if err := WriteTuning(&b, row); err != nil {
			t.Fatal(err)
		}
		if row.Match == nil {
			row.Match = []string{}
		}
		rows, err := ReadTunings(write(t, b.String()))
		if err != nil || len(rows) != 1 || !reflect.DeepEqual(rows[0], row) {
			t.Errorf("row %q comes back as %+v: %v\n%s", row.Name, rows, err, b.String())
		}
	}
}

// TestTuningFileErrors names the file, the row and the field.
func TestTuningFileErrors(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTuning(&b, device.BuiltInRows()[0]); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for _, c := range []struct{ name, old, with, says string }{
		{"no row", good, "", "no [[row]]"},
		{"unknown key", "slots =", "slot =", "unknown key row.slot"},
		{"not TOML", "slots =", "slots", "expected"},
		{"no name", `name = "nvidia"`, "", "no name"},
		{"wg", "\nwg = 64", "\nwg = 65", "(wg)"},
		{"tile", "\ntile = 256", "\ntile = 4096", "tile is 4096"},
		{"round_tiles", "round_tiles = 262144", "round_tiles = 2622144000", "round_tiles"},
		{"slots", "slots = 16", "slots = 0", "slots is 0"},
		{"scan_wg", "scan_wg = 256", "scan_wg = 16", "scan_wg is 16"},
		{"scan_chunk", "scan_chunk = 2048", "scan_chunk = 0", "scan_chunk is 0"},
		{"merge_wg", "merge_wg = 128", "merge_wg = 96", "merge_wg is 96"},
		{"merge_rows", "merge_rows = 16", "merge_rows = 3", "merge_rows is 3"},
		{"serial", "serial = false", "serial = true", "neither shuffle"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s: no %q in\n%s", c.name, c.old, good)
		}
		file := write(t, strings.Replace(good, c.old, c.with, 1))
		if rows, err := ReadTunings(file); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %+v, %v", c.name, rows, err)
		}
	}
	const row = "[[row]]\nname = \"x\"\n"
	behind := func(line int, rest string) string { return fmt.Sprintf(":%d:%s", strings.Count(good, "\n")+line, rest) }
	for text, want := range map[string]string{
		good + row + "wg 64\n":                         behind(3, "4: expected '.' or '=', but got '6' instead"),
		good + row + "wg = \"a\"\n" + good:             behind(3, "1: incompatible types: TOML value has type string; destination has type integer"),
		good + row + " wgg = 3\n":                      behind(3, "2: unknown key row.wgg"),
		good + row + "wgg = 3\n" + row + "wg = \"\"\n": behind(3, "1: unknown key row.wgg"),
		good + " " + row:                               behind(1, `2: row "x": work-groups of 0 (wg), not a multiple of 32 up to 1024`),
		good + "[[row]]\n":                             behind(1, "1: a row has no name"),
		"x = 3\n" + good:                               ": unknown key x",
		"row = 3":                                      ": incompatible types: TOML value has type int64; destination has type slice",
	} {
		file := write(t, text)
		_, err := ReadTunings(file)
		if _, ok := errors.AsType[*config.Error](err); !ok || err.Error() != file+want {
			t.Errorf("%v, want %s%s", err, file, want)
		}
	}
	if _, err := ReadTunings("/no/such/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestTuningFirst puts given rows before the built-in ones.
func TestTuningFirst(t *testing.T) {
	testneeds.OneCaller(t)
	mine := device.Tuning{Name: "mine", Match: []string{"h200"}}
	if got := device.TuningFor("NVIDIA H200 gpu", mine); got.Name != "mine" {
		t.Errorf("row %q", got.Name)
	}
	if got := device.TuningFor("NVIDIA H100 gpu", mine); got.Name != "nvidia" {
		t.Errorf("row %q", got.Name)
	}
	all := device.Tuning{Name: "all"}
	devices, err := Devices(devicetest.Find(t, everything).Info().Device, all)
	if err != nil || len(devices) == 0 || devices[0].Tuning().Name != "all" || devices[0].Info().Tuning != "all" {
		t.Errorf("devices under a row for all: %v, %v", devices, err)
	}
}
