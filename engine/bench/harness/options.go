package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"heddle/codec"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// Options of a benchmark. The zero value of a field selects the default, which the
// comment states first. Short runs use smaller defaults.
type Options struct {
	// Backend is "auto" (both, if there is a device), "host" or "opencl".
	Backend string
	// Device selects OpenCL devices whose name contains it. Default: any.
	Device string
	// Tuning is a file of tuning rows for OpenCL devices. Default: none.
	Tuning string
	// Threads of the pure-Go backend and of other libraries. Default: GOMAXPROCS.
	Threads int

	// Figures and Tables are names of exhibits. Default: all, if both are empty.
	Figures, Tables []string

	// Seed of the workloads. Default: 1.
	Seed uint64
	// Short uses less of everything: under 20 s.
	Short bool
	// Themes of the GOV-like workload, each with as many of its lists and queries. Default:
	// MaxThemes; 1 if short.
	Themes int
	// Orders of the documents. Default: uniform, clustered and pagerank; clustered if short.
	Orders []workload.Order
	// Sets are names of the collections of Ao et al. for their Tables 3 and 7: GOV, GOVPR,
	// GOVR, BD, BDR, GOV2, GOV2R. Default: all in the measured orders.
	Sets []string
	// Layouts and Algorithms of the query log. Default: all layouts with bs, lr, hs16,
	// hs32, hs256, bits and auto; raw and auto with hs16 and auto if short.
	Layouts    []workload.Layout
	Algorithms []plan.Algorithm

	// Codecs that decode measures. Default: all but bitset, which is for dense lists.
	// A device decodes the codecs of codec.IDs.
	Codecs []codec.ID

	// Real is a folder of real data. lists reads real-roaring zips and indexes (.hdl);
	// rank reads collections (.tsv.gz, one document per line) and topics (topics*.txt);
	// bitmap reads tables (kddcup.data*.gz with corrected.gz, and columns
	// NAME.KINDle.gz). Files of rank and bitmap may lie one folder deeper. Default: none.
	Real string

	// Queries per run; after the last query of the workload the first follows again.
	// Default: 500,000 on a GPU, 5,000 on a CPU, 100 if short. Ranked queries: 1,000
	// on a GPU, 200 on a CPU, 40 if short.
	Queries int

	// Logs of schedule: lists, ranked. Default: both.
	Logs []string

	// GOVDocs is the number of documents of the GOV-like workload. Default: DocCount.
	// Other values are for tests.
	GOVDocs uint32
	// Docs is the number of documents of the ranked workloads, at least LeastDocs.
	// Default: the size of GOV2; a fiftieth if short.
	Docs uint32
	// Rows of the Zipf tables. Default: 32,000,000; 500,000 if short.
	Rows uint32
	// K holds the result sizes of ranked queries, each from 1 to plan.MaxK. Default: 10
	// and 1,000; 10 if short.
	K []int
	// Codec of the ranked lists. Default: parapfor.
	Codec codec.ID
	// Runs that are timed, after one run to warm up. Default: 5; 2 if short.
	Runs int
	// WarmUp is the least time of the runs that warm up a setup, in which the memory for results
	// grows. Default: 500 ms; one run if short.
	WarmUp time.Duration
	// Threshold is the number of candidates that closes a batch. Default: the choice of
	// the backend.
	Threshold uint64
	// Postings is the number of postings that closes a batch of ranked queries. Default:
	// the choice of the backend.
	Postings uint64
	// Peers also runs other libraries on the same queries, in turns.
	Peers bool
	// PISA is the folder with the programs of PISA, for exhibit pisa. Default: none.
	PISA string
	// CRoaring is the prefix of an installation of CRoaring, for exhibit croaring. Default:
	// none.
	CRoaring string

	// JSON is the file for the rows, one object per line. Rows go to JSON.partial during
	// the run; the file gets its name at the end, and keeps the partial name after an
	// error. "-" is stdout; tables then go to stderr. Default: none.
	JSON string
	// Parts is a folder that gets a file of rows for each exhibit and collection when it has
	// been measured. What it has is not measured again; JSON gets none of these rows.
	// Default: none.
	Parts string
	// Plot is the folder for pictures, as SVG. Default: none.
	Plot string
	// Report is the file for a Markdown report that shows the papers' figures beside
	// the measured ones. Default: none.
	Report string
	// Sweep holds the thresholds of figures over thresholds. Default: 8 K to 8 M, to 1 M
	// on a CPU, 64 K and 512 K if short.
	Sweep []uint64
}

