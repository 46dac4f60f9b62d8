package drivers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"heddle/engine/plan"
)

// Choose examines the drivers for a backend other than host, before this process loads them, and
// makes the loader of OpenCL leave the broken ones out, in this process and in o.Environ. Without
// usable, OpenCL must not be loaded, which is an error for the backend opencl.
func (o *Options) Choose(ctx context.Context, backend string) (report Report, usable bool, err error) {
	o.Test = Preferred
	if o.Device != "" {
		o.Test = All
	}
	report, err = Probe(ctx, *o)
	if err == nil && o.Test == Preferred && backend == "opencl" && !report.Preferred() {
		o.Test = All // the best device is one of these
		report, err = Probe(ctx, *o)
	}
	if err != nil {
		return nil, false, err
	}
	broken := report.Broken()
	why := report.Err()
	if o.Device != "" { // a working driver may lack the device
		why = broken.Err()
	}
	// A variable may name the library of OpenCL, which may be a driver itself.
	direct, _ := (&System{Environ: o.Environ}).Lookup("HEDDLE_OPENCL_LIBRARY")
	switch {
	case why != nil && backend == "opencl" && !report.HasDevice():
		return report, false, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: "examining the drivers", Err: why}
	case len(broken) == 0:
		return report, true, nil
	case len(report) > len(broken) && direct == "":
		return report, true, o.leaveOut(report)
	case backend == "opencl":
		return report, false, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: "loading HEDDLE_OPENCL_LIBRARY", Err: broken.Err()}
	}
	return report, false, nil
}

// leaveOut makes the loader of OpenCL read the .icd files of the healthy drivers alone.
func (o *Options) leaveOut(report Report) error {
	parent := o.Cache
	if parent == "" {
		parent = filepath.Join(os.TempDir(), fmt.Sprintf("heddle-%d", os.Getuid()))
	}
	folder, err := report.excluding(parent)
	if err != nil {
		return fmt.Errorf("leaving out OpenCL drivers: %w (OCL_ICD_VENDORS can name a folder of .icd files without them)", err)
	}
	o.Environ = withVendors(o.Environ, folder)
	for _, name := range vendorVariables[1:] {
		if _, set := os.LookupEnv(name); !set {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return os.Setenv(vendorVariables[0], vendorFolder(folder))
}

// excluding writes a folder of .icd files that leaves out the broken drivers. The loader of OpenCL
// reads it in place of its own if OCL_ICD_VENDORS names it, and OPENCL_VENDOR_PATH and
// OCL_ICD_FILENAMES are unset. It lies in parent.
func (r Report) excluding(parent string) (folder string, err error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	healthy := map[string]string{}
	for i, d := range r {
		if d.Fault == "" && d.Path != "" {
			healthy[icdName(i)] = d.Library + "\n"
		}
	}
	return writeFolder(parent, healthy)
}
