package rank

import (
	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
)

// The kernels and their arguments.
var (
	prepare      = device.NewKernel[prepareArguments]("prepare")
	copyRaw      = device.NewKernel[lists.DecodeArguments]("copy_raw")
	starts       = device.NewKernel[startsArguments]("starts")
	tfComponents = device.NewKernel[tfArguments]("tf_components")
	accumulate   = device.NewKernel[accumulateArguments]("accumulate")
	rankAnd      = device.NewKernel[rankAndArguments]("rank_and")
	packetsCount = device.NewKernel[packetsCountArguments]("packets_count")
	packetsFill  = device.NewKernel[packetsFillArguments]("packets_fill")
	coarseSums   = device.NewKernel[sumsArguments]("coarse_sums")
	raise        = device.NewKernel[raiseArguments]("coarse_raise")
	complete     = device.NewKernel[completeArguments]("coarse_complete")
	globalClear  = device.NewKernel[globalClearArguments]("global_clear")
	globalAdd    = device.NewKernel[globalAddArguments]("global_add")
	globalFilter = device.NewKernel[globalFilterArguments]("global_filter")
	globalMaxima = device.NewKernel[globalMaximaArguments]("global_maxima")
	globalBest   = device.NewKernel[globalBestArguments]("global_best")
	selectBest   = device.NewKernel[selectBestArguments]("select_best")
	selectCount  = device.NewKernel[selectCountArguments]("select_count")
	selectKeep   = device.NewKernel[selectKeepArguments]("select_keep")
)

type buffers = [lists.MaxArenas]*ocl.MemObject

type prepareArguments struct {
	batch, runs, state *ocl.MemObject
	lists, all, clear  int
}

type startsArguments struct {
	batch, docs, out              *ocl.MemObject
	lists, firstDoc, bits, ranges int
}

type tfArguments struct {
	f                                      buffers
	batch, runs, docs, lengths, components *ocl.MemObject
	docCount                               int
	narrow                                 bool
}

// postings are the queries of a round and their decoded lists.
type postings struct {
	batch                       *ocl.MemObject
	termsAt, queriesAt, queries int
	docs, starts                *ocl.MemObject
	firstDoc                    int
}

// results are where candidates go.
type results struct {
	state, keys *ocl.MemObject
	capacity    int
}

type accumulateArguments struct {
	postings
	components                        *ocl.MemObject
	firstRange, endRange, span, every int
	only                              bool
	docCount                          int
	filters                           *ocl.MemObject
	results
}

type rankAndArguments struct {
	a, f buffers
	postings
	lengths                     *ocl.MemObject
	narrow                      bool
	bits                        *ocl.MemObject
	logRange, firstRange, every int
	only                        bool
	docCount                    int
	results
}

type packetsArguments struct {
	batch                    *ocl.MemObject
	lists                    int
	docs, components, starts *ocl.MemObject
	ranges                   int
	places                   *ocl.MemObject
}

type packetsCountArguments struct {
	packetsArguments
	counts *ocl.MemObject
}

type packetsFillArguments struct {
	packetsArguments
	p buffers
}

type sumsArguments struct {
	p                                                                               buffers
	batch, state, found, filters                                                    *ocl.MemObject
	termsAt, queriesAt, queryFrom, queries, ranges, every, span, capacity, cells, k int
	all                                                                             bool
}

type raiseArguments struct {
	batch, found, state                     *ocl.MemObject
	termsAt, queriesAt, narrow, capacity, k int
	all                                     bool
}

type completeArguments struct {
	a, f, p                                                                  buffers
	batch, lengths, bits, found, state, keys                                 *ocl.MemObject
	ranges, termsAt, queriesAt, queries, groups, docCount, most, capacity, k int
	narrow, all                                                              bool
}

type globalClearArguments struct {
	scores *ocl.MemObject
	n      int
}

type globalAddArguments struct {
	batch, docs, components, scores *ocl.MemObject
	term, first, n                  int
}

type globalFilterArguments struct {
	scores, filters *ocl.MemObject
	n, at, words    int
}

type globalMaximaArguments struct {
	scores, maxima *ocl.MemObject
	n, from, to    int
}

type globalBestArguments struct {
	scores, maxima, best, state *ocl.MemObject
	n, q, k, bestAt             int
}

type selectBestArguments struct {
	keys, state, bins, kept, best *ocl.MemObject
	capacity, k, bestAt           int
	wide, last                    bool
}

type selectCountArguments struct {
	keys, state, bins   *ocl.MemObject
	capacity, k, groups int
}

type selectKeepArguments struct {
	selectCountArguments
	kept *ocl.MemObject
}
