package bitmap

import (
	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
)

// The kernels and their arguments.
var (
	selectRows    = device.NewKernel[rowsArguments]("rows")
	selectSlices  = device.NewKernel[slicesArguments]("slices")
	countCodes    = device.NewKernel[countCodesArguments]("count_codes")
	measureGroups = device.NewKernel[measureGroupsArguments]("measure_groups")
	measureRows   = device.NewKernel[measureRowsArguments]("measure_rows")
	codeGroups    = device.NewKernel[codeGroupsArguments]("code_groups")
	pairGroups    = device.NewKernel[pairGroupsArguments]("pair_groups")
	packedGroups  = device.NewKernel[packedGroupsArguments]("packed_groups")
	bestKeys      = device.NewKernel[bestKeysArguments]("best_keys")
	rowsAbove     = device.NewKernel[rowsAboveArguments]("rows_above")
	clearCells    = device.NewKernel[clearCellsArguments]("clear_cells")
	wahClear      = device.NewKernel[wahClearArguments]("wah_clear")
	wahSizes      = device.NewKernel[wahSizesArguments]("wah_sizes")
	wahEnds       = device.NewKernel[wahEndsArguments]("wah_ends")
	wahExpand     = device.NewKernel[wahExpandArguments]("wah_expand")
	wahRecall     = device.NewKernel[wahRecallArguments]("wah_recall")
	reducePairs   = device.NewKernel[reducePairsArguments]("reduce_pairs")
	reduceTiles   = device.NewKernel[reduceTilesArguments]("reduce_tiles")
)

type buffers = [lists.MaxArenas]*ocl.MemObject

type rowsArguments struct {
	a0                              *ocl.MemObject // vectors
	a1, a2, a3                      *ocl.MemObject `macro:"USE_ARENAS"`
	coarse, fine, plain             *ocl.MemObject
	plainAt, vectors, rowCount      int
	batch                           *ocl.MemObject
	selectionsAt, first, selections int
	out                             *ocl.MemObject
	outAt, stride, countsAt         int
	tile                            device.LocalBytes
	checks                          *ocl.MemObject `macro:"USE_CHECKS"`
	columns                         *ocl.MemObject `macro:"USE_COLUMNS"`
	columnStride                    int            `macro:"USE_COLUMNS"`
}

type slicesArguments struct {
	slicesBuffers
	rowCount                                int
	batch                                   *ocl.MemObject
	selectionsAt, first, selections, groups int
	out                                     *ocl.MemObject
	outAt, stride, countsAt                 int
}

// slicesBuffers has the slices of all columns.
type slicesBuffers struct {
	a0         *ocl.MemObject
	a1, a2, a3 *ocl.MemObject `macro:"USE_ARENAS"`
	tiles      *ocl.MemObject
	tileCount  int
}

type countCodesArguments struct {
	slicesBuffers
	batch, counts                *ocl.MemObject
	columns, bitsAt, words, span int
}

type measureGroupsArguments struct {
	slicesBuffers
	batch, bits, counts                 *ocl.MemObject
	at, words, span, cellsAt, lowerEnds int
}

type measureRowsArguments struct {
	slicesBuffers
	rowCount                       int
	batch, bits, counts            *ocl.MemObject
	at, cellsAt, span, tilesAtOnce int
}

type codeGroupsArguments struct {
	slicesBuffers
	rowCount                        int
	batch, bits, counts             *ocl.MemObject
	at, cellsAt, span, limb, copies int
	own                             device.LocalBytes
}

type pairGroupsArguments struct {
	slicesBuffers
	rowCount                                                     int
	bits, counts                                                 *ocl.MemObject
	hasBits                                                      bool
	cellsAt, span, by, of, places, planes, bound, from, to, limb int
	two                                                          bool
	copies, part, head                                           int
	own                                                          device.LocalBytes
}

type packedGroupsArguments struct {
	counts                                       *ocl.MemObject
	cellsAt, places, planes, sumAt, limb, copies int
}

type clearCellsArguments struct {
	counts    *ocl.MemObject
	at, words int
}

type bestKeysArguments struct {
	slicesBuffers
	rowCount     int
	batch        *ocl.MemObject
	selectionsAt int
	bits, out    *ocl.MemObject
	at, each     int
}

type rowsAboveArguments struct {
	slicesBuffers
	rowCount       int
	batch          *ocl.MemObject
	selectionsAt   int
	bits, out      *ocl.MemObject
	at, each, room int
}

type wahClearArguments struct {
	p        *ocl.MemObject
	first, n int
}

type wahSizesArguments struct {
	a              buffers
	records, sizes *ocl.MemObject
	first, groups  int
}

type wahEndsArguments struct {
	starts, ends *ocl.MemObject
	n, groups    int
}

type wahExpandArguments struct {
	a                         buffers
	records, index, columns   *ocl.MemObject
	first, groups, stride, to int
}

type wahRecallArguments struct {
	a                                  buffers
	coarse, fine, records, columns     *ocl.MemObject
	vectors, first, groups, stride, to int
}

type reducePairsArguments struct {
	columns         *ocl.MemObject
	packs, first, s int
}

type reduceTilesArguments struct {
	columns                                 *ocl.MemObject
	rows, first, step, m, span, j, firstRow int
}
