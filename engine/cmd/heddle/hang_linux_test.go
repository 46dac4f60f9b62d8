package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// TestHangingCall: a command ends, whichever wait for the device does not return: while it opens the
// device, loads the index, answers, or closes.
func TestHangingCall(t *testing.T) {
	testneeds.Waits(t)
	device := testneeds.Device(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the library is written in C, and this machine has no gcc")
	}
	layer := filepath.Join(t.TempDir(), "layer.so")
	if said, err := exec.Command("gcc", "-shared", "-fPIC", "-pthread", "-o", layer, "../../../cl/testdata/layer.c", "-Wl,--no-as-needed", "-l:libOpenCL.so.1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	path := table(t)
	run := func(mode, limit string) int {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		defer stop()
		cmd := process(ctx, "bitmap", "query", path, "--select", "sum(x)", "--backend", "opencl", "--device", device)
		cmd.Env = append(cmd.Env, "HEDDLE_OPENCL_LIBRARY="+layer, "HEDDLE_TEST_LAYER="+mode, "HEDDLE_CACHE="+filepath.Dir(layer), "HEDDLE_DEVICES_PROBE="+limit, "HEDDLE_SCHEDULE_HANG=200ms", "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable")
		said, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); err == nil || code == exitDevice {
			return code
		}
		t.Fatalf("%s: %v: %s", mode, err, said)
		return 0
	}
	if code := run("", "1m"); code != exitSuccess { // and keep the result of the examination
		t.Fatalf("exit code %d without a fault", code)
	}
	failed := 0
	for _, at := range []int{1, 40, 70, 90} {
		if run("hang="+strconv.Itoa(at), "2s") != exitSuccess {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no wait hangs")
	}
}
