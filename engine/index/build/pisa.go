package build

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"

	"heddle/engine/file/input"
	"heddle/engine/index/build/gather"
	"heddle/engine/index/hdl"
)

// The files of a PISA (ds2i) collection. A sequence is a u32 count, then as many
// u32, little-endian:
//
//	.docs       {1, N}, then the docIDs of each list
//	.freqs      the frequencies of each list
//	.sizes      N document lengths
//	.terms      one a line, of each list (optional)
//	.documents  one a line, of each document (optional)
var tripleSuffixes = []string{".docs", ".freqs", ".sizes", ".terms", ".documents"}

// triple reports whether path names a PISA collection, by its base or by its .docs, and
// returns the base.
func triple(path string) (base string, ok bool) {
	base = strings.TrimSuffix(input.TrimSuffix(path), ".docs")
	if base != input.TrimSuffix(path) {
		return base, true
	}
	if path == "-" {
		return path, false
	}
	if _, file := input.Find(path); file {
		return path, false
	}
	_, ok = input.Find(path + ".docs")
	return path, ok
}

// pisa reads a collection.
type pisa struct {
	b                  *builder
	base               uint32 // first document, where the lists stay in their files; else 0
	docs, freqs, sizes *source
	terms, names       *source // nil if there is no such file
	documents          uint32

	term  []byte // the term of the current list
	lists uint32 // number of lists that were begun
	left  uint32 // postings of the current list
	least uint32 // docID that may follow
	block struct{ docs, freqs [pisaBlock]uint32 }
}

// readPISA adds the collection of this base name. If its terms ascend, its lists stay in their
// files until they are merged: the collection is a run of its own.
func readPISA(b *builder, files *opener, base string) (err error) {
	if base == "-" {
		return errors.New("pisa collections are files; they cannot come from standard input")
	}
	if err := b.startInverted(base); err != nil {
		return err
	}
	p := &pisa{b: b}
	for i, s := range []**source{&p.docs, &p.freqs, &p.sizes, &p.terms, &p.names} {
		path, found := input.Find(base + tripleSuffixes[i])
		if !found && i >= 3 {
			continue
		}
		if *s, err = files.open(path); err != nil {
			return errors.Join(err, p.Close())
		}
	}
	sorted := false
	if err = p.readDocuments(); err == nil && len(b.open) < maxOpen {
		sorted, err = p.termsAscend(files)
	}
	if err == nil && sorted {
		p.base = uint32(b.base)
		b.open = append(b.open, p) // closing b closes it
		return b.addRun(gather.Run{Lists: p, Longest: p.documents})
	}
	if err == nil {
		err = p.readLists()
	}
	return errors.Join(err, p.Close())
}

// Close closes all files.
func (p *pisa) Close() error {
	var errs []error
	for _, s := range []*source{p.docs, p.freqs, p.sizes, p.terms, p.names} {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}

// readDocuments reads .sizes and .documents, and the head of .docs.
func (p *pisa) readDocuments() error {
	one, err := readWord(p.docs)
	if err == nil && one != 1 {
		err = position{}.errorf(p.docs.path, "the first sequence has %d values; it must have one, the number of documents", one)
	}
	if err == nil {
		p.documents, err = readWord(p.docs)
	}
	if err != nil {
		return whole(p.docs, err, "the number of documents")
	}
	n, err := readWord(p.sizes)
	if err != nil {
		return whole(p.sizes, err, "its length")
	}
	if n != p.documents {
		return position{}.errorf(p.sizes.path, "%d document lengths; %s has %d documents", n, p.docs.path, p.documents)
	}
	var name []byte
	for i := range n {
		length, err := readWord(p.sizes)
		if err != nil {
			return whole(p.sizes, err, plural(uint64(n), "document length"))
		}
		if name, err = lineOf(p.names, name, i, "document"); err != nil {
			return err
		}
		if len(name) > hdl.MaxNameLen {
			return p.names.errorf("a document name of %d bytes; at most %d are possible", len(name), hdl.MaxNameLen)
		}
		if err := p.b.addDocument(name, length); err != nil {
			return err
		}
	}
	return errors.Join(atEnd(p.sizes), atEnd(p.names))
}

// wordErrorf reports the position of word j from the next byte on.
func (s *source) wordErrorf(j int, format string, args ...any) error {
	return position{offset: s.at.offset + 4*int64(j)}.errorf(s.path, format, args...)
}

// readWord reads a u32; io.EOF if nothing is left, io.ErrUnexpectedEOF if less
// than a word is.
func readWord(s *source) (uint32, error) {
	b, err := s.peek(4)
	if err != nil {
		return 0, err
	}
	s.skip(4)
	return binary.LittleEndian.Uint32(b), nil
}

// whole makes an early end an *InputError.
func whole(s *source, err error, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return s.errorf("the file is truncated: it ends within %s", what)
	}
	return err
}

// lineOf reads line i of a file with one entry a line; without a file the number
// is the entry.
func lineOf(s *source, dst []byte, i uint32, what string) ([]byte, error) {
	if s == nil {
		return strconv.AppendUint(dst[:0], uint64(i), 10), nil
	}
	line, at, err := s.line(dst[:0])
	if err == io.EOF {
		err = at.errorf(s.path, "the file ends before %s %d", what, i)
	}
	return line, err
}

// atEnd fails if s has more bytes; a nil source is at its end.
func atEnd(s *source) error {
	if s == nil {
		return nil
	}
	switch _, err := s.peek(1); err {
	case io.EOF:
		return nil
	case nil:
		return s.errorf("more data than the collection has use for")
	default:
		return err
	}
}
