//go:build linux

package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestProbe: with a driver that ends the process which examines it, OpenCL is not used. The engine
// changes neither the environment nor the standard streams.
func TestProbe(t *testing.T) {
	testneeds.Host(t)
	folder := t.TempDir()
	program := filepath.Join(folder, "heddle")
	icd := filepath.Join(folder, "x.icd")
	for path, text := range map[string]string{program: "#!/bin/sh\n[ \"$1\" = probe ] && exit 7\n", icd: program} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("OCL_ICD_VENDORS", folder)
	t.Setenv("OCL_ICD_FILENAMES", "")
	t.Setenv("HEDDLE_CACHE", filepath.Join(folder, "cache"))
	state := func() (all []string) {
		for _, fd := range []string{"0", "1", "2"} {
			name, err := os.Readlink("/proc/self/fd/" + fd)
			all = append(all, name, errorString(err))
		}
		return append(all, os.Environ()...)
	}
	before := state()
	var said strings.Builder
	log := zerolog.New(&said)
	e, err := New(t.Context(), Options{Backend: "auto", Probe: program, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	if all := e.Processors(); len(all) != 1 || all[0].Info.Kind != "host" || all[0].Reserve {
		t.Errorf("processors %+v", all)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{icd, "exit code 7", "OCL_ICD_VENDORS"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in %s", want, &said)
		}
	}
	_, err = New(t.Context(), Options{Backend: "opencl", Probe: program})
	if CodeOf(err) != NoDevice || !errors.Is(err, plan.ErrNoDevice) || !strings.Contains(err.Error(), icd) {
		t.Errorf("backend opencl: %v", err)
	}
	if !slices.Equal(state(), before) {
		t.Errorf("the engine changes the process: %q, before %q", state(), before)
	}
	if _, err := New(t.Context(), Options{Backends: []plan.Backend{}, Probe: program}); CodeOf(err) != InvalidOption {
		t.Errorf("Probe with open backends: %v", err)
	}
}

func errorString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
