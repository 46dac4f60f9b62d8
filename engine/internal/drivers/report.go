package drivers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/engine/plan"
)

// Phases of a child process, in order. The steps of package cl have the names of the last five.
const (
	Start = "start" // start of the child process
	Load  = "load"  // loading the library of the driver
)

// Result is the state of a driver.
type Result struct {
	Driver
	Empty   []string      `json:"empty,omitempty"`   // names of platforms without a device
	Devices []Device      `json:"devices,omitempty"` // GPUs first
	Took    time.Duration `json:"took,omitempty"`    // time of loading the library and finding devices
	Error   string        `json:"error,omitempty"`   // error that the driver or the loader has reported
	Phase   string        `json:"phase,omitempty"`   // phase of Error and Fault
	// Fault is the end of the process in place of a report: a signal, an exit code, or a time. Such a
	// driver must not be loaded.
	Fault string `json:"fault,omitempty"`
	Said  string `json:"said,omitempty"` // a part of its output, with Fault
}

// Device is a device of a driver.
type Device struct {
	Info      plan.Info     `json:"info"`
	Preferred bool          `json:"preferred"` // automatic choice may take it
	Reason    string        `json:"reason"`    // why the device is preferred or not
	Tested    bool          `json:"tested"`    // it was opened
	Error     string        `json:"error,omitempty"`
	SelfTest  time.Duration `json:"self_test,omitempty"` // time of building and testing the kernels
}

// Report is the state of all drivers.
type Report []Result

// Broken returns the drivers that must not be loaded.
func (r Report) Broken() (broken Report) {
	for _, d := range r {
		if d.Fault != "" {
			broken = append(broken, d)
		}
	}
	return broken
}

// HasDevice reports whether a driver has a device.
func (r Report) HasDevice() bool {
	return slices.ContainsFunc(r, func(d Result) bool { return len(d.Devices) > 0 })
}

// Preferred reports whether automatic choice may take a device.
func (r Report) Preferred() bool {
	return slices.ContainsFunc(r, func(d Result) bool {
		return slices.ContainsFunc(d.Devices, func(d Device) bool { return d.Preferred })
	})
}

// Passed reports whether all devices like the one of a description have passed the self-test.
func (r Report) Passed(info plan.Info) (passed bool) {
	kind := func(i plan.Info) [8]any {
		return [...]any{i.Device, i.Platform, i.Vendor, i.Driver, i.Version, i.Type, i.ComputeUnits, i.Tuning}
	}
	for _, d := range r {
		for _, d := range d.Devices {
			if kind(d.Info) != kind(info) {
				continue
			}
			if passed = d.Tested && d.Error == ""; !passed {
				return false
			}
		}
	}
	return passed
}

// Describe tells how the driver failed: the .icd file, the phase, and the fault or the error; "" if
// it has not.
func (r *Result) Describe() string {
	switch {
	case r.Fault != "":
		return fmt.Sprintf("driver of %s: %s during %s", &r.Driver, r.Fault, phaseNames[r.Phase])
	case r.Error != "":
		return fmt.Sprintf("driver of %s: %s during %s", &r.Driver, r.Error, phaseNames[r.Phase])
	}
	return ""
}

// phaseNames are the phases in words.
var phaseNames = map[string]string{
	Start: "the start of the child process", Load: "the loading of the library", "platforms": "the search for platforms", "devices": "the search for devices",
	"context": "the creation of a context", "build": "the build of the kernels", "self-test": "the self-test",
}

// Err joins the failures of the drivers of a report; nil if none has failed.
func (r Report) Err() error {
	var all []string
	for i := range r {
		if text := r[i].Describe(); text != "" {
			all = append(all, text)
		}
	}
	if all == nil {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(all, "; "))
}
