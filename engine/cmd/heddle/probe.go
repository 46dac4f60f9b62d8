package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
