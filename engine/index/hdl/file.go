package hdl

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl/compress"
	"heddle/engine/plan"
)

// File is an open index. All methods but Close are safe for concurrent use.
// Strings and frequencies that it returns are copies; Source is a view that ends
// with Close. Using a File, or its Source, after Close is a bug of the caller,
// and panics or faults.
//
// Replace an index file by a rename, and never change it in place. If the file is truncated while it
// is open, or a block that is used for the first time is damaged, methods with an error return a
// *CorruptError, and the other methods panic: mapped.Catch turns the panic into the same error.
// Readers of Source call mapped.Watch first.
type File struct {
	file           *container.File
	header         header
	meta           Meta
	fields         []Field
	source         plan.Source
	terms          *lexicon
	termOffsets    []uint64
	listBlocks     []uint64
	stored         listPlace // words of the source before the words of inline lists
	nameOffsets    []uint64
	code           atomic.Pointer[compress.Huffman] // Huffman code of names; nil until its first use
	named          atomic.Pointer[nameTable]        // nil until its first use
	naming         sync.Mutex                       // held by the maker of named
	lengths        [][]uint32                       // by field
	positionBlocks []uint64                         // entries of section position-lists
	positionLists  []atomic.Pointer[positionLists]  // by block of descriptors, read at first use
	documents      *documents                       // nil without stored documents

	lazy   bool               // blocks are verified at first use
	intact [2][]atomic.Uint32 // bits: the docIDs, and the frequencies, of a list are verified
}

// Open maps the index file at path and checks it: header, meta data, terms, document lengths, and the
// places of the blocks of descriptors. Lists and their descriptors, names and stored documents are verified at
// their first use; CheckLists verifies all lists. Damage is a *CorruptError; an intact file of
// another format version, or with rules of analysis or features that this build does not know, is
// an ErrVersion. The time grows with the bytes of terms and document
// lengths, not with lists. The memory is 4 bytes per document, 40 bytes per term of the blocks of 128
// descriptors in use, about 20 bytes per list that these descriptors hold, and 20 to 32 bytes and the
// text per term once there have been many lookups, and 5.5 bytes per document once a document was looked up by its name.
func Open(path string) (*File, error) { return OpenIn(nil, path, false) }

// OpenTrusted is Open without the checksums of the sections, so it does not read
// the lists at all. It still checks that everything stays in bounds: a damaged
// file gives wrong answers, not panics. It is for files that were verified since
// they were last moved.
func OpenTrusted(path string) (*File, error) { return OpenIn(nil, path, true) }

// OpenIn is Open, or OpenTrusted, for a file below root: see container.OpenIn.
func OpenIn(root *os.Root, path string, trusted bool) (*File, error) {
	file, err := container.OpenIn(root, path, &format)
	if err != nil {
		return nil, err
	}
	f, err := newFile(file, !trusted)
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
	if f.lazy = sums; f.lazy {
		for _, s := range []section{secTerms, secTermOffsets, secLengths, secMeta, secListBlocks, secFields} {
			if err := file.CheckSection(int(s)); err != nil {
				return nil, err
			}
		}
	}
	if f.meta, err = decodeMeta(f.bytes(secMeta), &f.header); err != nil {
		return nil, f.corrupt(secMeta, 0, "%v", err)
	}
	if err := f.meta.known(file.Path); err != nil {
		return nil, err
	}
	if err := f.openFields(); err != nil {
		return nil, err
	}
	f.termOffsets = container.View[uint64](f.bytes(secTermOffsets))
	f.listBlocks = container.View[uint64](f.bytes(secListBlocks))
	f.nameOffsets = container.View[uint64](f.bytes(secNameOffsets))
	if err := f.openDocuments(); err != nil {
		return nil, err
	}
	f.source = plan.Source{Docs: f.header.docs, Lists: make([]plan.List, f.header.terms), Impacts: f.meta.Impacts.Bits}
	if f.lazy {
		for i := range f.intact {
			f.intact[i] = make([]atomic.Uint32, f.header.terms/32+1)
		}
	}
	if f.meta.roundsLengths() {
		f.source.Length = f.header.length
	}
	if err := f.openPositions(); err != nil {
		return nil, err
	}
	if err = f.openContent(); err == nil && !f.lazy {
		err = f.checkDocuments()
	}
	if err == nil {
		f.describeFields()
	}
	return f, err
}

// openContent reads terms, document lengths, and the places of lists.
func (f *File) openContent() error {
	terms := f.bytes(secTerms)
	if err := f.file.CheckOffsets(int(secTermOffsets), f.termOffsets, uint64(len(terms)), termBlock*(MaxTermLen+compress.FrontHead)); err != nil {
		return err
	}
	f.terms = &lexicon{bytes: terms, offsets: f.termOffsets, terms: f.header.terms,
		corrupt: func(at uint64, format string, args ...any) error { return f.corrupt(secTerms, at, format, args...) }}
	if n := len(f.bytes(secNames)); n < codeSize {
		return f.corrupt(secNames, 0, "%d bytes, a code alone has %d", n, codeSize)
	}
	if err := f.openLengths(); err != nil {
		return err
	}
	return f.openLists()
}

