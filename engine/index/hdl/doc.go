// Package hdl reads and writes .hdl files: one inverted index per file, with its posting
// lists, frequencies, terms, document names and lengths, and optionally the texts of its
// documents.
//
// A Writer writes a file once. A File maps it into memory for any number of readers: long lists go to
// a device from the mapping without conversion, and terms are looked up in the mapping. Most lists
// are short and lie in descriptors of a few bytes. The first use of a list unpacks the lists of a
// block of 128 descriptors of short lists behind the mapping of the descriptors of long lists. A CRC-32C covers every block of 64
// KiB. Open checks the blocks of terms and document lengths; other blocks are checked at their first
// use. OpenTrusted omits these checks. FORMAT.md beside this file has the byte diagrams.
//
// # Limits
//
// At most 2³²-1 documents and 2³²-1 terms; terms and names of at most 64 KiB; the encoded
// docIDs of a list, and its encoded frequencies, below 2³² words. The Writer names the
// limit that an input exceeds. The file must fit the address space.
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
package hdl
