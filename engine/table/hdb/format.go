package hdb

import (
	"encoding/binary"
	"io"
	"slices"

	"heddle/codec/bitslice"
	"heddle/engine/file/container"
	"heddle/engine/file/shared"
	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// Version is the version of the format that this package reads and writes.
const Version = 5

// PageSize is the alignment of every section, in bytes. The header is the first page.
const PageSize = container.PageSize

// MaxStringLen is the greatest length of an entry of a dictionary, in bytes.
const MaxStringLen = 64 << 10

// section numbers the parts of a file, in the order in which they lie there.
type section uint32

const (
	secVectors       section = iota // words, each vector at a multiple of plan.VectorAlign bytes
	secVectorTable                  // descriptors, vectorSize bytes each
	secSlices                       // words of tiles, column after column
	secTiles                        // descriptors, tileSize bytes each, column after column
	secBins                         // binSize bytes each, column after column
	secStrings                      // bytes of all dictionaries, column after column
	secStringOffsets                // u64, one more than strings
	secColumns                      // JSON
	secMeta                         // JSON
	secRanks                        // u64, column after column
	secSums                         // u32 a block of the sections before
	numSections
)

var sectionNames = [numSections]string{
	"vectors", "vector-table", "slices", "tiles", "bins", "strings", "string-offsets", "columns", "meta", "ranks", "sums",
}

func (s section) String() string { return sectionNames[s] }

// format is the frame of .hdb files.
var format = container.Format{
	Magic: "\x89HDB\r\n\x1a\n", Suffix: ".hdb", Version: Version, Names: sectionNames[:], Sums: int(secSums),
	Advice: "heddle bitmap convert rewrites version 4; build an earlier table again from its rows",
}

// former is the frame of version 4, which has no ranks.
var former = container.Format{
	Magic: format.Magic, Suffix: format.Suffix, Version: 4, Names: slices.Delete(slices.Clone(sectionNames[:]), int(secRanks), int(secRanks)+1), Sums: int(secRanks),
	Advice: "build the table again from its rows",
}

// Is reports whether the file at path begins as a table does.
func Is(path string) bool {
	f, err := shared.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(format.Magic))
	n, _ := io.ReadFull(f, head)
	return string(head[:n]) == format.Magic
}

// header is the content of the file header; FORMAT.md has the diagram.
type header struct {
	rows    uint32
	word    uint32 // bits of a word of the vectors: 32 or 64
	columns uint32
	vectors uint32
	bins    uint64 // number of bins of all columns
	strings uint64 // number of strings of all dictionaries
}

func (h *header) fields() (f container.Fields) {
	le := binary.LittleEndian
	le.PutUint32(f[0:], h.rows)
	le.PutUint32(f[4:], h.word)
	le.PutUint32(f[8:], h.columns)
	le.PutUint32(f[12:], h.vectors)
	le.PutUint64(f[16:], h.bins)
	le.PutUint64(f[24:], h.strings)
	return f
}

// decodeHeader reads the fields of the header and checks that the sections are as long
// as they say.
func decodeHeader(file *container.File) (h header, err error) {
	le, f := binary.LittleEndian, file.Header.Fields
	h.rows, h.word = le.Uint32(f[0:]), le.Uint32(f[4:])
	h.columns, h.vectors = le.Uint32(f[8:]), le.Uint32(f[12:])
	h.bins, h.strings = le.Uint64(f[16:]), le.Uint64(f[24:])
	if h.word != 32 && h.word != 64 {
		return h, file.CorruptHeader(container.FieldsOffset+4, "vectors of %d-bit words", h.word)
	}
	for _, s := range []struct {
		section section
		size    uint64 // size of an entry, in bytes
		n       uint64
		entries string
	}{
		{secVectorTable, vectorSize, uint64(h.vectors), "vectors"},
		{secBins, binSize, h.bins, "bins"},
		{secStringOffsets, 8, h.strings + 1, "strings and one more"},
	} {
		// Not n*size, which may wrap.
		if length := file.Header.Table[s.section].Length; length%s.size != 0 || length/s.size != s.n {
			return h, file.CorruptEntry(int(s.section), "has %d bytes for %d %s", length, s.n, s.entries)
		}
	}
	if n := file.Header.Table[secStringOffsets].Length; n == 0 {
		return h, file.CorruptEntry(int(secStringOffsets), "is empty")
	}
	for s, unit := range map[section]uint64{secVectors: plan.VectorAlign, secSlices: 4 * bitslice.Align, secTiles: tileSize} {
		if n := file.Header.Table[s].Length; n%unit != 0 {
			return h, file.CorruptEntry(int(s), "has %d bytes, not a multiple of %d", n, unit)
		}
	}
	if n := len(ranksOf(file)); n%8 != 0 {
		return h, file.CorruptEntry(int(secRanks), "has %d bytes, not a multiple of 8", n)
	}
	return h, nil
}

// ranksOf is section ranks, which version 4 lacks.
func ranksOf(file *container.File) []byte {
	if len(file.Header.Table) < int(numSections) {
		return nil
	}
	return file.Bytes(int(secRanks))
}

// Sizes of descriptors, in bytes.
const (
	vectorSize = 16
	tileSize   = 32
	binSize    = 24
)

func appendVector(dst []byte, v plan.Vector) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, v.Off)
	return binary.LittleEndian.AppendUint64(dst, uint64(v.Words))
}

// vectorAt reads descriptor i of a section; its upper bits must be 0.
func vectorAt(b []byte, i int) (v plan.Vector, upper uint32) {
	p := b[i*vectorSize:][:vectorSize]
	le := binary.LittleEndian
	return plan.Vector{Off: le.Uint64(p), Words: le.Uint32(p[8:])}, le.Uint32(p[12:])
}

func appendTile(dst []byte, t *bitslice.Tile) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(le.AppendUint64(dst, t.Off), t.Min)
	dst = le.AppendUint16(append(dst, t.Width, t.Flags), t.Last)
	return le.AppendUint32(le.AppendUint32(le.AppendUint32(dst, t.Words), t.Valid), 0)
}

// tileAt reads descriptor i of a section; its upper bits must be 0.
func tileAt(b []byte, i int) (t bitslice.Tile, upper uint32) {
	p := b[i*tileSize:][:tileSize]
	le := binary.LittleEndian
	return bitslice.Tile{
		Off: le.Uint64(p), Min: le.Uint64(p[8:]), Width: p[16], Flags: p[17], Last: le.Uint16(p[18:]),
		Words: le.Uint32(p[20:]), Valid: le.Uint32(p[24:]),
	}, le.Uint32(p[28:])
}

func appendBin(dst []byte, b column.Bin) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, b.Lo)
	dst = le.AppendUint64(dst, b.Hi)
	return le.AppendUint64(dst, uint64(b.Rows))
}

// binAt reads bin i of a section; its upper bits must be 0.
func binAt(b []byte, i uint64) (bin column.Bin, upper uint32) {
	p := b[i*binSize:][:binSize]
	le := binary.LittleEndian
	return column.Bin{Lo: le.Uint64(p), Hi: le.Uint64(p[8:]), Rows: le.Uint32(p[16:])}, le.Uint32(p[20:])
}
