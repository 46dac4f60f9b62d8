package hdl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"heddle/engine/plan"
)

// Version is the latest version of the format. This package reads it and those
// before, and writes the first that can hold what it is given.
const Version = 2

// PageSize is the alignment of every section, in bytes. The header is the first
// page.
const PageSize = 4096

// Limits of the format. Documents and terms are counted in 32 bits.
const (
	MaxTermLen = 64 << 10 // bytes of a term
	MaxNameLen = 64 << 10 // bytes of a document name
)

// magic opens every file. Its bytes show at once when a transfer has changed
// line ends or dropped the eighth bit (as in PNG).
const magic = "\x89HDL\r\n\x1a\n"

// section numbers the parts of a file, in the order in which they lie there.
type section uint32

const (
	secDocIDs      section = iota // encoded lists, each aligned to plan.ListAlign words
	secFreqs                      // packed frequencies less one, list after list
	secLists                      // descriptors, listSize bytes each
	secTerms                      // bytes of all terms, ascending
	secTermOffsets                // u64, one more than terms
	secTermHash                   // u64 slots, slotCount(terms) of them
	secNames                      // bytes of all document names
	secNameOffsets                // u64, one more than documents
	secLengths                    // u32 a document
	secMeta                       // JSON
	secTexts                      // compressed blocks of text; the last section of version 1 is the one before
	secTextBlocks                 // u64, one more than blocks, or none
	secTextOffsets                // u64, one more than documents, or none
	numSections
)

var sectionNames = [numSections]string{
	"docids", "freqs", "lists", "terms", "term-offsets", "term-hash", "names", "name-offsets", "lengths", "meta",
	"texts", "text-blocks", "text-offsets",
}

func (s section) String() string { return sectionNames[s] }

// Where the fields of the header lie; FORMAT.md has the diagram.
const (
	tableOffset  = 64
	tableEntry   = 24
	headerCRCPos = PageSize - 4
	headerName   = "header"
)

// extent is an entry of the section table. Its checksum covers the section and
// the zeros behind it, up to the next page.
type extent struct {
	crc            uint32
	offset, length uint64 // bytes
}

// end is the offset of the next section.
func (e extent) end() uint64 { return alignUp(e.offset+e.length, PageSize) }

func alignUp(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }

type header struct {
	version  uint32
	size     uint64 // of the file, in bytes
	docs     uint32
	terms    uint32
	postings uint64              // sum of list lengths
	tokens   uint64              // sum of frequencies
	length   uint64              // sum of document lengths
	table    [numSections]extent // those that the version does not have are empty
}

