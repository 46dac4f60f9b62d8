package main

import (
	"context"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/internal/drivers"
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

// probing returns the options of an examination of drivers.
func (a *App) probing(c *config.Devices) drivers.Options {
	o := drivers.Options{Environ: a.Environ, Limit: c.Probe, Device: c.Device, Tuning: c.Tuning, Cache: a.cacheFolder()}
	if a.Self != "" {
		o.Program = []string{a.Self, "probe"}
	}
	return o
}

// report examines the OpenCL drivers. A fresh report ignores earlier reports.
func (a *App) report(ctx context.Context, c *config.Devices, test drivers.Test, fresh bool) (drivers.Report, error) {
	o := a.probing(c)
	o.Test, o.Fresh = test, fresh
	return drivers.Probe(ctx, o)
}

// examine examines the OpenCL drivers before this process loads them, and leaves broken ones out. If
// OpenCL must not be loaded, backend opencl is an error, and auto and all become host.
func (a *App) examine(ctx context.Context, c *config.Devices, log zerolog.Logger) (drivers.Report, error) {
	if a.Self == "" || c.Backend == "host" {
		return nil, nil
	}
	o := a.probing(c)
	report, usable, err := o.Choose(ctx, c.Backend)
	a.Environ = o.Environ
	for _, r := range report.Broken() {
		log.Warn().Strs("icd", r.Files).Str("phase", r.Phase).Str("fault", r.Fault).Msg("OpenCL driver left out")
		if r.Said != "" {
			log.Debug().Strs("icd", r.Files).Str("output", r.Said).Msg("output of the driver")
		}
	}
	if err == nil && !usable {
		c.Backend = "host"
	}
	return report, err
}
