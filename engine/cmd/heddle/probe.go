package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/internal/drivers"
	"heddle/engine/plan"
)

type probeOptions struct{ flagsOnly }

func newProbe(a *App) *cobra.Command {
	c := a.command(&cobra.Command{
		Use:   "probe",
		Short: "Load an OpenCL driver for another process of heddle",
		Long: `Probe loads one OpenCL driver, finds its devices, and builds and tests the kernels.
Commands that use OpenCL start it for each driver before they load the driver
themselves, because a driver may hang or crash. It reads a request from standard input
and writes one line of JSON per phase.`,
	}, &probeOptions{})
	c.Hidden = true
	return c
}

func (o *probeOptions) AddFlags(*pflag.FlagSet) {}

func (o *probeOptions) Run(ctx context.Context, a *App) error {
	return drivers.Child(ctx, a.Stdin, a.Stdout)
}

// cacheFolder returns the folder of files that save time; "" is none.
func (a *App) cacheFolder() string { return drivers.CacheFolder(a.getenv) }

// report examines the OpenCL drivers, in child processes unless the configuration or the caller of
// the command turns them off. A fresh report ignores earlier reports.
func (a *App) report(ctx context.Context, c *config.Devices, test drivers.Test, fresh bool) (drivers.Report, error) {
	o := drivers.Options{Environ: a.Environ, Limit: c.Probe, Test: test, Device: c.Device, Tuning: c.Tuning, Cache: a.cacheFolder(), Fresh: fresh}
	if a.Self == "" {
		return drivers.Here(ctx, o), ctx.Err()
	}
	o.Program = []string{a.Self, "probe"}
	return drivers.Probe(ctx, o)
}

// examine examines the OpenCL drivers before this process loads them, and leaves broken ones out. If
// OpenCL must not be loaded, backend opencl is an error, and auto and all become host.
func (a *App) examine(ctx context.Context, c *config.Devices, log zerolog.Logger) (report drivers.Report, err error) {
	if a.Self == "" || c.Backend == "host" {
		return nil, nil
	}
	test := drivers.Preferred
	if c.Device != "" {
		test = drivers.All
	}
	report, err = a.report(ctx, c, test, false)
	if err == nil && test == drivers.Preferred && c.Backend == "opencl" && !report.Preferred() {
		report, err = a.report(ctx, c, drivers.All, false) // the best device is one of these
	}
	if err != nil {
		return nil, err
	}
	broken := report.Broken()
	for _, r := range broken {
		log.Warn().Strs("icd", r.Files).Str("phase", r.Phase).Str("fault", r.Fault).Msg("OpenCL driver left out")
		if r.Said != "" {
			log.Debug().Strs("icd", r.Files).Str("output", r.Said).Msg("output of the driver")
		}
	}
	why := report.Err()
	if c.Device != "" { // a working driver may lack the device
		why = broken.Err()
	}
	if why != nil && c.Backend == "opencl" && !report.HasDevice() {
		return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: "examining the drivers", Err: why}
	}
	if len(broken) == 0 {
		return report, nil
	}
	if len(report) > len(broken) && !a.direct() {
		return report, a.leaveOut(report)
	}
	if c.Backend == "opencl" {
		return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: "loading HEDDLE_OPENCL_LIBRARY", Err: broken.Err()}
	}
	c.Backend = "host"
	return nil, nil
}

// direct reports whether a variable names the library of OpenCL, which may be a driver itself.
func (a *App) direct() bool { return a.getenv("HEDDLE_OPENCL_LIBRARY") != "" }

// leaveOut makes the loader of OpenCL read the .icd files of the healthy drivers alone.
func (a *App) leaveOut(report drivers.Report) error {
	parent := a.cacheFolder()
	if parent == "" {
		parent = filepath.Join(os.TempDir(), fmt.Sprintf("heddle-%d", os.Getuid()))
	}
	folder, err := report.Excluding(parent)
	if err != nil {
		return fmt.Errorf("leaving out OpenCL drivers: %w (OCL_ICD_VENDORS can name a folder of .icd files without them)", err)
	}
	a.Environ = drivers.WithVendors(a.Environ, folder)
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name == "OPENCL_VENDOR_PATH" || name == "OCL_ICD_FILENAMES" {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	return os.Setenv("OCL_ICD_VENDORS", drivers.Folder(folder))
}
