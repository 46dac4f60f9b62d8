package inverted

import (
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/file/input"
	"heddle/engine/index/build/gather"
	"heddle/engine/index/build/source"
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

// Triple reports whether path names a PISA collection, by its base or by its .docs, and
// returns the base.
func Triple(path string) (base string, ok bool) {
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

// Files returns the files of the collection that path names; only path if it names none.
func Files(path string) (files []string) {
	base, ok := Triple(path)
	if !ok {
		return []string{path}
	}
	for _, suffix := range tripleSuffixes {
		if file, ok := input.Find(base + suffix); ok {
			files = append(files, file)
		}
	}
	return files
}

// Accompanies reports whether a file is part of a collection, but not its .docs, by which it is named.
func Accompanies(path string) bool {
	name := input.TrimSuffix(path)
	suffix := filepath.Ext(name)
	if !slices.Contains(tripleSuffixes[1:], suffix) {
		return false
	}
	_, found := input.Find(strings.TrimSuffix(name, suffix) + tripleSuffixes[0])
	return found
}

// pisa reads a collection.
type pisa struct {
	to                 Sink
	first              uint32 // docID of the first document
	docs, freqs, sizes *source.Reader
	terms, names       *source.Reader // nil if there is no such file
	documents          uint32

	term  []byte // the term of the current list
	lists uint32 // number of lists that were begun
	left  uint32 // postings of the current list
	least uint32 // docID that may follow
	block struct{ docs, freqs [pisaBlock]uint32 }
}

// PISA reads PISA collections.
type PISA struct {
	To    Sink
	Files *source.Opener
	open  []*pisa // collections whose lists stay in their files
}

// Add adds the collection of this base name. If its terms ascend, its lists stay in their
// files until they are merged: the collection is a run of its own.
func (r *PISA) Add(base string) (err error) {
	if base == "-" {
		return errors.New("pisa collections are files; they cannot come from standard input")
	}
	p := &pisa{to: r.To}
	if p.first, err = r.To.Start(base); err != nil {
		return err
	}
	for i, s := range []**source.Reader{&p.docs, &p.freqs, &p.sizes, &p.terms, &p.names} {
		path, found := input.Find(base + tripleSuffixes[i])
		if !found && i >= 3 {
			continue
		}
		if *s, err = r.Files.Open(path); err != nil {
			return errors.Join(err, p.Close())
		}
	}
	sorted := false
	if err = p.readDocuments(); err == nil && len(r.open) < maxOpen {
		sorted, err = p.termsAscend(r.Files)
	}
	if err == nil && sorted {
		r.open = append(r.open, p) // closing r closes it
		return r.To.AddRun(gather.Run{Lists: p, Longest: p.documents})
	}
	if err == nil {
		err = p.readLists()
	}
	return errors.Join(err, p.Close())
}

// Close closes the files of all collections, after the last use of their lists.
func (r *PISA) Close() error {
	var errs []error
	for _, p := range r.open {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Close closes all files.
func (p *pisa) Close() error {
	var errs []error
	for _, s := range []*source.Reader{p.docs, p.freqs, p.sizes, p.terms, p.names} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// readDocuments reads .sizes and .documents, and the head of .docs.
func (p *pisa) readDocuments() error {
	one, err := readWord(p.docs)
	if err == nil && one != 1 {
		err = source.Position{}.Errorf(p.docs.Path, "the first sequence has %d values; it must have one, the number of documents", one)
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
		return source.Position{}.Errorf(p.sizes.Path, "%d document lengths; %s has %d documents", n, p.docs.Path, p.documents)
	}
	var name []byte
	for i := range n {
		length, err := readWord(p.sizes)
		if err != nil {
			return whole(p.sizes, err, input.Plural(uint64(n), "document length"))
		}
		if name, err = lineOf(p.names, name, i, "document"); err != nil {
			return err
		}
		if len(name) > hdl.MaxNameLen {
			return p.names.Errorf("a document name of %d bytes; at most %d are possible", len(name), hdl.MaxNameLen)
		}
		if err := p.to.AddDocument(name, length); err != nil {
			return err
		}
	}
	return errors.Join(atEnd(p.sizes), atEnd(p.names))
}

// wordErrorf reports the position of word j from the next byte on.
func wordErrorf(s *source.Reader, j int, format string, args ...any) error {
	return source.Position{Offset: s.At.Offset + 4*int64(j)}.Errorf(s.Path, format, args...)
}

// readWord reads a u32; io.EOF if nothing is left, io.ErrUnexpectedEOF if less
// than a word is.
func readWord(s *source.Reader) (uint32, error) {
	b, err := s.Peek(4)
	if err != nil {
		return 0, err
	}
	s.Skip(4)
	return binary.LittleEndian.Uint32(b), nil
}

// whole makes an early end an *input.Error.
func whole(s *source.Reader, err error, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return s.Errorf("the file is truncated: it ends within %s", what)
	}
	return err
}

// lineOf reads line i of a file with one entry a line; without a file the number
// is the entry.
func lineOf(s *source.Reader, dst []byte, i uint32, what string) ([]byte, error) {
	if s == nil {
		return strconv.AppendUint(dst[:0], uint64(i), 10), nil
	}
	line, at, err := s.Line(dst[:0])
	if err == io.EOF {
		err = at.Errorf(s.Path, "the file ends before %s %d", what, i)
	}
	return line, err
}

// atEnd fails if s has more bytes; a nil source is at its end.
func atEnd(s *source.Reader) error {
	if s == nil {
		return nil
	}
	switch _, err := s.Peek(1); err {
	case io.EOF:
		return nil
	case nil:
		return s.Errorf("more data than the collection has use for")
	default:
		return err
	}
}
