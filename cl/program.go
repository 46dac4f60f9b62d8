package cl

import (
	"embed"
	"errors"
	"strings"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

//go:embed kernels/*.cl
var kernels embed.FS

// kernelFiles in the order in which they make up the program.
var kernelFiles = []string{"common.cl", "decode.cl", "intersect.cl", "compact.cl"}

// programSource is the text that the driver compiles: the defines, then the
// files. They are one program, since a build costs more than a kernel.
func programSource(t Tuning, countLoads bool) string {
	var b strings.Builder
	b.WriteString(t.defines(countLoads))
	for _, name := range kernelFiles {
		text, err := kernels.ReadFile("kernels/" + name)
		if err != nil {
			panic(err) // embedded
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// build compiles the kernels for the device; the compiler's log is in the error.
func (b *Backend) build(source string) (*ocl.Program, error) {
	if err := b.fault("build"); err != nil {
		return nil, err
	}
	p, err := b.context.CreateProgramWithSource([]string{source})
	if err != nil {
		return nil, b.fail("creating the program", err)
	}
	if err := p.BuildProgram([]*ocl.Device{b.dev.handle}, "-cl-std=CL1.2"); err != nil {
		p.Release()
		e := &plan.DeviceError{Kind: plan.ErrBuild, Device: b.dev.String(), Op: "building the kernels"}
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
