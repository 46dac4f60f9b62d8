package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
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
	SumOffset    = PageSize - 4 // offset of the checksum of the header
)

// HeaderName is the name of the header in a CorruptError.
const HeaderName = "header"

// Fields are the bytes of the header that are the format's own.
type Fields [TableOffset - FieldsOffset]byte

// Format describes one kind of file.
type Format struct {
	// Magic is the first 8 bytes. Its bytes show at once when a transfer has changed
	// line ends or dropped the eighth bit (as in PNG).
	Magic   string
	Suffix  string   // suffix of file names, for messages: ".hdl"
	Version uint32   // the only version that is written and read
	Names   []string // names of the sections
	Sums    int      // number of the section with the checksums of blocks
	// Sparse: the section table has only the sections with content, and readers ignore sections with
	// further numbers.
	Sparse bool
	// Advice is the remedy for a file of an earlier version, which ends its error: "build it again".
	Advice string
}

// name is the name of section s, which the format may not know.
func (f *Format) name(s int) string {
	if s < len(f.Names) {
		return f.Names[s]
	}
	return fmt.Sprintf("section %d", s)
}

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
	Size   uint64 // size of the file, in bytes
	Fields Fields
	// Table has all sections that the format or the file has, by number. Sections that the file
	// lacks are empty.
	Table []Extent
}

// mostSections is the number of entries for which a page has room.
const mostSections = (SumOffset - TableOffset) / TableEntry

// listed are the numbers of the sections in the table of a file.
func (f *Format) listed(h *Header) (all []int) {
	for i, e := range h.Table {
		if !f.Sparse || e.Length > 0 {
			all = append(all, i)
		}
	}
	return all
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode makes the page.
func (f *Format) Encode(h *Header) []byte {
	page := make([]byte, PageSize)
	le := binary.LittleEndian
	listed := f.listed(h)
	copy(page, f.Magic)
	le.PutUint32(page[8:], f.Version)
	le.PutUint32(page[12:], uint32(len(listed)))
	le.PutUint64(page[16:], h.Size)
	copy(page[FieldsOffset:], h.Fields[:])
	for i, number := range listed {
		p, e := page[TableOffset+i*TableEntry:], h.Table[number]
		le.PutUint32(p, uint32(number))
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
	if version := le.Uint32(data[8:]); version != f.Version {
		advice := ""
		if f.Advice != "" && version < f.Version {
			advice = ": " + f.Advice
		}
		return Header{}, fmt.Errorf("%s: %w: the file has %d, this build reads %d%s", path, ErrVersion, version, f.Version, advice)
	}
	h.Size = le.Uint64(data[16:])
	if h.Size != uint64(len(data)) {
		return bad(16, "the file has %d bytes, its header says %d", len(data), h.Size)
	}
	copy(h.Fields[:], data[FieldsOffset:])
	if err := f.decodeTable(&h, data, bad); err != nil {
		return Header{}, err
	}
	return h, nil
}

// decodeTable reads the section table.
func (f *Format) decodeTable(h *Header, data []byte, bad func(offset int, format string, args ...any) (Header, error)) error {
	fail := func(offset int, format string, args ...any) error {
		_, err := bad(offset, format, args...)
		return err
	}
	le := binary.LittleEndian
	n := le.Uint32(data[12:])
	switch {
	case f.Sparse && n > mostSections:
		return fail(12, "%d sections, a page has room for %d", n, mostSections)
	case !f.Sparse && n != uint32(len(f.Names)):
		return fail(12, "%d sections, the format has %d", n, len(f.Names))
	}
	h.Table = make([]Extent, len(f.Names))
	at, next := uint64(PageSize), uint32(0) // next is the least number that the next section may have
	for i := range int(n) {
		pos := TableOffset + i*TableEntry
		p := data[pos:]
		e := Extent{le.Uint32(p[4:]), le.Uint64(p[8:]), le.Uint64(p[16:])}
		id := le.Uint32(p)
		switch {
		case !f.Sparse && id != uint32(i):
			return fail(pos, "section %d in the place of %d (%s)", id, i, f.Names[i])
		case id < next || id > math.MaxUint8:
			return fail(pos, "section %d behind section %d: numbers ascend up to %d", id, int(next)-1, math.MaxUint8)
		case f.Sparse && e.Length == 0:
			return fail(pos, "section %s is empty, so that the table must not have it", f.name(int(id)))
		case e.Offset != at || e.Length > h.Size-at || e.End() > h.Size:
			return fail(pos, "section %s (byte %d, %d long) does not lie between byte %d and the end at %d", f.name(int(id)), e.Offset, e.Length, at, h.Size)
		}
		for int(id) >= len(h.Table) { // further sections, which are ignored
			h.Table = append(h.Table, Extent{})
		}
		for ; f.Sparse && next < id; next++ {
			h.Table[next].Offset = at
		}
		h.Table[id], at, next = e, e.End(), id+1
	}
	for ; f.Sparse && int(next) < len(h.Table); next++ {
		h.Table[next].Offset = at
	}
	if at != h.Size {
		return fail(16, "the sections end at byte %d, the file at %d", at, h.Size)
	}
	return nil
}

// suffixOf returns the suffix of the format with a magic, such as ".hdl"; "" for no magic of a
// container.
func suffixOf(magic []byte) string {
	if len(magic) == 8 && string(magic[:3]) == "\x89HD" && string(magic[4:]) == "\r\n\x1a\n" {
		return ".hd" + strings.ToLower(string(magic[3:4]))
	}
	return ""
}
