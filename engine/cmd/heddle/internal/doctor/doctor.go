// Package doctor finds the parts that OpenCL on a Linux machine needs, and names the command that
// repairs each part that is missing: the loader, ICD files and drivers, device nodes and their
// permissions, environment variables.
package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/internal/drivers"
)

// Machine is a machine to examine.
type Machine struct {
	drivers.System
	// Report is the state of the OpenCL drivers.
	Report drivers.Report
	// User, UID and Groups are the identity of the caller.
	User   string
	UID    int
	Groups []int
	// Open opens a device node for reading and writing.
	Open func(path string) error
	// Writable tries to write in a folder, which need not exist yet.
	Writable func(folder string) error
}

// Here is this machine.
func Here(environ []string) (*Machine, error) {
	groups, err := os.Getgroups()
	if err != nil {
		return nil, err
	}
	m := &Machine{System: drivers.System{Root: "/", Environ: environ}, UID: os.Geteuid(), Groups: append(groups, os.Getegid()), User: "USER", Open: func(path string) error {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}, Writable: writable}
	if u, err := user.Current(); err == nil { // a container may have no entry for the user
		m.User = u.Username
	}
	return m, nil
}

// writable makes a file in the nearest folder that exists, and removes it.
func writable(folder string) error {
	for {
		f, err := os.CreateTemp(folder, ".heddle-")
		if errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder) {
			folder = filepath.Dir(folder)
			continue
		}
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

// State of a part.
type State string

const (
	OK      State = "ok"
	Missing State = "missing" // a device of the machine cannot be used without it
	Note    State = "note"    // the machine works without it
)

// Part is a part of the machine that was examined.
type Part struct {
	State  State  `json:"state"`
	Name   string `json:"part"`
	Found  string `json:"found"`
	Repair string `json:"repair,omitempty"` // a command for the shell
}

// report collects parts.
type report struct {
	*Machine
	parts  []Part
	rights bool // a node was refused to the caller
}

func (r *report) add(s State, name, repair, format string, args ...any) {
	r.parts = append(r.parts, Part{s, name, fmt.Sprintf(format, args...), repair})
}

// Examine returns the parts of the machine, found and missing.
func (m *Machine) Examine() []Part {
	r := &report{Machine: m}
	gpus := r.gpus()
	found := r.drivers()
	r.loader(len(gpus) > 0 || len(found) > 0)
	for _, g := range gpus {
		r.gpu(g)
		r.driver(g, found)
		r.hidden(g)
	}
	if len(gpus) == 0 {
		r.add(Note, "GPU", "", "the PCI bus has no GPU of NVIDIA, AMD or Intel")
	}
	r.pocl(found)
	r.settings()
	return r.parts
}

// MissingParts counts the parts that are missing.
func MissingParts(all []Part) (n int) {
	for _, p := range all {
		if p.State == Missing {
			n++
		}
	}
	return n
}

// sudo is a command for the administrator.
func (m *Machine) sudo(command string) string {
	if m.UID == 0 {
		return command
	}
	return "sudo " + command
}

// Devices is the list of devices that the drivers report.
func Devices(report drivers.Report) Part {
	p := Part{State: OK, Name: "OpenCL devices"}
	var names []string
	for _, r := range report {
		for _, d := range r.Devices {
			names = append(names, d.Info.Device)
		}
	}
	p.Found = strings.Join(slices.Compact(names), ", ")
	if names == nil {
		p.State, p.Found = Note, "none: queries run in pure Go"
		if err := report.Err(); err != nil {
			p.Found = fmt.Sprintf("none, queries run in pure Go: %v", err)
		}
	}
	return p
}
