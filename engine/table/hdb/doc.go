// Package hdb reads and writes .hdb files: one bitmap table a file, with the compressed
// bit vectors of its columns, the stored values, the bins and the dictionaries.
//
// A file is written once, by a Writer, and read many times, by a File that maps it into
// memory: vectors and values go to a device from the mapping as they are. Every byte is
// covered by a CRC-32C; Open checks them all, and that vectors, values, bins and
// dictionaries are what the format says. OpenTrusted checks only what keeps readers in
// bounds. FORMAT.md beside this file has the byte diagrams.
//
// # Limits
//
// At most 2³²-1 rows, 2³²-1 vectors and 2³²-1 columns; entries of dictionaries of at most
// 64 KiB; 2³² words for the packed payload of a column. The Writer checks them and says
// which one was passed. Files larger than the address space cannot be opened.
//
// # Corrupt files
//
// No content of a file makes this package panic or read out of bounds. Damage is
// reported as a *CorruptError, which errors.Is(err, ErrCorrupt) recognises. A file that
// is truncated or overwritten in place while it is open is beyond that: the operating
// system then faults the mapping. Replace files by renaming, as the Writer does.
//
// # Byte order
//
// Files are little-endian. A big-endian host converts the word sections into memory
// when it opens a file; everything else is the same.
package hdb
