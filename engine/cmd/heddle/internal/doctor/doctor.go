// Package doctor finds the parts that OpenCL on a Linux machine needs, and names the command that
// repairs each part that is missing: the loader, ICD files and drivers, device nodes and their
// permissions, environment variables.
package doctor

import (
	"fmt"
	"os"
	"os/user"
	"strings"
)

// Machine is a machine to examine.
type Machine struct {
	// Root is the folder that stands for /.
	Root string
	// Environ are the variables of the caller, NAME=value.
	Environ []string
	// User, UID and Groups are the identity of the caller.
	User   string
	UID    int
	Groups []int
	// Open opens a device node for reading and writing.
	Open func(path string) error
}

// Here is this machine.
func Here(environ []string) (*Machine, error) {
	groups, err := os.Getgroups()
	if err != nil {
		return nil, err
	}
	m := &Machine{Root: "/", Environ: environ, UID: os.Geteuid(), Groups: append(groups, os.Getegid()), User: "USER", Open: func(path string) error {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}}
	if u, err := user.Current(); err == nil { // a container may have no entry for the user
		m.User = u.Username
	}
	return m, nil
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
	parts     []Part
	libraries []string // folders of the dynamic linker
	rights    bool     // a node was refused to the caller
}

func (r *report) add(s State, name, repair, format string, args ...any) {
	r.parts = append(r.parts, Part{s, name, fmt.Sprintf(format, args...), repair})
}

// Examine returns the parts of the machine, found and missing.
func (m *Machine) Examine() []Part {
	r := &report{Machine: m}
	r.libraries = r.linkerFolders()
	gpus := r.gpus()
	drivers := r.drivers()
	r.loader(len(gpus) > 0 || len(drivers) > 0)
	for _, g := range gpus {
		r.gpu(g)
		r.driver(g, drivers)
		r.hidden(g)
	}
	if len(gpus) == 0 {
		r.add(Note, "GPU", "", "the PCI bus has no GPU of NVIDIA, AMD or Intel")
	}
	r.pocl(drivers)
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

// lookup returns the value of a variable, and whether it is set.
func (m *Machine) lookup(name string) (string, bool) {
	for _, kv := range m.Environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// sudo is a command for the administrator.
func (m *Machine) sudo(command string) string {
	if m.UID == 0 {
		return command
	}
	return "sudo " + command
}
