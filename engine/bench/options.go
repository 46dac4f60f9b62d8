package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// Options of Lists, Decode, Rank and Bitmap. The zero value of a field is its default, which the
// comment gives.
type Options struct {
	// Backend is "host", "opencl" or "auto": both, where there is a device.
	Backend string
	// Device restricts OpenCL devices to those whose name contains it.
	Device string
	// Tuning is a file of tuning rows for OpenCL devices, as engine.Options has it.
	Tuning string
	// Threads of the pure-Go backend and of peers; GOMAXPROCS.
	Threads int

	// Figures and Tables are the names of those to reproduce, of ListsExhibits,
	// DecodeExhibits or RankExhibits; all when both are empty.
	Figures, Tables []string

	Seed  uint64 // 1
	Short bool   // one theme of MaxThemes, less of everything: under 20 s
	// Orders are uniform, clustered and reordered, for GOVR, GOV and GOVPR;
	// clustered when short.
	Orders []Order
	// Layouts and Algorithms of the log; raw and auto, hs16 and auto when short,
	// else all layouts and bs, lr, hs16, hs32, hs256, bits, auto.
	Layouts    []Layout
	Algorithms []plan.Algorithm

	// Codecs that Decode measures; all but bitset, which is for dense lists only. A
	// device has those of codec.IDs.
	Codecs []codec.ID

	// Real is a folder of real sets: real-roaring zips, and indices (.hdl); for Rank
	// of collections (.tsv.gz, a document a line) and topics (topics*.txt), there or one
	// folder down; for Bitmap of tables, kddcup.data*.gz with corrected.gz and columns
	// NAME.KINDle.gz, there or one folder down. Empty: none.
	Real string

	// Queries is how many are put in a run; behind the last of the workload comes
	// the first again. 500,000 to a GPU, 5000 to a CPU (pure Go or OpenCL), 100
	// when short. Of ranked ones 1000 and 200, 40 when short.
	Queries int

	// Docs is the number of documents of the workloads of Rank; that of GOV2, a
	// fiftieth when short.
	Docs uint32
	// Rows of the Zipf sets of Bitmap; 32,000,000, and 500,000 when short.
	Rows uint32
	// K holds how many documents Rank asks for; 10 and 1000, 10 when short.
	K []int
	// Codec of the lists of Rank; parapfor.
	Codec codec.ID
	// Runs that are timed, after one that is not; 5, and 2 when short.
	Runs int
	// Threshold closes a batch: candidates, as engine.Options.BatchCandidates; 0
	// is what the backend likes best.
	Threshold uint64
	// Postings closes a batch of ranked queries, as engine.Options.BatchPostings; 0 is
	// what the backend likes best.
	Postings uint64
	// Peers runs other libraries on the same queries, in turns with ours.
	Peers bool

	// JSON is the file for the rows, an object a line. They go to JSON.partial
	// as they come, which gets the name at the end and stays after an error. "-" is
	// stdout, and then the tables go to stderr. Empty: no JSON.
	JSON string
	// Plot is the folder for the figures, as SVG and PNG. Empty: none.
	Plot string
	// Report is the file for a Markdown report that sets what the papers have
	// beside what was measured. Empty: none.
	Report string
	// Sweep holds the thresholds of the figures over them; 8 K to 8 M, to 1 M on
	// a CPU, 64 K and 512 K when short.
	Sweep []uint64

	docs uint32 // documents of the workload, for tests; docCount
}

// How many queries make a run of some tenths of a second.
const (
	gpuQueries   = 500_000
	cpuQueries   = 5000
	shortQueries = 100
)

// queries is how many a device of a type gets.
func (o *Options) queries(deviceType string) int {
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

// queriesAt is how many where a threshold closes batches: they make no more than
// some thousand batches of a query, of 8,192 candidates in the mean, or more.
func (o *Options) queriesAt(deviceType string, threshold uint64) int {
	n := o.queries(deviceType)
	if threshold > 0 {
		n = int(min(uint64(n), 4096*max(1, threshold>>13)))
	}
	return n
}

// LeastDocs is the least Options.Docs.
const LeastDocs = 1000

// How many ranked queries make a run.
const (
	cpuRankQueries   = 200
	shortRankQueries = 40
)

// rankQueries is how many ranked ones a device of a type gets.
func (o *Options) rankQueries(deviceType string) int {
	switch {
	case o.Queries > 0:
		return o.Queries
	case o.Short:
		return shortRankQueries
	case deviceType == "gpu":
		return gov2Queries
	}
	return cpuRankQueries
}

// withDefaults fills what is zero and reports what cannot be.
func (o Options) withDefaults() (Options, error) {
	o.Backend = cmp.Or(o.Backend, "auto")
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Seed = cmp.Or(o.Seed, 1)
	o.docs = cmp.Or(o.docs, docCount)
	if o.Runs == 0 {
		o.Runs = 5
		if o.Short {
			o.Runs = 2
		}
	}
	if len(o.Orders) == 0 {
		o.Orders = []Order{Uniform, Clustered, Reordered}
		if o.Short {
			o.Orders = []Order{Clustered}
		}
	}
	if len(o.Codecs) == 0 {
		o.Codecs = slices.DeleteFunc(encoders(), func(id codec.ID) bool { return id == codec.Bitset })
	}
	if o.Docs == 0 {
		o.Docs = gov2Docs
		if o.Short {
			o.Docs /= 50
		}
	}
	o.Rows = cmp.Or(o.Rows, pick(&o, []uint32{zipfRows}, []uint32{zipfRows / 64})[0])
	if len(o.K) == 0 {
		o.K = pick(&o, []int{10, 1000}, []int{10})
	}
	o.Codec = cmp.Or(o.Codec, codec.ParaPFor)
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
	switch {
	case o.Backend != "auto" && o.Backend != "host" && o.Backend != "opencl":
		return o, fmt.Errorf("unknown backend %q (one of auto, host, opencl)", o.Backend)
	case o.Runs < 0 || o.Queries < 0 || o.Threads < 0:
		return o, errors.New("runs, queries and threads cannot be negative")
	case o.Docs < LeastDocs:
		return o, fmt.Errorf("a ranked workload has %d documents at least", LeastDocs)
	case slices.Min(o.K) < 1 || slices.Max(o.K) > plan.MaxK:
		return o, fmt.Errorf("k is from 1 to %d", plan.MaxK)
	}
	return o, nil
}

// backends names the backends to measure, and says whether they must be there.
func (o *Options) backends() (names []string, required bool) {
	if o.Backend == "auto" {
		return []string{"host", "opencl"}, false
	}
	return []string{o.Backend}, true
}

// thresholds are those of a sweep on a device of a type.
func (o *Options) thresholds(deviceType string) (all []uint64) {
	switch {
	case len(o.Sweep) > 0:
		return o.Sweep
	case o.Short:
		return []uint64{64 << 10, 512 << 10}
	}
	last := uint64(1 << 20)
	if deviceType == "gpu" {
		last = 8 << 20
	}
	for c := uint64(8 << 10); c <= last; c *= 2 {
		all = append(all, c)
	}
	return all
}

// pick chooses between the whole and the short set of something.
func pick[T any](o *Options, whole, short []T) []T {
	if o.Short {
		return short
	}
	return whole
}

// themes is the size of the workload.
func (o *Options) themes() int {
	if o.Short {
		return 1
	}
	return MaxThemes
}

// tables says where tables go: to stdout, unless the JSON goes there.
func (o *Options) tables(stdout, stderr io.Writer) io.Writer {
	if o.JSON == "-" {
		return stderr
	}
	return stdout
}
