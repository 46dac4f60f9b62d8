package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"heddle/cl/kernels"
	"heddle/engine/plan"
)

// Operation describes a group of kernels to the device layer, which itself names none.
// All fields but Name are optional.
type Operation struct {
	Name     string
	Programs []Program
	// Features names the preprocessor macro of each bit of features, lowest bit first.
	Features []string
	// Check refuses tuning rows that the kernels cannot run with on any device.
	Check func(Tuning) error
	// Limits returns the largest local memory, in bytes, and the largest work-group of the kernels.
	Limits func(Tuning) (local, group int)
	// Defines passes the macros of the tuning row to define, in a fixed order.
	Defines func(t Tuning, define func(name string, value int))
	// Describe adds the properties of the operation to the description of a device.
	Describe func(t Tuning, info *plan.Info)
	// SelfTest compares the kernels that opening builds with plain Go.
	SelfTest func(ctx context.Context, rt *Runtime) error
}

// Program is a set of kernels that compile as one text.
type Program struct {
	// Kernels lists the kernels of the program. The first one names it. Kernels of a file that another
	// operation has too are listed there.
	Kernels []Function
	// Files returns the source files behind common.cl for a set of features.
	Files func(with Features) []string
	// Core puts the program into the one text that opening a device builds.
	Core bool
}

// Files makes a program's Files of a fixed list.
func Files(names ...string) func(Features) []string {
	return func(Features) []string { return names }
}

// Features is a set of code paths that a program is compiled with, one bit each. Kernels
// of common rounds leave most of them out and need fewer registers. The operation of the
// kernel gives the bits their meaning.
type Features uint32

// KernelID names a kernel function and its program.
type KernelID struct {
	Name    string
	With    Features // the features of the program
	Program string   // the name of another kernel of the program; empty: Name belongs to one program
}

// Operations is the list of operations of a backend.
type Operations []Operation

// find returns the operation and the program of a kernel.
func (o Operations) find(id KernelID) (*Operation, *Program) {
	name := cmp.Or(id.Program, id.Name)
	for i := range o {
		for k := range o[i].Programs {
			p := &o[i].Programs[k]
			if slices.ContainsFunc(p.Kernels, func(f Function) bool { return f.ID().Name == name }) {
				return &o[i], p
			}
		}
	}
	panic("cl: no operation has the kernel " + name)
}

// canonical returns the ID under which the program of a kernel is kept.
func (o Operations) canonical(id KernelID) KernelID {
	_, p := o.find(id)
	return KernelID{Name: p.Name(), With: id.With}
}

// Name is the name of the first kernel.
func (p *Program) Name() string { return p.Kernels[0].ID().Name }

// Core returns the kernels of the program that opening a device builds.
func (o Operations) Core() (ids []KernelID) {
	for _, op := range o {
		for _, p := range op.Programs {
			if p.Core {
				ids = append(ids, KernelID{Name: p.Name()})
			}
		}
	}
	return ids
}

// Check refuses a tuning row that some kernels cannot run with on any device.
func (o Operations) Check(t Tuning) error {
	for _, op := range o {
		if op.Check != nil {
			if err := op.Check(t); err != nil {
				return err
			}
		}
	}
	if t.Serial && (t.NVShuffle || t.LookBack) {
		return errors.New("serial kernels neither shuffle nor look back")
	}
	return nil
}

// limits returns the largest needs of all operations.
func (o Operations) limits(t Tuning) (local, group int) {
	for _, op := range o {
		if op.Limits != nil {
			l, g := op.Limits(t)
			local, group = max(local, l), max(group, g)
		}
	}
	return local, group
}

func (o Operations) describe(t Tuning, info *plan.Info) {
	for _, op := range o {
		if op.Describe != nil {
			op.Describe(t, info)
		}
	}
}

// Defines returns the macros of a tuning row. They are part of the text because some
// drivers cache programs by text alone.
func (o Operations) Defines(t Tuning, countLoads bool) string {
	var b strings.Builder
	define := func(name string, value int) { fmt.Fprintf(&b, "#define %s %d\n", name, value) }
	flag := map[bool]int{true: 1}
	define("SCAN_SERIAL", flag[t.Serial])
	define("NV_SHUFFLE", flag[t.NVShuffle])
	define("COUNT_LOADS", flag[countLoads])
	for _, op := range o {
		if op.Defines != nil {
			op.Defines(t, define)
		}
	}
	return b.String()
}

// includes are the directives by which a kernel file compiles alone. A program has the files before
// them; without directives it is known not to depend on files of the machine, and can be kept.
var includes = regexp.MustCompile(`(?m)^#include .*$`)

// Source returns the text of a program with some kernels, which share their features:
// macros, then files.
func (o Operations) Source(t Tuning, countLoads bool, ids ...KernelID) string {
	var b strings.Builder
	b.WriteString(o.Defines(t, countLoads))
	op, _ := o.find(ids[0])
	for i, name := range op.Features {
		if ids[0].With>>i&1 != 0 {
			fmt.Fprintf(&b, "#define %s 1\n", name)
		}
	}
	names := []string{"common.cl"}
	for _, id := range ids {
		_, p := o.find(id)
		names = append(names, p.Files(id.With)...)
	}
	for _, name := range names {
		text, err := kernels.Files.ReadFile(name)
		if err != nil {
			panic(err) // a file that is not embedded is a fault of the build
		}
		b.Write(includes.ReplaceAll(text, nil))
		b.WriteByte('\n')
	}
	return b.String()
}
