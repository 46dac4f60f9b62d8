package hdl

import (
	"encoding/binary"

	"heddle/engine/file/container"
	"heddle/engine/index/hdl/compress"
	"heddle/engine/plan"
)

// Version is the version of the format that this package reads and writes.
const Version = 5

// PageSize is the alignment of every section, in bytes. The header is the first
// page.
const PageSize = container.PageSize

// Limits of the format. Documents and terms are counted in 32 bits.
const (
	MaxTermLen = compress.MaxString // bytes of a term
	MaxNameLen = compress.MaxString // bytes of a document name
)

// section numbers the parts of a file, in the order in which they lie there.
type section uint32

const (
	secDocIDs             section = iota // encoded lists, each aligned to plan.ListAlign words
	secFreqs                             // packed frequencies less one, list after list
	secLists                             // descriptors
	secTerms                             // terms, ascending, in front-coded blocks
	secTermOffsets                       // u64, one more than blocks of terms
	secUnused                            // without content
	secNames                             // document names in front-coded blocks
	secNameOffsets                       // u64, one more than blocks of names
	secLengths                           // packed lengths of documents
	secMeta                              // JSON
	secDocuments                         // compressed blocks of stored documents
	secDocumentBlocks                    // u64, twice one more than blocks, or none
	secDocumentOffsets                   // u64, one more than documents, or none
	secListBlocks                        // listPlace, one more than blocks of descriptors
	secSums                              // u32 a block of the other sections
	secFields                            // an entry a field
	secPositions                         // packed positions
	secPositionBlocks                    // directory of package positions
	secDocumentDictionary                // dictionary of zstd
	secPositionLists                     // positionPlace, one more than blocks of descriptors, or none
	secPositionRanks                     // packed ranks of lists
	numSections
)

var sectionNames = [numSections]string{
	"docids", "freqs", "lists", "terms", "term-offsets", "unused", "names", "name-offsets", "lengths", "meta",
	"documents", "document-blocks", "document-offsets", "list-blocks", "sums", "fields", "positions", "position-blocks", "document-dictionary", "position-lists", "position-ranks",
}

func (s section) String() string { return sectionNames[s] }

// format is the frame of .hdl files.
var format = container.Format{
	Magic: "\x89HDL\r\n\x1a\n", Suffix: ".hdl", Version: Version, Names: sectionNames[:],
	Sums: int(secSums), Sparse: true, Advice: "build the index again from its documents",
}

// header is the header with the fields that are this format's own; FORMAT.md has the
// diagram.
type header struct {
	container.Header
	docs     uint32
	terms    uint32
	postings uint64 // sum of list lengths
	tokens   uint64 // sum of frequencies
	length   uint64 // sum of document lengths
	fields   uint32 // number of entries of section fields
}

func (h *header) encode() (f container.Fields) {
	le := binary.LittleEndian
	le.PutUint32(f[0:], h.docs)
	le.PutUint32(f[4:], h.terms)
	le.PutUint64(f[8:], h.postings)
	le.PutUint64(f[16:], h.tokens)
	le.PutUint64(f[24:], h.length)
	le.PutUint32(f[32:], h.fields)
	return f
}

// decodeHeader reads the fields of the header and checks the shape of the section table:
// every section, where counts fix it, as long as it must be.
func decodeHeader(file *container.File) (h header, err error) {
	h.Header = file.Header
	le := binary.LittleEndian
	h.docs, h.terms = le.Uint32(h.Fields[0:]), le.Uint32(h.Fields[4:])
	h.postings, h.tokens, h.length = le.Uint64(h.Fields[8:]), le.Uint64(h.Fields[16:]), le.Uint64(h.Fields[24:])
	if h.fields = le.Uint32(h.Fields[32:]); h.fields == 0 || h.fields > MaxFields {
		return h, foreignError(file.Path, "it has %d fields, this build reads 1 to %d", h.fields, MaxFields)
	}
	for i, e := range h.Table[:numSections] {
		if want, fixed := h.sectionLength(section(i)); fixed && e.Length != want {
			return h, file.CorruptEntry(i, "has %d bytes; %d documents and %d terms need %d", e.Length, h.docs, h.terms, want)
		}
	}
	for s, unit := range map[section]uint64{secDocIDs: 4 * plan.ListAlign, secFreqs: 4, secDocumentBlocks: 16} {
		if n := h.Table[s].Length; n%unit != 0 {
			return h, file.CorruptEntry(int(s), "has %d bytes, not a multiple of %d", n, unit)
		}
	}
	return h, nil
}

// sectionLength gives the length in bytes of the sections that have a fixed number of bytes
// for the given numbers of documents and terms.
func (h *header) sectionLength(s section) (n uint64, fixed bool) {
	docs, terms := uint64(h.docs), uint64(h.terms)
	switch s {
	case secTermOffsets:
		return (blocksOfTerms(terms) + 1) * 8, true
	case secUnused:
		return 0, true
	case secNameOffsets:
		return (blocksOfNames(docs) + 1) * 8, true
	case secListBlocks:
		return (blocksOfLists(terms) + 1) * 8 * listPlaceWords, true
	case secFields:
		return uint64(h.fields) * fieldSize, true
	}
	return 0, false
}
