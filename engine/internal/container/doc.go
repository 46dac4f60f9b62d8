// Package container is the frame that .hdl and .hdb files share: a header of one page
// with a table of sections, each of which starts at a page and has a CRC-32C.
//
// A Writer collects sections in temporary files and puts them together under the file's
// name; a File maps one into memory and gives the sections out as bytes and words. What
// stands in the sections is the business of packages hdl and hdb, and their FORMAT.md
// have the diagrams.
//
// # Header
//
// All numbers are little-endian and unsigned.
//
//	byte
//	   0  8 bytes  magic, which tells the formats apart
//	   8  u32      version
//	  12  u32      number of sections n
//	  16  u64      file size in bytes
//	  24  40 bytes the format's own
//	  64  n x 24   section table: u32 number, u32 CRC-32C, u64 offset, u64 length
//	      zeros
//	4092  u32      CRC-32C of bytes 0 to 4091
//
// The checksum of a section covers the zeros behind it, up to the next page, so every
// byte of a file is under one. Sections lie in the order of their numbers, without gaps.
package container
