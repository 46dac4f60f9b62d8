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
	batch       *ocl.MemObject
	lists, all  int
	runs, state *ocl.MemObject
	clear       int
}

type startsArguments struct {
	batch                  *ocl.MemObject
	lists                  int
	docs                   *ocl.MemObject
	firstDoc, bits, ranges int
	out                    *ocl.MemObject
}

type tfArguments struct {
	f                          buffers
	batch, runs, docs, lengths *ocl.MemObject
	narrow                     bool
	docCount                   int
	components                 *ocl.MemObject
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
	p                                                           buffers
	batch                                                       *ocl.MemObject
	termsAt, queriesAt, queryFrom, queries, ranges, every, span int
	all                                                         bool
	state, found                                                *ocl.MemObject
	capacity, cells, k                                          int
	filters                                                     *ocl.MemObject
}

type raiseArguments struct {
	batch                      *ocl.MemObject
	termsAt, queriesAt, narrow int
	all                        bool
	found                      *ocl.MemObject
	capacity, k                int
	state                      *ocl.MemObject
}

type completeArguments struct {
	a, f, p                    buffers
	ranges                     int
	batch                      *ocl.MemObject
	termsAt, queriesAt, groups int
	lengths                    *ocl.MemObject
	narrow                     bool
	docCount                   int
	bits, found                *ocl.MemObject
	most                       int
	state, keys                *ocl.MemObject
	capacity, k                int
	all                        bool
}

type globalClearArguments struct {
	scores *ocl.MemObject
	n      int
}

type globalAddArguments struct {
	batch                    *ocl.MemObject
	term                     int
	docs, components, scores *ocl.MemObject
	first, n                 int
}

type globalFilterArguments struct {
	scores    *ocl.MemObject
	n         int
	filters   *ocl.MemObject
	at, words int
}

type globalMaximaArguments struct {
	scores, maxima *ocl.MemObject
	n, from, to    int
}

type globalBestArguments struct {
	scores *ocl.MemObject
	n      int
	maxima *ocl.MemObject
	q, k   int
	best   *ocl.MemObject
	bestAt int
	state  *ocl.MemObject
}

type selectBestArguments struct {
	keys       *ocl.MemObject
	capacity   int
	state      *ocl.MemObject
	k          int
	bins, kept *ocl.MemObject
	wide       bool
	best       *ocl.MemObject
	bestAt     int
	last       bool
}

type selectCountArguments struct {
	keys     *ocl.MemObject
	capacity int
	state    *ocl.MemObject
	k        int
	bins     *ocl.MemObject
	groups   int
}

type selectKeepArguments struct {
	selectCountArguments
	kept *ocl.MemObject
}
