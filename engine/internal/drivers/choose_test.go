package drivers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/plan"
)

// TestExcluding: the folder holds the healthy drivers in their order.
func TestExcluding(t *testing.T) {
	r := Report{{Driver: Driver{Files: []string{"a"}, Library: "liba.so", Path: "/x/liba.so"}}, {Driver: Driver{Files: []string{"b"}, Library: "libb.so", Path: "/x/libb.so"}, Fault: "signal SIGSEGV"},
		{Driver: Driver{Files: []string{"c"}, Library: "libc.so", Path: "/x/libc.so"}}, {Driver: Driver{Files: []string{"d"}, Library: "gone.so"}}}
	parent := filepath.Join(t.TempDir(), "cache")
	for range 2 { // a second process finds the folder
		folder, err := r.excluding(parent)
		if err != nil {
			t.Fatal(err)
		}
		s := System{"/", withVendors([]string{"A=1", "OCL_ICD_FILENAMES=x", "OCL_ICD_VENDORS=y"}, folder)}
		files, from := s.Files()
		if len(files) != 2 || from != "OCL_ICD_VENDORS" || s.Text(files[0]) != "liba.so" || s.Text(files[1]) != "libc.so" {
			t.Errorf("%v of %s", files, from)
		}
	}
	if names, err := os.ReadDir(parent); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestChoose leaves a broken driver out for the loader of this process and for later children. If the
// library itself may be broken, or no driver is left, OpenCL must not be loaded.
func TestChoose(t *testing.T) {
	if !hasVendors {
		t.Skip("the system knows its drivers")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files           map[string]string // .icd files
		backend, direct string
		usable, fails   bool
	}{
		"one of two":         {map[string]string{"a.icd": self, "b.icd": "gone.so"}, "auto", "", true, false},
		"one of two, direct": {map[string]string{"a.icd": self, "b.icd": "gone.so"}, "auto", self, false, false},
		"all":                {map[string]string{"a.icd": self}, "all", "", false, false},
		"all, opencl":        {map[string]string{"a.icd": self}, "opencl", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for name, library := range c.files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(library), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("OCL_ICD_VENDORS", folder)
			t.Setenv("OCL_ICD_FILENAMES", "")
			t.Setenv("HEDDLE_OPENCL_LIBRARY", c.direct)
			o := Options{Program: []string{self}, Environ: append(os.Environ(), "DRIVERS_TEST_CHILD=garbage"), Cache: t.TempDir()}
			report, usable, err := o.Choose(t.Context(), c.backend)
			if len(report.Broken()) != 1 || usable != c.usable || errors.Is(err, plan.ErrNoDevice) != c.fails || !c.fails && err != nil {
				t.Errorf("%+v, usable %v, error %v", report, usable, err)
			}
			value := os.Getenv("OCL_ICD_VENDORS")
			_, set := os.LookupEnv("OCL_ICD_FILENAMES")
			later, _ := (&System{Environ: o.Environ}).Lookup("OCL_ICD_VENDORS")
			if (value != folder) != c.usable || set == c.usable || later != value {
				t.Errorf("vendors %s, of later children %s, files set: %v", value, later, set)
			}
		})
	}
}
