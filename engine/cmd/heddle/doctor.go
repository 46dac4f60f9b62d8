package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"heddle/cl"
	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/doctor"
	"heddle/engine/cmd/heddle/internal/terminal"
)

// doctor prints the parts of the machine that OpenCL needs. Missing parts are an error.
func (a *App) doctor(json bool) error {
	if runtime.GOOS != "linux" {
		return &engine.Error{Code: engine.Unsupported, Op: "doctor", Err: errors.New("it knows Linux only, this is " + runtime.GOOS)}
	}
	m, err := doctor.Here(a.Environ)
	if err != nil {
		return err
	}
	parts := append(m.Examine(), openCL())
	if json {
		err = terminal.WriteJSON(a.Stdout, parts)
	} else {
		var b strings.Builder
		for _, p := range parts {
			fmt.Fprintf(&b, "%-8s %s: %s\n", p.State, p.Name, p.Found)
			if p.Repair != "" {
				fmt.Fprintf(&b, "         %s\n", p.Repair)
			}
		}
		_, err = fmt.Fprint(terminal.Writer(a.Stdout), b.String())
	}
	if n := doctor.MissingParts(parts); err == nil && n > 0 {
		err = &engine.Error{Code: engine.NoDevice, Op: "doctor", Err: fmt.Errorf("%d missing", n)}
	}
	return err
}

// openCL is the list of devices that OpenCL reports.
func openCL() doctor.Part {
	p := doctor.Part{State: doctor.OK, Name: "OpenCL devices"}
	devices, err := cl.Devices("")
	var names []string
	for _, d := range devices {
		names = append(names, d.Info().Device)
	}
	p.Found = strings.Join(slices.Compact(names), ", ")
	if len(devices) == 0 {
		p.State, p.Found = doctor.Note, "none: queries run in pure Go"
		if err != nil {
			p.Found = fmt.Sprintf("none, queries run in pure Go: %v", err)
		}
	}
	return p
}
