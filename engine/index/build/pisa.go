package build

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"heddle/engine/file/input"
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
	docs, freqs, sizes *source
	terms, names       *source // nil if there is no such file
	documents          uint32
}

// readPISA adds the collection of this base name.
func readPISA(b *builder, files *opener, base string) (err error) {
	if base == "-" {
		return errors.New("pisa collections are files; they cannot come from standard input")
	}
	if err := b.startInverted(base); err != nil {
		return err
	}
	p := pisa{b: b}
	for i, s := range []**source{&p.docs, &p.freqs, &p.sizes, &p.terms, &p.names} {
		path, found := input.Find(base + tripleSuffixes[i])
		if !found && i >= 3 {
			continue
		}
		if *s, err = files.open(path); err != nil {
			return err
		}
		defer (*s).close()
	}
	return p.read()
}

func (p *pisa) read() error {
	if err := p.readDocuments(); err != nil {
		return err
	}
	return p.readLists()
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

// readLists reads .docs, .freqs and .terms.
func (p *pisa) readLists() error {
	var term []byte
	for i := uint32(0); ; i++ {
		start := p.docs.at
		n, err := readWord(p.docs)
		if err == io.EOF {
			return errors.Join(atEnd(p.freqs), atEnd(p.terms))
		}
		if err != nil {
			return whole(p.docs, err, "the length of a list")
		}
		m, err := readWord(p.freqs)
		if err != nil {
			return whole(p.freqs, err, fmt.Sprintf("the length of list %d", i))
		}
		if n != m {
			return start.errorf(p.docs.path, "list %d has %d docIDs, and %d frequencies in %s", i, n, m, p.freqs.path)
		}
		if n > p.documents {
			return start.errorf(p.docs.path, "list %d has %d docIDs; there are %d documents", i, n, p.documents)
		}
		if term, err = lineOf(p.terms, term, i, "list"); err != nil {
			return err
		}
		if len(term) == 0 || len(term) > hdl.MaxTermLen {
			return p.terms.errorf("a term of %d bytes; 1 to %d are possible", len(term), hdl.MaxTermLen)
		}
		if err := p.b.startList(term); err != nil {
			return err
		}
		if err := p.readList(i, n); err != nil {
			return err
		}
	}
}

// readList reads the n postings of list i.
func (p *pisa) readList(i, n uint32) error {
	const block = 1024 // values
	var docs, freqs [block]uint32
	last := int64(-1)
	for n > 0 {
		k := int(min(n, block))
		docWords, err := p.docs.peek(4 * k)
		if err != nil {
			return whole(p.docs, err, fmt.Sprintf("list %d", i))
		}
		freqWords, err := p.freqs.peek(4 * k)
		if err != nil {
			return whole(p.freqs, err, fmt.Sprintf("list %d", i))
		}
		for j := range k {
			doc, freq := binary.LittleEndian.Uint32(docWords[4*j:]), binary.LittleEndian.Uint32(freqWords[4*j:])
			switch {
			case int64(doc) <= last:
				return p.docs.wordErrorf(j, "list %d: docID %d comes behind %d", i, doc, last)
			case doc >= p.documents:
				return p.docs.wordErrorf(j, "list %d: docID %d; there are %d documents", i, doc, p.documents)
			case freq == 0:
				return p.freqs.wordErrorf(j, "list %d: docID %d has frequency 0", i, doc)
			}
			docs[j], freqs[j], last = doc, freq, int64(doc)
		}
		if err = p.b.addPostings(docs[:k], freqs[:k]); err == errNotAscending {
			err = p.docs.wordErrorf(0, "list %d: its term has another list", i)
		}
		if err != nil {
			return err
		}
		p.docs.skip(4 * k)
		p.freqs.skip(4 * k)
		n -= uint32(k)
	}
	return nil
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
