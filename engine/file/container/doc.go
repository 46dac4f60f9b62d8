// Package container is the common frame of .hdl and .hdb files: a header of one page with
// a table of sections. Each section starts at a page and has a CRC-32C.
//
// A Writer collects sections in temporary files and joins them under the file's name. A
// File maps a file into memory and returns sections as bytes and words. Packages hdl and
// hdb define the content of the sections; their FORMAT.md have the diagrams.
//
// # Header
//
// All numbers are little-endian and unsigned.
//
//	byte
//	   0  8 bytes  magic, different for each format
//	   8  u32      version
//	  12  u32      number of sections n
//	  16  u64      file size in bytes
//	  24  40 bytes fields of the format
//	  64  n x 24   section table: u32 number, u32 CRC-32C, u64 offset, u64 length
//	      zeros
//	4092  u32      CRC-32C of bytes 0 to 4091
//
// The checksum of a section covers the zeros behind it, up to the next page, so checksums
// cover every byte of a file. Sections lie in the order of their numbers, without gaps.
//
// A file of a format with Sparse lists only sections with content, with ascending numbers, and
// readers ignore sections that they do not know. Other files list all sections.
//
// # Blocks
//
// The section Format.Sums holds a u32 CRC-32C for each block of 64 KiB of the other sections, in
// their order. A section begins a block, and its padding belongs to its last block. Open checks
// this section alone; File.Check verifies the blocks of a range of bytes before their first use.
package container
