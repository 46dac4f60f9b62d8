package device

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// ProgramOf returns the program of a kernel and builds it on first use. Concurrent callers
// wait for a build of a program that they do not have.
func (rt *Runtime) ProgramOf(id KernelID) (*ocl.Program, error) {
	id = rt.Ops.canonical(id)
	if p := rt.program(id); p != nil {
		return p, nil
	}
	rt.building.Lock()
	defer rt.building.Unlock()
	if p := rt.program(id); p != nil {
		return p, nil
	}
	p, err := rt.Build(rt.Source(id))
	if err != nil {
		return nil, err
	}
	rt.built.Lock()
	defer rt.built.Unlock()
	rt.programs[id] = p
	return p, nil
}

// program returns a program that is built; else nil.
func (rt *Runtime) program(id KernelID) *ocl.Program {
	rt.built.RLock()
	defer rt.built.RUnlock()
	return rt.programs[id]
}

// Source returns the text of the program of a kernel.
func (rt *Runtime) Source(id KernelID) string {
	return rt.Ops.Source(rt.Tuning, rt.CountLoads, rt.Ops.canonical(id))
}

// hasMacro tells which macros of features the program of a kernel is compiled with.
func (rt *Runtime) hasMacro(id KernelID) func(macro string) bool {
	op, _ := rt.Ops.find(id)
	return func(macro string) bool {
		i := slices.Index(op.Features, macro)
		return i >= 0 && id.With>>i&1 != 0 || macro == "COUNT_LOADS" && rt.CountLoads
	}
}

// buildCore builds the core programs of all operations as one text: a build costs more
// than a kernel.
func (rt *Runtime) buildCore() error {
	core := rt.Ops.Core()
	if len(core) == 0 {
		return nil
	}
	p, err := rt.Build(rt.Ops.Source(rt.Tuning, rt.CountLoads, core...))
	if err != nil {
		return err
	}
	rt.core = p
	for _, id := range core {
		rt.programs[id] = p
	}
	return nil
}

// ReplaceProgram puts a program in place of the one of a kernel and returns the old one,
// nil if there was none. Only tests call it; p may be nil.
func (rt *Runtime) ReplaceProgram(id KernelID, p *ocl.Program) *ocl.Program {
	id = rt.Ops.canonical(id)
	rt.built.Lock()
	defer rt.built.Unlock()
	old := rt.programs[id]
	if rt.programs[id] = p; p == nil {
		delete(rt.programs, id)
	}
	return old
}

// releasePrograms releases each program once.
func (rt *Runtime) releasePrograms() {
	for _, p := range rt.programs {
		if p != rt.core {
			p.Release()
		}
	}
	if rt.core != nil {
		rt.core.Release()
	}
}

// Build compiles a text for the device. The error is plan.ErrBuild with the compiler's log.
func (rt *Runtime) Build(source string) (*ocl.Program, error) {
	if err := rt.Fault("build"); err != nil {
		return nil, err
	}
	p, err := rt.context.CreateProgramWithSource([]string{source})
	if err != nil {
		return nil, rt.Fail("creating the program", err)
	}
	if err := p.BuildProgram([]*ocl.Device{rt.dev.handle}, rt.buildOptions()); err != nil {
		p.Release()
		e := &plan.DeviceError{Kind: plan.ErrBuild, Device: rt.Name(), Op: "building the kernels"}
		var log ocl.BuildError
		if errors.As(err, &log) {
			e.Log = string(log)
		} else {
			e.Err = err
		}
		return nil, e
	}
	return p, nil
}

// buildOptions returns the options of the compiler. For a driver that mixes
// contexts, a definition that no kernel reads tells their programs apart.
func (rt *Runtime) buildOptions() string {
	options := "-cl-std=CL1.2"
	if rt.number > 0 && rt.dev.quirks.mixesContexts {
		options += fmt.Sprintf(" -DHEDDLE_CONTEXT=%d", rt.number)
	}
	return options
}

// openNumbers has the numbers of open contexts. A number is the least one that is free, so
// that programs in a cache are found again.
var openNumbers struct {
	sync.Mutex
	taken []bool
}

func takeNumber() int {
	openNumbers.Lock()
	defer openNumbers.Unlock()
	n := slices.Index(openNumbers.taken, false)
	if n < 0 {
		n = len(openNumbers.taken)
		openNumbers.taken = append(openNumbers.taken, false)
	}
	openNumbers.taken[n] = true
	return n
}

func returnNumber(n int) {
	openNumbers.Lock()
	defer openNumbers.Unlock()
	openNumbers.taken[n] = false
}
