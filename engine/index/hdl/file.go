package hdl

import (
	"errors"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// File is an open index. All methods but Close are safe for concurrent use.
// Strings and frequencies that it returns are copies; Source is a view that ends
// with Close. Using a File, or its Source, after Close is a bug of the caller,
// and panics or faults.
//
// Replace an index file by a rename, and never change it in place. If the file is truncated
// while it is open, methods with an error return a *CorruptError, and the other methods panic:
// mapped.Catch turns the panic into the same error. Readers of Source call mapped.Watch first.
type File struct {
	file        *container.File
	header      header
	meta        Meta
	source      plan.Source
	dict        Dictionary
	freqs       []uint32
	names       []byte
	nameOffsets []uint64
	lengths     []uint32
	textBlocks  []uint64 // in bytes of section texts; nil where there are no texts
	textOffsets []uint64 // in bytes of all texts
}

// Open maps the index file at path and checks it: header, the checksum of every section,
// and the bounds of descriptors, offsets and the hash table. Damage is a *CorruptError;
// an intact file of another format version is an ErrVersion. Open reads every byte once,
// on all cores; its memory is 40 bytes per term.
func Open(path string) (*File, error) { return open(path, true) }

// OpenTrusted is Open without the checksums of the sections, so it does not read
// the lists at all. It still checks that everything stays in bounds: a damaged
// file gives wrong answers, not panics. It is for files that were verified since
// they were last moved.
func OpenTrusted(path string) (*File, error) { return open(path, false) }

func open(path string, sums bool) (*File, error) {
	file, err := container.Open(path, &format)
	if err != nil {
		return nil, err
	}
	f, err := newFile(file, sums)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func newFile(file *container.File, sums bool) (f *File, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	f = &File{file: file}
	if f.header, err = decodeHeader(file); err != nil {
		return nil, err
	}
	if sums {
		if err := file.CheckSums(); err != nil {
			return nil, err
		}
	}
	if f.meta, err = decodeMeta(f.bytes(secMeta), &f.header); err != nil {
		return nil, f.corrupt(secMeta, 0, "%v", err)
	}
	f.freqs = container.View[uint32](f.bytes(secFreqs))
	f.lengths = container.View[uint32](f.bytes(secLengths))
	f.names = f.bytes(secNames)
	f.nameOffsets = container.View[uint64](f.bytes(secNameOffsets))
	f.textBlocks = container.View[uint64](f.bytes(secTextBlocks))
	f.textOffsets = container.View[uint64](f.bytes(secTextOffsets))
	f.dict = Dictionary{
		slots:   container.View[uint64](f.bytes(secTermHash)),
		offsets: container.View[uint64](f.bytes(secTermOffsets)),
		bytes:   f.bytes(secTerms),
	}
	f.source = plan.Source{
		Docs:  f.header.docs,
		Lists: make([]plan.List, f.header.terms),
		Words: container.View[uint32](f.bytes(secDocIDs)),

		Freqs:   f.freqs,
		Lengths: f.lengths,
		Impacts: f.meta.Impacts.Bits,
	}
	if f.meta.roundsLengths() {
		f.source.Length = f.header.length
	}
	if err := f.checkBounds(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) bytes(s section) []byte { return f.file.Bytes(int(s)) }

func (f *File) corrupt(s section, at uint64, format string, args ...any) error {
	return f.file.Corrupt(int(s), at, format, args...)
}

// Close unmaps the file. No other method may run at the same time, and every Store loaded
// from Source must be closed before. A second Close does nothing.
func (f *File) Close() error {
	file := f.file
	*f = File{file: file}
	return file.Close()
}

// Path is the path that the file was opened by.
func (f *File) Path() string { return f.file.Path }

// Meta describes the build and the size of the index.
func (f *File) Meta() Meta { return f.meta }

// Source is the lists, for a backend; handles are ranks of terms in ascending
// order of their bytes. It is a view, valid until Close.
func (f *File) Source() *plan.Source { return &f.source }

// Lookup returns the handle of a term. It allocates nothing.
func (f *File) Lookup(term string) (plan.Handle, bool) {
	defer mapped.Unwatch(mapped.Watch())
	return f.dict.Lookup(term)
}

// Term returns the term of list h, which must be below Terms.
func (f *File) Term(h plan.Handle) string {
	defer mapped.Unwatch(mapped.Watch())
	return f.dict.Term(h)
}

// Terms is the number of terms, and of lists.
func (f *File) Terms() int { return int(f.header.terms) }

// Docs is the number of documents.
func (f *File) Docs() uint32 { return f.header.docs }

// DocName returns the name of document d, which must be below Docs.
func (f *File) DocName(d uint32) string {
	defer mapped.Unwatch(mapped.Watch())
	return string(f.names[f.nameOffsets[d]:f.nameOffsets[d+1]])
}

// DocLen returns the length of document d, which must be below Docs, in tokens.
func (f *File) DocLen(d uint32) uint32 {
	defer mapped.Unwatch(mapped.Watch())
	return f.lengths[d]
}

// Tokens is the sum of the frequencies (or impacts) of list h, which must be below Terms.
func (f *File) Tokens(h plan.Handle) uint64 {
	defer mapped.Unwatch(mapped.Watch())
	return descriptorAt(f.bytes(secLists), h).tokens
}

// Freqs appends the frequencies (or impacts) of list h, which must be below Terms, to dst, in
// the order of its docIDs. An error is a *CorruptError, and dst comes back as it
// was.
func (f *File) Freqs(dst []uint32, h plan.Handle) (_ []uint32, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	d := descriptorAt(f.bytes(secLists), h)
	p, err := codec.NewPacked(d.len, f.freqs[d.freqOff:d.freqOff+uint64(d.freqWords)])
	n := len(dst)
	if err == nil {
		dst, err = p.AppendTo(dst)
	}
	if err != nil {
		return dst, f.corruptList(secFreqs, d.freqOff, h, err)
	}
	for i := range dst[n:] {
		dst[n+i]++
		if dst[n+i] == 0 {
			return dst[:n], f.corrupt(secFreqs, 4*d.freqOff, "list %d: frequency %d is 2^32", h, i)
		}
	}
	return dst, nil
}

// corruptList turns an error of package codec about the words of list h, which
// start at word off of section s, into a CorruptError.
func (f *File) corruptList(s section, off uint64, h plan.Handle, err error) error {
	reason := err.Error()
	if c := (*codec.CorruptError)(nil); errors.As(err, &c) {
		off, reason = off+uint64(c.Word), c.Reason
	}
	return f.corrupt(s, 4*off, "list %d: %s", h, reason)
}

// Section is an entry of the section table.
type Section = container.Section

// Sections returns the section table, in the order of the file.
func (f *File) Sections() []Section { return f.file.Sections() }

// Size is the size of the file in bytes.
func (f *File) Size() int64 { return int64(f.header.Size) }

// Checksum identifies the content of the file: it is the xxHash64 of the header,
// which holds the checksums of all sections.
func (f *File) Checksum() uint64 {
	defer mapped.Unwatch(mapped.Watch())
	return f.file.Checksum()
}
