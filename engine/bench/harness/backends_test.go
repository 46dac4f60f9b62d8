package harness

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"heddle/cl"
	"heddle/engine/plan/testneeds"
)

// TestBenchTuning opens a device with a tuning row from a file.
func TestBenchTuning(t *testing.T) {
	device := testneeds.Device(t)
	devices, err := cl.Devices(device)
	if err != nil || len(devices) == 0 {
		t.Fatal(devices, err)
	}
	row := devices[0].Tuning()
	row.Name, row.Match = "mine", nil
	var text bytes.Buffer
	if err := cl.WriteTuning(&text, row); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tuning.toml")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	s := &Runner{Opt: Options{Backend: "opencl", Device: device, Tuning: path}, log: io.Discard}
	if err := s.meet(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.Contestants[0].Info.Tuning; got != "mine" {
		t.Errorf("row %q is in force", got)
	}
	if err := s.closeDevices(); err != nil {
		t.Error(err)
	}
}