func (f *File) bytes(s section) []byte { return f.file.Bytes(int(s)) }

func (f *File) corrupt(s section, at uint64, format string, args ...any) error {
	return f.file.Corrupt(int(s), at, format, args...)
}

// Close unmaps the file. No other method may run at the same time, and every Store loaded
// from Source must be closed before. A second Close does nothing.
func (f *File) Close() error {
	file := f.file
	if x := f.documents; x != nil {
		x.open.Do(func() {})
		if x.decoder != nil {
			x.decoder.Close()
		}
	}
	*f = File{file: file}
	return file.Close()
}

// Path is the path that the file was opened by.
func (f *File) Path() string { return f.file.Path }

// Meta describes the build and the size of the index.
func (f *File) Meta() Meta { return f.meta }

// Source is the lists, for a backend; handles are ranks of terms in ascending
// order of their bytes. It is a view, valid until Close. It reads the descriptors of all lists.
func (f *File) Source() *plan.Source {
	if err := f.source.DescribeAll(); err != nil {
		panic(err)
	}
	return &f.source
}

// LazySource is Source, but reads the descriptors of 128 lists when one of them is first used: by
// Lookup of its term, or by plan.Source.Describe.
func (f *File) LazySource() *plan.Source { return &f.source }

// Lookup returns the handle of a term, whose list is then in LazySource.
func (f *File) Lookup(term string) (plan.Handle, bool) {
	defer mapped.Unwatch(mapped.Watch())
	h, ok := f.terms.Lookup(term)
	if ok {
		f.source.Describe(h)
	}
	return h, ok
}

// Term returns the term of list h, which must be below Terms.
func (f *File) Term(h plan.Handle) string {
	defer mapped.Unwatch(mapped.Watch())
	return f.terms.Term(h)
}

// Terms is the number of terms, and of lists.
func (f *File) Terms() int { return int(f.header.terms) }

// Docs is the number of documents.
func (f *File) Docs() uint32 { return f.header.docs }

// DocLen returns the length of document d, which must be below Docs, in tokens: the sum over all fields.
func (f *File) DocLen(d uint32) uint32 {
	defer mapped.Unwatch(mapped.Watch())
	return f.source.Lengths[d]
}

// AppendLengths appends the lengths of document d, which must be below Docs, in each of Fields.
func (f *File) AppendLengths(dst []uint32, d uint32) []uint32 {
	for _, lengths := range f.lengths {
		dst = append(dst, lengths[d])
	}
	return dst
}

// From yields the terms that are not below a string, in ascending order. A term is valid until the next. It is safe
// for concurrent use.
func (f *File) From(first string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		defer mapped.Unwatch(mapped.Watch())
		for _, term := range f.terms.from(f.terms.search(first)) {
			if string(term) >= first && !yield(term) {
				return
			}
		}
	}
}

// Prefix yields the terms that begin with prefix, in ascending order. It is safe for
// concurrent use.
func (f *File) Prefix(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for term := range f.From(prefix) {
			if t := string(term); !strings.HasPrefix(t, prefix) || !yield(t) {
				return
			}
		}
	}
}

// Freqs appends the frequencies (or impacts) of list h, which must be below Terms, to dst, in
// the order of its docIDs. An error is a *CorruptError, and dst comes back as it
// was.
func (f *File) Freqs(dst []uint32, h plan.Handle) (_ []uint32, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	p, err := f.source.Freq(h)
	n := len(dst)
	if err == nil {
		dst, err = p.AppendTo(dst)
	}
	if err != nil {
		return dst, f.corruptList(secFreqs, f.source.Lists[h].FreqOff, h, err)
	}
	for i := range dst[n:] {
		dst[n+i]++
		if dst[n+i] == 0 {
			return dst[:n], f.corrupt(secFreqs, 4*f.source.Lists[h].FreqOff, "list %d: frequency %d is 2^32", h, i)
		}
	}
	return dst, nil
}

// corruptList turns an error of package codec about the words of list h, which
// start at word off of section s, into a CorruptError.
func (f *File) corruptList(s section, off uint64, h plan.Handle, err error) error {
	return f.corruptWords(s, off, fmt.Sprintf("list %d", h), err)
}

// corruptWords is corruptList for words with a name.
func (f *File) corruptWords(s section, off uint64, name string, err error) error {
	reason := err.Error()
	if c := (*codec.CorruptError)(nil); errors.As(err, &c) {
		off, reason = off+uint64(c.Word), c.Reason
	}
	return f.corrupt(s, 4*off, "%s: %s", name, reason)
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
