package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// PageSize is the alignment of every section, in bytes. The header is the first
// page.
const PageSize = 4096

// Where the fields of the header lie; the package comment has the diagram.
const (
	FieldsOffset = 24 // start of the fields of the format
	TableOffset  = 64
	TableEntry   = 24
	SumOffset    = PageSize - 4 // of the header's checksum
)

// HeaderName is the name of the header in a CorruptError.
const HeaderName = "header"

// Fields are the bytes of the header that are the format's own.
type Fields [TableOffset - FieldsOffset]byte

// Format describes one kind of file.
type Format struct {
	// Magic is the first 8 bytes. Its bytes show at once when a transfer has changed
	// line ends or dropped the eighth bit (as in PNG).
	Magic    string
	Suffix   string   // of file names, for messages: ".hdl"
	Versions []int    // numbers of sections, from version 1 on; ascending
	Names    []string // of the sections that the latest version has
	// Summed is the first version whose last section holds the checksums of blocks; 0: none has.
	Summed uint32
}

// summed reports whether files of a version have checksums of blocks.
func (f *Format) summed(version uint32) bool { return f.Summed > 0 && version >= f.Summed }

// Latest is the latest version.
func (f *Format) Latest() uint32 { return uint32(len(f.Versions)) }

// Sections is the number of sections that a version has.
func (f *Format) Sections(version uint32) int { return f.Versions[version-1] }

// Extent is an entry of the section table. Its checksum covers the section and
// the zeros behind it, up to the next page.
type Extent struct {
	Sum            uint32
	Offset, Length uint64 // bytes
}

// End is the offset of the next section.
func (e Extent) End() uint64 { return AlignUp(e.Offset+e.Length, PageSize) }

// AlignUp is the least multiple of align, a power of two, that is not below n.
func AlignUp(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }

// Header is the first page of a file.
type Header struct {
	Version uint32
	Size    uint64 // of the file, in bytes
	Fields  Fields
	Table   []Extent // of all sections; sections that the version lacks are empty
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode makes the page.
func (f *Format) Encode(h *Header) []byte {
	page := make([]byte, PageSize)
	le := binary.LittleEndian
	n := f.Sections(h.Version)
	copy(page, f.Magic)
	le.PutUint32(page[8:], h.Version)
	le.PutUint32(page[12:], uint32(n))
	le.PutUint64(page[16:], h.Size)
	copy(page[FieldsOffset:], h.Fields[:])
	for i, e := range h.Table[:n] {
		p := page[TableOffset+i*TableEntry:]
		le.PutUint32(p, uint32(i))
		le.PutUint32(p[4:], e.Sum)
		le.PutUint64(p[8:], e.Offset)
		le.PutUint64(p[16:], e.Length)
	}
	le.PutUint32(page[SumOffset:], crc32.Checksum(page[:SumOffset], castagnoli))
	return page
}

// Decode reads the header of a file, whose bytes are data, and checks it and that the
// sections lie side by side and fill the file. The fields are the format's to check.
func (f *Format) Decode(path string, data []byte) (h Header, err error) {
	bad := func(offset int, format string, args ...any) (Header, error) {
		return Header{}, &CorruptError{Path: path, Offset: int64(offset), Section: HeaderName, Reason: fmt.Sprintf(format, args...)}
	}
	if !bytes.HasPrefix(data, []byte(f.Magic)) {
		start := data[:min(len(data), len(f.Magic))]
		reason := fmt.Sprintf("not an %s file: it starts with %q", f.Suffix, start)
		if other := suffixOf(start); other != "" {
			reason = fmt.Sprintf("not an %s file but an %s file", f.Suffix, other)
		}
		return Header{}, &CorruptError{Path: path, Section: HeaderName, Reason: reason, Foreign: true}
	}
	if len(data) < PageSize {
		return bad(len(data), "the file is truncated: it has %d bytes, its header alone has %d", len(data), PageSize)
	}
	le := binary.LittleEndian
	if got, want := crc32.Checksum(data[:SumOffset], castagnoli), le.Uint32(data[SumOffset:]); got != want {
		return bad(SumOffset, "checksum %08x, the content has %08x", want, got)
	}
	if h.Version = le.Uint32(data[8:]); h.Version < 1 || h.Version > f.Latest() {
		return Header{}, fmt.Errorf("%s: %w: the file has %d, this build reads 1 to %d", path, ErrVersion, h.Version, f.Latest())
	}
	h.Size = le.Uint64(data[16:])
	if h.Size != uint64(len(data)) {
		return bad(16, "the file has %d bytes, its header says %d", len(data), h.Size)
	}
	sections := f.Sections(h.Version)
	if n := le.Uint32(data[12:]); n != uint32(sections) {
		return bad(12, "%d sections, version %d has %d", n, h.Version, sections)
	}
	copy(h.Fields[:], data[FieldsOffset:])
	h.Table = make([]Extent, len(f.Names))
	at := uint64(PageSize)
	for i := range sections {
		pos := TableOffset + i*TableEntry
		p := data[pos:]
		e := Extent{le.Uint32(p[4:]), le.Uint64(p[8:]), le.Uint64(p[16:])}
		if id := le.Uint32(p); id != uint32(i) {
			return bad(pos, "section %d in the place of %d (%s)", id, i, f.Names[i])
		}
		if e.Offset != at || e.Length > h.Size-at || e.End() > h.Size {
			return bad(pos, "section %s (byte %d, %d long) does not lie between byte %d and the end at %d", f.Names[i], e.Offset, e.Length, at, h.Size)
		}
		h.Table[i], at = e, e.End()
	}
	if at != h.Size {
		return bad(16, "the sections end at byte %d, the file at %d", at, h.Size)
	}
	return h, nil
}

// suffixOf returns the suffix of the format with a magic, such as ".hdl"; "" for no magic of a
// container.
func suffixOf(magic []byte) string {
	if len(magic) == 8 && string(magic[:3]) == "\x89HD" && string(magic[4:]) == "\r\n\x1a\n" {
		return ".hd" + strings.ToLower(string(magic[3:4]))
	}
	return ""
}
