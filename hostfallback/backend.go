// Package hostfallback is a plan.Backend in pure Go on all cores: no cgo, no assembly, no
// unsafe. It gives the same bytes as the OpenCL backend, and replaces it on machines
// without a device.
//
// The packages below it hold the work: internal/match for conjunctions and boolean
// expressions, internal/rank for ranked retrieval, internal/bitmap for predicates on
// tables, internal/work for goroutines and memory.
package hostfallback

import (
	"fmt"
	"runtime"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// Options of a backend. The zero value is ready to use.
type Options struct {
	// Threads is the number of goroutines for each batch. The default is GOMAXPROCS.
	Threads int
	// MemoryLimit bounds the auxiliary data of each store, in bytes. The default for lists
	// is 16 bytes for each docID, for a plan.Table four times the size of its vectors, both
	// at least 64 MiB and at most 4 GiB. When the limit is reached, plan.Auto, plan.Bits,
	// ranking and tables continue with less auxiliary data; the other algorithms return
	// plan.ErrOutOfMemory. Auxiliary data of a list or of a vector is built by the first or the
	// second query that uses it.
	MemoryLimit uint64
}

// Backend implements plan.Backend. It is safe for concurrent use.
type Backend struct {
	opt  Options
	gate work.Gate
}

var _ plan.Backend = (*Backend)(nil)

// New returns a backend. It holds no resources before Load.
func New(opt Options) *Backend {
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	return &Backend{opt: opt}
}

// Info describes the host.
func (b *Backend) Info() plan.Info {
	return plan.Info{
		Kind:         "host",
		Device:       fmt.Sprintf("pure Go on %s, %d threads", runtime.GOARCH, b.opt.Threads),
		Vendor:       runtime.GOOS + "/" + runtime.GOARCH,
		Driver:       runtime.Version(),
		Type:         "cpu",
		ComputeUnits: b.opt.Threads,
		Tuning:       "default",
		Filters:      true,
		Algorithms:   lookup.Algorithms,
	}
}

// Close waits for running calls of Load and LoadTable and refuses later ones.
func (b *Backend) Close() error {
	b.gate.Close()
	return nil
}

// resources returns the resources of a new store whose auxiliary data usually take the
// given number of bytes.
func (b *Backend) resources(usual uint64) work.Resources {
	return work.Resources{Threads: b.opt.Threads, Memory: work.NewBudget(b.opt.MemoryLimit, usual)}
}
