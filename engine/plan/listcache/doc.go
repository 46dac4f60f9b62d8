// Package listcache decides which lists are resident in memory that is smaller than all
// of them, and where. It moves no bytes and knows no device: who uses it uploads what Pin
// says.
//
// # Items
//
// An item is what is resident as a whole or not at all: a posting list, or its
// frequencies. It lies in one range of one of a few fixed buffers.
//
// # Policy
//
// Every item that is asked for is brought in, because a device answers from its own
// memory alone. So admission is a matter of what goes for it, and of how long it stays:
// a new item that is asked for seldom is the next to go.
//
// Eviction takes what is worth least a byte: uses × (overhead + size) / size. Uses are
// counted whether the item is resident or not, and each one weighs half as much as one
// that is HalfLife uses later (the decay of LRFU, Lee et al. 2001). The overhead is the bytes
// that a bus moves in the time that a transfer takes to start: without it byte hits
// were best and the many short lists of a query missed, with it alone (GDSF of cost 1)
// long lists were brought in again and again.
//
// Simulated on logs of 100,000 queries (the GOV-like log of package bench; lists whose
// popularity is by Zipf's law of exponent 1.1 and has nothing to do with their length; the
// latter with scans of 12,000 lists in between, and with a popularity that drifts), at a
// quarter of the bytes of all lists: hits, hits by bytes, and µs a query for transfers of
// 4 µs each at 20 GB/s. Only this package pays for fragments; the last line does not.
//
//	             GOV-like            Zipf                scans               drift
//	LRU          0.280  0.691  23.6  0.789  0.806  5.8   0.642  0.662  9.9   0.771  0.776  6.4
//	GDSF, cost 1 0.439  0.509  27.7  0.930  0.818  3.9   0.910  0.698  6.1   0.900  0.706  6.0
//	W-TinyLFU    0.427  0.681  21.5  0.920  0.828  3.8   0.903  0.724  5.8   0.847  0.560  9.0
//	this package 0.331  0.793  19.0  0.910  0.823  4.0   0.876  0.708  6.3   0.887  0.753  5.4
//	  in pages   0.391  0.800  17.7  0.925  0.845  3.5   0.902  0.735  5.6   0.878  0.720  6.0
//
// W-TinyLFU has a window of 1 %, exact counts, and victims that are weighed together.
//
// # Ranges
//
// A free range is found by size classes (Masmano et al. 2004, TLSF), of 16 a doubling.
// Where none is long enough, neighbours are evicted: of the windows around the items of
// least value, some of each class of lengths, that which loses least. So little more is
// evicted than is needed, however memory is fragmented, and long items mostly make way
// for long ones: 97 to 99 % of memory were in use on the logs above.
//
// # Pins
//
// What a batch uses is pinned and stays where it is until all pins are gone. Pin takes
// all items of a batch or none, so batches that hold pins never wait for others. Where
// nobody holds a pin, what fits memory at all (Fits) can be pinned: if need be everything
// is evicted and packed anew.
package listcache
