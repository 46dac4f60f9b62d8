package machine

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

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/drivers"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// Place is a processor on which queries can run. Its JSON names are part of the command
// line's contract.
type Place struct {
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

func newPlace(i plan.Info) Place {
	return Place{Kind: i.Kind, Device: i.Device, Platform: i.Platform, Vendor: i.Vendor, Driver: i.Driver, Version: i.Version,
		Type: i.Type, ComputeUnits: i.ComputeUnits, Memory: i.Memory, MaxAlloc: i.MaxAlloc, LocalMemory: i.LocalMemory, Tuning: i.Tuning}
}

// Test lists the processors of a configuration, with tests of the devices, and marks the choice of
// backend auto. Missing is the reason if drivers fail or OpenCL is not available.
func (m *Machine) Test(ctx context.Context, c *config.Devices, log zerolog.Logger) (places []Place, missing, err error) {
	if c.Backend != "host" {
		report, err := m.Drivers(ctx, c, drivers.All, true)
		if err != nil {
			return nil, nil, err
		}
		places, missing = listed(report)
		for _, p := range places {
			if p.Usable {
				m.remember(p.Device, p.Driver, time.Duration(p.StartUp*float64(time.Second)), &log)
			}
		}
	}
	if c.Backend == "host" || c.Backend == "auto" && c.Device == "" {
		places = append(places, host(c.Threads))
	}
	if i := slices.IndexFunc(places, func(p Place) bool { return p.Usable && p.Preferred }); i >= 0 {
		if places[i].Auto = true; places[i].Kind == "host" {
			places[i].Reason = noDevice
		}
	}
	return places, missing, nil
}

// noDevice is the reason for the choice of the host.
const noDevice = "no preferred device is usable"

// host describes pure Go.
func host(threads int) Place {
	p := newPlace(hostfallback.New(hostfallback.Options{Threads: threads}).Info())
	p.Usable, p.Preferred, p.Reason = true, true, "reserve of the device"
	return p
}

// listed lists the devices of a report. Missing is the reason if drivers fail or there are none.
func listed(report drivers.Report) (places []Place, missing error) {
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
	slices.SortStableFunc(places, func(x, y Place) int { return cmp.Compare(x.order(), y.order()) })
	if len(report) == 0 {
		return places, errors.New("no OpenCL here: no .icd file names a driver")
	}
	return places, report.Err()
}

// order sorts places: GPUs come first.
func (p Place) order() int {
	if p.Type == "gpu" {
		return 0
	}
	return 1
}

// ErrorText is the text of an error, "" if there is none.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// WritePlaces prints processors. Threshold says from which work on auto chooses a device.
func WritePlaces(out io.Writer, places []Place, missing error, threshold string) error {
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

// NoDevice is the error of a command that finds no device.
func NoDevice(c config.Devices, err error) error {
	op := "looking for a device"
	if c.Device != "" {
		op = fmt.Sprintf("looking for a device named %q", c.Device)
	}
	return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: "opencl", Op: op, Err: err}
}