// sections is the number of sections that the version has.
func (h *header) sections() section {
	if h.version == 1 {
		return secTexts
	}
	return numSections
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (h *header) encode() []byte {
	page := make([]byte, PageSize)
	le := binary.LittleEndian
	copy(page, magic)
	le.PutUint32(page[8:], h.version)
	le.PutUint32(page[12:], uint32(h.sections()))
	le.PutUint64(page[16:], h.size)
	le.PutUint32(page[24:], h.docs)
	le.PutUint32(page[28:], h.terms)
	le.PutUint64(page[32:], h.postings)
	le.PutUint64(page[40:], h.tokens)
	le.PutUint64(page[48:], h.length)
	for i, e := range h.table[:h.sections()] {
		p := page[tableOffset+i*tableEntry:]
		le.PutUint32(p, uint32(i))
		le.PutUint32(p[4:], e.crc)
		le.PutUint64(p[8:], e.offset)
		le.PutUint64(p[16:], e.length)
	}
	le.PutUint32(page[headerCRCPos:], crc32.Checksum(page[:headerCRCPos], castagnoli))
	return page
}

// decodeHeader reads the header of a file, whose bytes are data, and checks it
// and the shape of the section table: every section where it must be and, where
// counts fix it, as long as it must be.
func decodeHeader(path string, data []byte) (h header, err error) {
	bad := func(offset int, format string, args ...any) (header, error) {
		return header{}, &CorruptError{Path: path, Offset: int64(offset), Section: headerName, Reason: fmt.Sprintf(format, args...)}
	}
	if !bytes.HasPrefix(data, []byte(magic)) {
		return bad(0, "not an .hdl file: it starts with %q", data[:min(len(data), len(magic))])
	}
	if len(data) < PageSize {
		return bad(len(data), "the file is truncated: it has %d bytes, its header alone has %d", len(data), PageSize)
	}
	le := binary.LittleEndian
	if got, want := crc32.Checksum(data[:headerCRCPos], castagnoli), le.Uint32(data[headerCRCPos:]); got != want {
		return bad(headerCRCPos, "checksum %08x, the content has %08x", want, got)
	}
	if h.version = le.Uint32(data[8:]); h.version < 1 || h.version > Version {
		return header{}, fmt.Errorf("%s: %w: the file has %d, this build reads 1 to %d", path, ErrVersion, h.version, Version)
	}
	h.size = le.Uint64(data[16:])
	if h.size != uint64(len(data)) {
		return bad(16, "the file has %d bytes, its header says %d", len(data), h.size)
	}
	if n := le.Uint32(data[12:]); n != uint32(h.sections()) {
		return bad(12, "%d sections, version %d has %d", n, h.version, h.sections())
	}
	h.docs, h.terms = le.Uint32(data[24:]), le.Uint32(data[28:])
	h.postings, h.tokens, h.length = le.Uint64(data[32:]), le.Uint64(data[40:]), le.Uint64(data[48:])
	at := uint64(PageSize)
	for i := range h.table[:h.sections()] {
		pos := tableOffset + i*tableEntry
		p := data[pos:]
		s, e := section(i), &h.table[i]
		e.crc, e.offset, e.length = le.Uint32(p[4:]), le.Uint64(p[8:]), le.Uint64(p[16:])
		if id := le.Uint32(p); id != uint32(i) {
			return bad(pos, "section %d in the place of %d (%s)", id, i, s)
		}
		if e.offset != at || e.length > h.size-at || e.end() > h.size {
			return bad(pos, "section %s (byte %d, %d long) does not lie between byte %d and the end at %d", s, e.offset, e.length, at, h.size)
		}
		if want, fixed := h.sectionLength(s); fixed && e.length != want {
			return bad(pos, "section %s has %d bytes; %d documents and %d terms need %d", s, e.length, h.docs, h.terms, want)
		}
		at = e.end()
	}
	if at != h.size {
		return bad(16, "the sections end at byte %d, the file at %d", at, h.size)
	}
	for s, unit := range map[section]uint64{secDocIDs: 4 * plan.ListAlign, secFreqs: 4, secTextBlocks: 8} {
		if n := h.table[s].length; n%unit != 0 {
			return bad(tableOffset+int(s)*tableEntry, "section %s has %d bytes, not a multiple of %d", s, n, unit)
		}
	}
	if blocks, texts := h.table[secTextBlocks].length, h.table[secTexts].length; (blocks > 0) != h.texts() || blocks == 0 && texts > 0 {
		return bad(tableOffset+int(secTexts)*tableEntry, "sections of texts have %d, %d and %d bytes", texts, blocks, h.table[secTextOffsets].length)
	}
	return h, nil
}

// texts says whether documents have texts.
func (h *header) texts() bool { return h.table[secTextOffsets].length > 0 }

// sectionLength gives the length in bytes of the sections that have one value a
// document or term.
func (h *header) sectionLength(s section) (n uint64, fixed bool) {
	docs, terms := uint64(h.docs), uint64(h.terms)
	switch s {
	case secLists:
		return terms * listSize, true
	case secTermOffsets:
		return (terms + 1) * 8, true
	case secTermHash:
		return slotCount(terms) * 8, true
	case secNameOffsets:
		return (docs + 1) * 8, true
	case secLengths:
		return docs * 4, true
	case secTextOffsets:
		return (docs + 1) * 8, h.texts()
	}
	return 0, false
}
