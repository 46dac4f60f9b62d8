// Package hdb reads and writes .hdb files: one bitmap table per file, with the
// compressed bit vectors of its columns, the stored values, the bins and the
// dictionaries.
//
// A Writer writes a file once. A File maps it into memory for any number of readers;
// vectors and values go to a device from the mapping without conversion. A CRC-32C
// covers every byte. Open checks columns, bins and dictionaries; a block of vectors and
// values is checked at its first use. Verify checks everything. OpenTrusted checks only the
// bounds of readers. FORMAT.md beside this file has the byte diagrams.
//
// # Limits
//
// At most 2³²-1 rows, 2³²-1 vectors and 2³²-1 columns; at most 64 KiB per entry of a
// dictionary; 2³²-1 words for a tile of values. The Writer names the limit
// that an input exceeds. The file must fit the address space.
//
// # Corrupt files
//
// No content of a file makes this package panic or read out of bounds. Damage gives a
// *CorruptError, which errors.Is(err, ErrCorrupt) recognises. A file that is truncated or
// overwritten in place while it is open is an exception: the operating system then
// faults the mapping. Replace files by renaming, as the Writer does.
//
// # Byte order
//
// Files are little-endian, and so are all processors that heddle builds for.
package hdb
