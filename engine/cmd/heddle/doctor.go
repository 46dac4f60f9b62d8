package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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
	if m.Report, err = a.Drivers(ctx, c, drivers.Preferred, true); err != nil {
		return err
	}
	parts := append(m.Examine(), doctor.Devices(m.Report))
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
