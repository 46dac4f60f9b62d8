// Package listcache decides which lists are resident in a memory that is smaller than all
// lists together, and at which positions. It moves no bytes and knows no device: the caller
// uploads the items that Pin returns.
//
// # Items
//
// An item is a posting list or its frequencies. It is resident as a whole, in one range of
// one of a few fixed buffers.
//
// # Policy
//
// Every requested item is admitted, because a device reads only its own memory. The policy
// therefore only chooses the evicted items: an item with few uses is evicted first.
//
// Eviction selects the items of least value per byte: uses × (overhead + size) / size. Uses
// are counted for all items, resident or not. A use weighs half as much as a use that is
// HalfLife uses later (the decay of LRFU, Lee et al. 2001). The overhead is the number of
// bytes that a bus moves in the start-up time of a transfer. Without the overhead, hits by
// bytes were best, but the many short lists of a query missed. With the overhead alone (GDSF
// of cost 1), long lists were loaded again and again.
//
// The table shows simulations on logs of 100,000 queries with memory for a quarter of the
// bytes of all lists: hits, hits by bytes, and µs per query for transfers of 4 µs each at
// 20 GB/s. GOV-like is the log of package bench. The popularity of the Zipf log has exponent
// 1.1 and does not depend on the length of lists. The next log adds scans of 12,000 lists, the
// last one a popularity that drifts. Only this package pays for fragmentation; the row "in
// pages" does not.
//
//	             GOV-like            Zipf                scans               drift
//	LRU          0.280  0.691  23.6  0.789  0.806  5.8   0.642  0.662  9.9   0.771  0.776  6.4
//	GDSF, cost 1 0.439  0.509  27.7  0.930  0.818  3.9   0.910  0.698  6.1   0.900  0.706  6.0
//	W-TinyLFU    0.427  0.681  21.5  0.920  0.828  3.8   0.903  0.724  5.8   0.847  0.560  9.0
//	this package 0.331  0.793  19.0  0.910  0.823  4.0   0.876  0.708  6.3   0.887  0.753  5.4
//	  in pages   0.391  0.800  17.7  0.925  0.845  3.5   0.902  0.735  5.6   0.878  0.720  6.0
//
// W-TinyLFU has a window of 1 %, exact counts, and compares all victims of an admission
// together.
//
// # Ranges
//
// A free range is found by size classes (Masmano et al. 2004, TLSF), 16 for each doubling of
// the size. If none is long enough, a window of neighbouring items is evicted. Candidates are
// the windows around the items of least value in each class of lengths; the window with the
// least total value is evicted. Hence little more is evicted than needed, even in fragmented
// memory, and long items mostly replace long items: 97 to 99 % of memory were in use on the
// logs above.
//
// # Pins
//
// The items of a batch are pinned and keep their positions until all pins are removed. Pin
// takes all items of a batch or none, so a batch that holds pins never waits for another one.
// Without any pins, every set of items that fits into memory (Fits) can be pinned: if
// necessary, all items are evicted and the set is packed again.
package listcache
