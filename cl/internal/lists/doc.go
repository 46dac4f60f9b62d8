// Package lists keeps posting lists in device memory.
//
// Lists lie in an arena of at most four buffers, in the layout of the index file. The auxiliary
// tables of an algorithm (buckets, lines, bitsets) lie in one more buffer. A term record
// describes each list and its table to the kernels. Decoders turn compressed lists into docIDs,
// run by run:
//
//	kernel                       work-group  local memory                     barriers
//	decode: parapfor, bitset     64          1 KiB, 2 KiB without shuffles    2, 3 per row with exceptions, 10
//	                                                                          for the scan; with shuffles none
//	decode_lines: lrc, hslrc, …  64          none                             none
//	decode_lrcpfor               64          5 KiB                            2 per run with exceptions
//	one for each other gap codec 32          see segments.cl                  a few per segment
//
// A set may hold only a part of its lists (Cache). A batch is then cut into parts. A part pins
// its lists all at once, a queue of its own brings the missing ones in, and the rounds of the
// part wait for the events of the uploads. Term records travel with every round, so kernels do
// not depend on the places of lists.
package lists
