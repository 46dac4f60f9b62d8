package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/drivers"
	"heddle/engine/internal/startup"
	"heddle/engine/plan"
	"heddle/hostfallback"
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
	o.add(fs, "backend", "device", "threads", "tuning")
}

// place is a processor on which queries can run. Its JSON names are part of the command
// line's contract.
type place struct {
	Kind         string  `json:"kind"` // "host" or "opencl"
	Device       string  `json:"device"`
	Platform     string  `json:"platform,omitempty"`
	Vendor       string  `json:"vendor,omitempty"`
	Driver       string  `json:"driver,omitempty"`
	Version      string  `json:"version,omitempty"`
	Type         string  `json:"type"`
	ComputeUnits int     `json:"compute_units"`
	Memory       uint64  `json:"memory,omitempty"`       // bytes
	MaxAlloc     uint64  `json:"max_alloc,omitempty"`    // largest buffer, in bytes
	LocalMemory  uint64  `json:"local_memory,omitempty"` // bytes per work-group
	Tuning       string  `json:"tuning"`
	Usable       bool    `json:"usable"`              // it can be opened and its self-test passes
	Error        string  `json:"error,omitempty"`     // the reason if it is not usable
	SelfTest     float64 `json:"self_test,omitempty"` // seconds to build and test the kernels
	StartUp      float64 `json:"start_up,omitempty"`  // seconds from the search for devices to the end of the self-test
	Preferred    bool    `json:"preferred"`           // a candidate of --backend auto
	Reason       string  `json:"reason"`              // why the device is preferred or not
	Auto         bool    `json:"auto"`                // the choice of --backend auto
}

func newPlace(i plan.Info) place {
	return place{Kind: i.Kind, Device: i.Device, Platform: i.Platform, Vendor: i.Vendor, Driver: i.Driver, Version: i.Version,
		Type: i.Type, ComputeUnits: i.ComputeUnits, Memory: i.Memory, MaxAlloc: i.MaxAlloc, LocalMemory: i.LocalMemory, Tuning: i.Tuning}
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
	places, missing, err := a.devices(ctx, &c.Devices, log)
	if err != nil {
		return err
	}
	if c.Devices.Backend == "host" || c.Devices.Backend == "auto" && c.Devices.Device == "" {
		b := hostfallback.New(hostfallback.Options{Threads: c.Devices.Threads})
		p := newPlace(b.Info())
		p.Usable, p.Preferred, p.Reason = true, true, "reserve of the device"
		places = append(places, p)
	}
	for i := range places {
		if places[i].Usable && places[i].Preferred {
			places[i].Auto = true
			if places[i].Kind == "host" {
				places[i].Reason = "no preferred device is usable"
			}
			break
		}
	}
	if o.json {
		err = terminal.WriteJSON(a.Stdout, struct {
			Devices []place `json:"devices"`
			OpenCL  string  `json:"opencl_error,omitempty"`
		}{append([]place{}, places...), errorText(missing)})
	} else {
		err = writePlaces(a.Stdout, places, missing, startup.Threshold(a.startups().Recall()))
	}
	if err == nil && len(places) == 0 {
		return noDevice(c.Devices, missing)
	}
	return err
}

func noDevice(c config.Devices, err error) error {
	op := "looking for a device"
	if c.Device != "" {
		op = fmt.Sprintf("looking for a device named %q", c.Device)
	}
	return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: op, Err: err}
}

// devices tests the OpenCL devices. Missing is the reason if drivers fail or OpenCL is not available.
func (a *App) devices(ctx context.Context, c *config.Devices, log zerolog.Logger) (places []place, missing, err error) {
	if c.Backend == "host" {
		return nil, nil, nil
	}
	report, err := a.report(ctx, c, drivers.All, true)
	if err != nil {
		return nil, nil, err
	}
	places, missing = placesOf(report)
	for _, p := range places {
		if !p.Usable {
			continue
		}
		if err := a.startups().Remember(p.Device, p.Driver, time.Duration(p.StartUp*float64(time.Second))); err != nil {
			log.Debug().Err(err).Msg("start-up time not stored")
		}
	}
	return places, missing, nil
}

// placesOf lists the devices of a report. Missing is the reason if drivers fail or there are none.
func placesOf(report drivers.Report) (places []place, missing error) {
	for _, r := range report {
		for _, d := range r.Devices {
			p := newPlace(d.Info)
			p.Preferred, p.Reason = d.Preferred, d.Reason
			p.Usable, p.Error = d.Tested && d.Error == "", d.Error
			if p.Usable {
				p.SelfTest, p.StartUp = d.SelfTest.Seconds(), (r.Took + d.SelfTest).Seconds()
			}
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(x, y place) int { return cmp.Compare(x.order(), y.order()) })
	if len(report) == 0 {
		return places, errors.New("no OpenCL here: no .icd file names a driver")
	}
	return places, report.Err()
}

// order sorts places: GPUs come first.
func (p place) order() int {
	if p.Type == "gpu" {
		return 0
	}
	return 1
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func writePlaces(out io.Writer, places []place, missing error, threshold string) error {
	var b strings.Builder
	for _, p := range places {
		mark := ' '
		if p.Auto {
			mark = '*'
		}
		fmt.Fprintf(&b, "%c %s: %s\n", mark, p.Kind, p.Device)
		if p.Kind == "opencl" {
			fmt.Fprintf(&b, "    %s, %s, %s, driver %s\n", p.Platform, p.Vendor, p.Version, p.Driver)
			fmt.Fprintf(&b, "    %s, %d compute units, memory %s, largest buffer %s, local memory %s\n",
				p.Type, p.ComputeUnits, terminal.Bytes(p.Memory), terminal.Bytes(p.MaxAlloc), terminal.Bytes(p.LocalMemory))
			fmt.Fprintf(&b, "    tuning %s\n", p.Tuning)
			if p.Usable {
				fmt.Fprintf(&b, "    self-test passed, kernels built and tested in %.2f s\n", p.SelfTest)
			} else {
				fmt.Fprintf(&b, "    not usable: %s\n", strings.ReplaceAll(p.Error, "\n", "\n      "))
			}
		}
		verb := "may choose it"
		switch {
		case p.Auto:
			verb = "chooses it"
		case !p.Preferred:
			verb = "does not choose it"
		}
		fmt.Fprintf(&b, "    auto %s: %s\n", verb, p.Reason)
		if p.Auto && p.Kind == "opencl" {
			fmt.Fprintf(&b, "    %s\n", threshold)
		}
	}
	if missing != nil {
		fmt.Fprintf(&b, "  opencl: %v\n", missing)
	}
	_, err := io.WriteString(terminal.Writer(out), b.String())
	return err
}
