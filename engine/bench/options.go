package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"

	"heddle/engine/plan"
)

// ListsOptions of Lists. The zero value of a field is its default, which the
// comment gives.
type ListsOptions struct {
	// Backend is "host", "opencl" or "auto": both, where there is a device.
	Backend string
	// Device restricts OpenCL devices to those whose name contains it.
	Device string
	// Threads of the pure-Go backend and of peers; GOMAXPROCS.
	Threads int

	Seed       uint64           // 1
	Short      bool             // one theme of MaxThemes, less of everything: under 20 s
	Orders     []Order          // uniform and clustered
	Layouts    []Layout         // all; raw and auto when short
	Algorithms []plan.Algorithm // bs, lr, hs16, hs32, hs256, bits, auto; hs16 and auto when short

	// Queries is how many are put in a run; behind the last of the workload comes
	// the first again. 500,000 to a GPU, 5000 to a CPU (pure Go or OpenCL), 500
	// when short.
	Queries int
	// Runs that are timed, after one that is not; 5, and 3 when short.
	Runs int
	// Threshold closes a batch: candidates, as engine.Options.BatchCandidates; 0
	// is what the backend likes best.
	Threshold uint64
	// Peers runs other libraries on the same queries, in turns with ours.
	Peers bool

	// JSON is the file for the rows, an object a line; "-" is stdout, and then
	// the tables go to stderr. Empty: no JSON.
	JSON string
	// Plot is the folder for the figures, which take a sweep over thresholds on
	// the first of Layouts. Empty: no sweep.
	Plot string
	// Sweep holds the thresholds of the figures; 128 K to 8 M (1 M when short).
	Sweep []uint64

	docs uint32 // documents of the workload, for tests; docCount
}

// How many queries make a run of some tenths of a second.
const (
	gpuQueries   = 500_000
	cpuQueries   = 5000
	shortQueries = 500
)

// queries is how many a device of a type gets.
func (o *ListsOptions) queries(deviceType string) int {
	switch {
	case o.Queries > 0:
		return o.Queries
	case o.Short:
		return shortQueries
	case deviceType == "gpu":
		return gpuQueries
	}
	return cpuQueries
}

// withDefaults fills what is zero and reports what cannot be.
func (o ListsOptions) withDefaults() (ListsOptions, error) {
	o.Backend = cmp.Or(o.Backend, "auto")
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Seed = cmp.Or(o.Seed, 1)
	o.docs = cmp.Or(o.docs, docCount)
	if o.Runs == 0 {
		o.Runs = 5
		if o.Short {
			o.Runs = 3
		}
	}
	if len(o.Orders) == 0 {
		o.Orders = []Order{Uniform, Clustered}
	}
	if len(o.Layouts) == 0 {
		o.Layouts = Layouts()
		if o.Short {
			o.Layouts = []Layout{LayoutRaw, LayoutAuto}
		}
	}
	if len(o.Algorithms) == 0 {
		o.Algorithms = []plan.Algorithm{plan.BS, plan.LR, plan.HS16, plan.HS32, plan.HS256, plan.Bits, plan.Auto}
		if o.Short {
			o.Algorithms = []plan.Algorithm{plan.HS16, plan.Auto}
		}
	}
	if len(o.Sweep) == 0 {
		for c := uint64(128 << 10); c <= 8<<20; c *= 2 {
			if o.Sweep = append(o.Sweep, c); o.Short && c == 1<<20 {
				break
			}
		}
	}
	switch {
	case o.Backend != "auto" && o.Backend != "host" && o.Backend != "opencl":
		return o, fmt.Errorf("unknown backend %q (one of auto, host, opencl)", o.Backend)
	case o.Runs < 0 || o.Queries < 0 || o.Threads < 0:
		return o, errors.New("runs, queries and threads cannot be negative")
	}
	return o, nil
}

// backends names the backends to measure, and says whether they must be there.
func (o *ListsOptions) backends() (names []string, required bool) {
	if o.Backend == "auto" {
		return []string{"host", "opencl"}, false
	}
	return []string{o.Backend}, true
}

// themes is the size of the workload.
func (o *ListsOptions) themes() int {
	if o.Short {
		return 1
	}
	return MaxThemes
}

// tables says where tables go: to stdout, unless the JSON goes there.
func (o *ListsOptions) tables(stdout, stderr io.Writer) io.Writer {
	if o.JSON == "-" {
		return stderr
	}
	return stdout
}