// LeastDocs is the smallest value of Options.Docs.
const LeastDocs = 1000

// Sizes of the whole workloads.
const (
	GOV2Docs    = 25_205_179 // documents of the ranked workload
	GOV2Queries = 1000       // queries of the ranked workload
	ZipfRows    = 32_000_000 // rows of a Zipf table
)

// withDefaults fills zero fields and reports invalid ones.
func (o Options) withDefaults() (Options, error) {
	o.Backend = cmp.Or(o.Backend, "auto")
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Seed = cmp.Or(o.Seed, 1)
	o.GOVDocs = cmp.Or(o.GOVDocs, workload.DocCount)
	o.Runs = cmp.Or(o.Runs, Pick(&o, 5, 2))
	o.WarmUp = cmp.Or(o.WarmUp, Pick[time.Duration](&o, 500*time.Millisecond, 0))
	o.Themes = cmp.Or(o.Themes, Pick(&o, workload.MaxThemes, 1))
	if len(o.Orders) == 0 {
		o.Orders = Pick(&o, []workload.Order{workload.Uniform, workload.Clustered, workload.PageRank}, []workload.Order{workload.Clustered})
	}
	if len(o.Codecs) == 0 {
		o.Codecs = slices.DeleteFunc(Encoders(), func(id codec.ID) bool { return id == codec.Bitset })
	}
	o.Docs = cmp.Or(o.Docs, Pick[uint32](&o, GOV2Docs, GOV2Docs/50))
	o.Rows = cmp.Or(o.Rows, Pick[uint32](&o, ZipfRows, ZipfRows/64))
	if len(o.K) == 0 {
		o.K = Pick(&o, []int{10, 1000}, []int{10})
	}
	o.Codec = cmp.Or(o.Codec, codec.ParaPFor)
	if len(o.Layouts) == 0 {
		o.Layouts = Pick(&o, workload.Layouts(), []workload.Layout{workload.LayoutRaw, workload.LayoutAuto})
	}
	if len(o.Algorithms) == 0 {
		o.Algorithms = Pick(&o, []plan.Algorithm{plan.BS, plan.LR, plan.HS16, plan.HS32, plan.HS256, plan.Bits, plan.Auto},
			[]plan.Algorithm{plan.HS16, plan.Auto})
	}
	switch {
	case o.Backend != "auto" && o.Backend != "host" && o.Backend != "opencl":
		return o, fmt.Errorf("unknown backend %q (one of auto, host, opencl)", o.Backend)
	case o.Runs < 0 || o.Queries < 0 || o.Threads < 0:
		return o, errors.New("runs, queries and threads cannot be negative")
	case o.Themes < 1 || o.Themes > workload.MaxThemes:
		return o, fmt.Errorf("there are 1 to %d themes", workload.MaxThemes)
	case o.Docs < LeastDocs:
		return o, fmt.Errorf("a ranked workload has %d documents at least", LeastDocs)
	case slices.Min(o.K) < 1 || slices.Max(o.K) > plan.MaxK:
		return o, fmt.Errorf("k is from 1 to %d", plan.MaxK)
	}
	return o, o.checkNames()
}

// checkNames reports a log or a collection that does not exist.
func (o *Options) checkNames() error {
	for _, l := range o.Logs {
		if l != "lists" && l != "ranked" {
			return fmt.Errorf("unknown log %q (one of lists, ranked)", l)
		}
	}
	var names []string
	for _, d := range workload.DataSets() {
		names = append(names, d.Name)
	}
	for _, s := range o.Sets {
		if !slices.Contains(names, s) {
			return fmt.Errorf("unknown collection %q (one of %s)", s, strings.Join(names, ", "))
		}
	}
	return nil
}

// backends names the backends to measure. required: a missing one is an error.
func (o *Options) backends() (names []string, required bool) {
	if o.Backend == "auto" {
		return []string{"host", "opencl"}, false
	}
	return []string{o.Backend}, true
}

// tables returns the writer for tables: stdout, unless the rows go there.
func (o *Options) tables(stdout, stderr io.Writer) io.Writer {
	if o.JSON == "-" {
		return stderr
	}
	return stdout
}

// Encoders returns the codecs that this build writes. Pure Go reads all of them.
func Encoders() (ids []codec.ID) {
	for id := codec.ID(1); ; id++ {
		if _, err := codec.Append(nil, id, nil, codec.DefaultOptions()); err != nil {
			return ids
		}
		ids = append(ids, id)
	}
}
