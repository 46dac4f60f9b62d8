// Package hdl reads and writes .hdl files: one inverted index a file, with its
// posting lists, frequencies, terms, document names and lengths, and on request the
// texts of its documents.
//
// A file is written once, by a Writer, and read many times, by a File that maps
// it into memory: lists go to a device from the mapping as they are, terms are
// looked up in the mapping. Every byte is covered by a CRC-32C, and Open checks
// them all; OpenTrusted is the one that does not. FORMAT.md beside this file has
// the byte diagrams.
//
// # Limits
//
// At most 2³²-1 documents and 2³²-1 terms; terms and names of at most 64 KiB;
// one list's encoded docIDs, and its encoded frequencies, below 2³² words. The
// Writer checks them and says which one was passed. Files larger than the
// address space cannot be opened.
//
// # Corrupt files
//
// No content of a file makes this package panic or read out of bounds. Damage is
// reported as a *CorruptError, which errors.Is(err, ErrCorrupt) recognises. A
// file that is truncated or overwritten in place while it is open is beyond
// that: the operating system then faults the mapping. Replace files by renaming,
// as the Writer does.
//
// # Byte order
//
// Files are little-endian. A big-endian host converts the word sections into
// memory when it opens a file; everything else is the same.
package hdl
