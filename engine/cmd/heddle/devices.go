package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/startup"
)

type devicesOptions struct {
	flagsOnly
	settings
	json   bool
	doctor bool
}

func newDevices(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "devices [flags]",
		Short: "List the processors, and the choice of --backend auto",
		Long: `Devices lists pure Go (the host) and every OpenCL device with its limits, and runs the
self-test of each device: it builds the kernels and compares their results with Go. A
star marks the choice of --backend auto. --backend and --device restrict the list. The
exit code is 4 if the list is empty.

Each driver is loaded in a process of its own, here and at the start of commands that use
OpenCL: a driver that hangs (key devices.probe), crashes or ends the process is reported
with its .icd file and the phase, and is left out. Commands keep the results in HEDDLE_CACHE
until the driver changes, ten minutes for a broken one; devices always examines anew.

--doctor examines a Linux machine instead: GPUs on the PCI bus, their device nodes with mode
and group, the groups of the caller, the OpenCL loader, ICD files and drivers, platforms
without a device, and variables of the environment that hide devices. For each missing part
it prints a command that repairs it, and the exit code is 4. A note is no fault: queries
also run in pure Go.`,
		Example: "  heddle devices\n  heddle devices --backend host --json",
	}, &devicesOptions{})
}

func (o *devicesOptions) AddFlags(fs *pflag.FlagSet) {
	addJSON(fs, &o.json)
	fs.BoolVar(&o.doctor, "doctor", false, "find missing parts of the machine, and the commands that repair them")
	o.Add(fs, "backend", "device", "threads", "tuning")
}

func (o *devicesOptions) Run(ctx context.Context, a *App) error {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	if o.doctor {
		return a.doctor(ctx, &c.Devices, o.json)
	}
	if _, err := readTunings(c); err != nil { // errors of the file are reported without OpenCL too
		return err
	}
	places, missing, err := a.Test(ctx, &c.Devices, log)
	if err != nil {
		return err
	}
	if o.json {
		err = terminal.WriteJSON(a.Stdout, struct {
			Devices []machine.Place `json:"devices"`
			OpenCL  string          `json:"opencl_error,omitempty"`
		}{append([]machine.Place{}, places...), machine.ErrorText(missing)})
	} else {
		err = machine.WritePlaces(a.Stdout, places, missing, startup.Threshold(a.Startups().Recall()))
	}
	if err == nil && len(places) == 0 {
		return machine.NoDevice(c.Devices, missing)
	}
	return err
}
