package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/doctor"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/drivers"
)

// doctor prints the parts of the machine that OpenCL needs. Missing parts are an error.
func (a *App) doctor(ctx context.Context, c *config.Devices, json bool) error {
	if runtime.GOOS != "linux" {
		return &engine.Error{Code: engine.Unsupported, Op: "doctor", Err: errors.New("it knows Linux only, this is " + runtime.GOOS)}
	}
	m, err := doctor.Here(a.Environ)
	if err != nil {
		return err
	}
	if m.Report, err = a.report(ctx, c, drivers.Preferred, true); err != nil {
		return err
	}
	parts := append(m.Examine(), openCL(m.Report))
	if json {
		err = terminal.WriteJSON(a.Stdout, parts)
	} else {
		var b strings.Builder
		for _, p := range parts {
			fmt.Fprintf(&b, "%-8s %s: %s\n", p.State, terminal.Field(p.Name), terminal.Field(p.Found))
			if p.Repair != "" {
				fmt.Fprintf(&b, "         %s\n", terminal.Field(p.Repair))
			}
		}
		_, err = fmt.Fprint(terminal.Writer(a.Stdout), b.String())
	}
	if n := doctor.MissingParts(parts); err == nil && n > 0 {
		err = &engine.Error{Code: engine.NoDevice, Op: "doctor", Err: fmt.Errorf("%d missing", n)}
	}
	return err
}

// openCL is the list of devices that the drivers report.
func openCL(report drivers.Report) doctor.Part {
	p := doctor.Part{State: doctor.OK, Name: "OpenCL devices"}
	var names []string
	for _, r := range report {
		for _, d := range r.Devices {
			names = append(names, d.Info.Device)
		}
	}
	p.Found = strings.Join(slices.Compact(names), ", ")
	if names == nil {
		p.State, p.Found = doctor.Note, "none: queries run in pure Go"
		if err := report.Err(); err != nil {
			p.Found = fmt.Sprintf("none, queries run in pure Go: %v", err)
		}
	}
	return p
}
