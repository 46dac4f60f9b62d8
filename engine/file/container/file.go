package container

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/file/mapped"
)

// checkRange is the number of entries that one goroutine checks at a time.
const checkRange = 1 << 16

// File is an open file. All methods but Close are safe for concurrent use. Bytes and
// words of sections are views, valid until Close.
type File struct {
	Path   string // path by which the file was opened
	Header Header

	format  *Format
	data    []byte // the whole file
	release func() error
	remap   func(e Extent, further uint64) ([]uint32, func() error, error) // nil: the file is not mapped
	blocks  []blocks                                                       // by section
	places  *places
}

// places finds the section of a byte. A fault of the mapped file may ask for it while Close
// resets the file.
type places struct {
	path   string
	format *Format
	table  atomic.Pointer[[]Extent] // nil until the header has been read
}

// Open maps the file at path and checks its header. Damage is a *CorruptError, an
// intact file of another version an ErrVersion.
func Open(path string, format *Format) (*File, error) { return OpenIn(nil, path, format) }

// OpenIn is Open for a file below root, by which alone the file is opened, now and later: no path and no
// symbolic link leaves the folder. A nil root is the file system.
func OpenIn(root *os.Root, path string, format *Format) (*File, error) {
	at := place{root, path}
	path = at.String()
	f := &File{Path: path, format: format, places: &places{path: path, format: format}}
	data, info, release, err := contents(at, f.places.damaged)
	if err != nil {
		return nil, err
	}
	f.data, f.release = data, release
	if info != nil {
		f.remap = func(e Extent, further uint64) ([]uint32, func() error, error) {
			return remap(at, info, e, further, f.places.damaged)
		}
	}
	if err := f.decode(); err != nil {
		return nil, errors.Join(err, release())
	}
	return f, nil
}

// New is Open for a file whose bytes are in memory. They stay in use.
func New(path string, data []byte, format *Format) (*File, error) {
	f := &File{Path: path, data: data, format: format, release: func() error { return nil }}
	if err := f.decode(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) decode() (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if f.Header, err = f.format.Decode(f.Path, f.data); err != nil {
		return err
	}
	if f.places != nil {
		table := f.Header.Table // Close resets Header
		f.places.table.Store(&table)
	}
	return f.openBlocks()
}

// damaged reports damage at a byte of the file that shows while the file is in use.
func (p *places) damaged(offset int64, reason string) error {
	section := HeaderName
	if table := p.table.Load(); table != nil {
		for i, e := range *table {
			if e.Length > 0 && uint64(offset) >= e.Offset {
				section = p.format.name(i)
			}
		}
	}
	return &CorruptError{Path: p.path, Offset: offset, Section: section, Reason: reason}
}

// Close gives the memory back. A second Close does nothing.
func (f *File) Close() error {
	release := f.release
	*f = File{Path: f.Path, format: f.format, release: func() error { return nil }}
	return release()
}

// Bytes is the content of section s, without the padding.
func (f *File) Bytes(s int) []byte {
	e := f.Header.Table[s]
	return f.data[e.Offset : e.Offset+e.Length : e.Offset+e.Length]
}

// Corrupt reports damage at a byte of section s.
func (f *File) Corrupt(s int, at uint64, format string, args ...any) error {
	return &CorruptError{
		Path: f.Path, Offset: int64(f.Header.Table[s].Offset + at), Section: f.format.name(s),
		Reason: fmt.Sprintf(format, args...),
	}
}

// CorruptHeader reports damage at a byte of the header.
func (f *File) CorruptHeader(at int, format string, args ...any) error {
	return &CorruptError{Path: f.Path, Offset: int64(at), Section: HeaderName, Reason: fmt.Sprintf(format, args...)}
}

// CorruptEntry is an error in the entry of section s in the section table.
func (f *File) CorruptEntry(s int, format string, args ...any) error {
	at, _ := slices.BinarySearch(f.format.listed(&f.Header), s)
	return f.CorruptHeader(TableOffset+at*TableEntry, "section %s %s", f.format.name(s), fmt.Sprintf(format, args...))
}

// CheckSums compares the checksum of every section, on all cores.
func (f *File) CheckSums() error {
	for _, i := range f.format.listed(&f.Header) {
		if err := f.checkSection(i); err != nil {
			return err
		}
	}
	return nil
}

// checkSection compares the checksum of section s.
func (f *File) checkSection(s int) error {
	e := f.Header.Table[s]
	sum, err := Checksum(f.data[e.Offset:e.End()])
	if err != nil {
		return err
	}
	if sum != e.Sum {
		return f.Corrupt(s, 0, "checksum %08x, the content has %08x", e.Sum, sum)
	}
	return nil
}

// CheckOffsets checks that the words of section s, one at least, start at 0, do not
// descend, are at most limit apart, and end at size.
func (f *File) CheckOffsets(s int, offsets []uint64, size, limit uint64) error {
	n := uint64(len(offsets) - 1)
	if offsets[0] != 0 {
		return f.Corrupt(s, 0, "the first offset is %d", offsets[0])
	}
	if offsets[n] != size {
		return f.Corrupt(s, 8*n, "the last offset is %d, %d bytes are there", offsets[n], size)
	}
	return ParallelRanges(n, checkRange, func(lo, hi uint64) error {
		for i := lo; i < hi; i++ {
			if offsets[i] > offsets[i+1] || offsets[i+1]-offsets[i] > limit {
				return f.Corrupt(s, 8*(i+1), "offset %d behind %d", offsets[i+1], offsets[i])
			}
		}
		return nil
	})
}

// Section is an entry of the section table.
type Section struct {
	Name     string // as in FORMAT.md
	Offset   int64  // offset of the first byte in the file, a multiple of PageSize
	Length   int64  // bytes, without the padding
	Checksum uint32 // CRC-32C, padding included
}

// Sections returns the section table, in the order of the file.
func (f *File) Sections() []Section {
	var table []Section
	for _, i := range f.format.listed(&f.Header) {
		e := f.Header.Table[i]
		table = append(table, Section{f.format.name(i), int64(e.Offset), int64(e.Length), e.Sum})
	}
	return table
}

// Checksum identifies the content of the file: it is the xxHash64 of the header,
// which holds the checksums of all sections.
func (f *File) Checksum() uint64 { return xxhash.Sum64(f.data[:PageSize]) }
