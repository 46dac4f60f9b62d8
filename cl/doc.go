// Package cl runs batches on OpenCL devices of any vendor: a plan.Backend for
// each device, by the same kernels everywhere.
//
// # A batch on a device
//
// Lists lie in an arena of at most four buffers, as they lie in the index file;
// the tables of an algorithm (buckets, lines, bitsets) lie in a buffer beside it.
// A batch is cut into rounds (round.go): the elements of the shortest lists, tile
// by tile. A round is one upload, a launch for each decoder that it needs, two more
// and one download, in the in-order queue of a slot; the rounds of several slots
// overlap.
//
//	kernel     what                                work-group     local memory           barriers            result
//	decode     shortest lists to docIDs, by runs:  64             1 KiB, 1 KiB more      2, 3 a row with     decoded[tile]
//	           one kernel for parapfor and bitsets                without warp shuffles  exceptions, 10 for
//	                                                                                     the scan; with
//	                                                                                     shuffles none
//	           one for lists under lines           128            none                   none
//	           one for each other gap codec        32             segments.cl            a few a segment
//	intersect  elements in all lists of the query  tuning.wg      16.1 bytes an element  2 and 1 a list      found[tile], counts[tile],
//	                                                              of a tile                                  sums[block]
//	  pmf      the same, PMF0 to PMF4              tuning.wg      12.3 bytes an element  3 to 7 a list       the same
//	  skip     the same, where a list of a gap     32             10 bytes an element    4 a list, a few a   the same
//	           codec is looked up                                 of a tile and 1.2 KB,  segment that is hit
//	                                                              5.8 KB with rpfd
//	merge      the same, where lists are of like    tuning.merge_wg 8 bytes an element     4                  the same, or out, without
//	           length or the second has bits        of merge_rows  of a tile and 260                          gather, by look-back
//	gather     survivors, query after query        tuning.wg      4 bytes                2                   out, behind the counts
//
// A round runs a kernel that is built for what its lists and its algorithm ask for,
// its features (program.go), so that the common ones stay lean: raw lists and bitsets
// under BS, LR, HS and bits ask for none. What a store's lists ask for is built and
// tested when it is loaded, the rest when a batch first needs it. choose.go says what
// Auto takes.
//
// Formulas (plan.MatchBatch) have slots and rounds of their own, formula*.go: a round is
// some formulas over all ranges of documents, or some ranges of one. Compressed lists
// are decoded first; counts come back, then docIDs, as many as there are.
//
//	formula    a formula for a range of documents  tuning.set_wg  1 KiB a set, 1 KiB     1 a step            sets[group], counts[group],
//	                                                              (serial too)                               sums[block]
//	expand     docIDs of ranges                    tuning.set_wg  4 bytes a work-item    2 a doubling        docs
//
// Ranked queries (plan.RankBatch) have slots and rounds too, rank*.go: a round is some
// queries over all ranges of documents, or one query over some. Every list of a round
// is decoded once. Then passes append candidates, the first one over some ranges from
// everywhere, and each is cut to the best k (select.go), whose last one is what later
// candidates must beat. The best documents of the last pass come back, no scores but
// theirs.
//
//	prepare    what decoders read, empty states    64             none                   none                runs, state
//	starts     where ranges begin in lists         64             none                   none                starts
//	share      shares of postings, for OR          64             1 KiB                  2 a segment         shares
//	accumulate OR: a query in up to 8 ranges       tuning.rank_wg 4 bytes a document     2, and 2 a page of  keys, state
//	                                                              of a range, 3 KiB      lists, for a range
//	conjoin    AND: an element of the shortest     tuning.rank_wg none                   none                keys, state
//	           list a work-item
//	select_    the best k of a query's candidates, tuning.select_wg 32 bytes a           5 a digit and 1 a   keys, state, best
//	  best     in order if they are few                           work-item, 16.5 with   chunk
//	  count,   first, for many candidates: digits,                shuffles               2, and 2 a chunk    bins, kept
//	  keep     and what is not below the boundary
//
// With plan.GlobalAccumulators there is one pass, query by query: global_clear,
// global_add for each list, global_maxima for each level, global_best
// (accumulate_global.cl).
//
// A store whose lists come and go (LoadCached, cache*.go) has an arena that package
// listcache hands out. A batch is cut into parts; a part pins its lists, all at once, has
// the missing ones brought in by a queue of their own, and its rounds wait for the events
// of those uploads. Term records go up with every round, so kernels need not know.
//
// Tables of bit vectors (plan.Table) have a store of their own, table*.go: vectors lie in
// an arena, with a directory that says tile by tile of their groups where words are
// (table_directory.go), and tiles of little compression as plain groups (table_plain.go);
// stored values follow when a batch first asks for them. A round is
// some selections over all tiles, in one launch whose counts, or rows, come back.
//
//	rows       a selection in a tile: each vector  tuning.table_wg 4 bytes a group and    3 for 64 vectors, 1   rows, counts
//	           is read where it lies, in words     of table_tile  set, 1.3 KiB           for a set that may
//	                                               groups                                be empty, 3
//
// Under the strategies of Nelson et al. 2020 (nelson*.go) each StepAny becomes a column of
// groups first, which rows then loads: its vectors are decompressed, as many at a time as
// there is room for, and reduced. Word indices come from the directory, or, with Rescan,
// from two scans of the batch's own (scan.cl).
//
//	wah_sizes, Algorithm 2: sizes, end points,     256             none                   none                columns
//	  ends,    groups
//	  expand
//	wah_recall its last loop: a tile of a vector   128             none                   none                columns
//	reduce_    the OR of columns: a level of COA   256             none                   none                columns
//	  pairs
//	  tiles    ROA, hybrid, ideal hybrid           1 to 256        4 KiB                  1 a level           columns
//
// Scan and Compact (primitives.go) are kernels on their own: scan_sums and then
// scan_tiles or compact_tiles, chunk by chunk; scan_ahead and compact_ahead in one
// launch, by look-back, as merge_ahead does for merge. The kernel progress finds out whether a device may
// look back (lookback.go).
//
// On devices of type CPU the same kernels are compiled with SCAN_SERIAL: one
// work-item walks a whole tile, without local memory and barriers. What a
// device gets is a row of tuning.toml; what its driver gets wrong, quirks.go.
//
// # Who owns what
//
// One goroutine at a time enqueues commands (Backend.do). A slot, with its queue, kernel objects and memory,
// belongs to the goroutine that took it until its round has ended, also when the
// caller has given up: what is under way ends before a slot is used again.
// Asynchronous transfers go through pinned memory of the driver's only.
//
// # Errors
//
// What devices do wrong is a *plan.DeviceError: ErrNoDevice for limits that the kernels
// cannot live with, ErrBuild with the compiler's log, ErrSelfTest when a kernel
// computes wrong, ErrOutOfMemory before anything is allocated where the budget
// tells, or from the driver where it does not, ErrDeviceLost for the rest. The
// engine then goes on with its next backend.
//
// # Environment
//
// HEDDLE_OPENCL_LIBRARY and HEDDLE_OPENCL_SERIAL are described in
// cl/go-opencl/README.md. Package engine/plan/testneeds describes the variables that select
// the device of the tests.
package cl
