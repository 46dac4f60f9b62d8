package gather

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Run is a part of the index, sorted by term, in the temporary file of runs. Its lists
// follow one another: varint length of the term, term, varint number of postings, varint
// number of bytes, bytes as in Postings.
//
// The lists of an input with ascending terms are a run as well.
type Run struct {
	offset, length int64
	Longest        uint32 // postings of a list, at most
	Lists          Cursor // lists of an inverted input; nil for documents
}

// List is one list of a run.
type List struct {
	Term []byte
	Docs uint32 // postings
	data []byte // the postings of the list, encoded as in type postings
	// Read appends the postings in place of data, unless it is nil.
	Read func(docs, freqs []uint32) ([]uint32, []uint32, error)
}

// Cursor walks the lists of a run, ascending by term.
type Cursor interface {
	// Next fills l, whose slices it may overwrite; io.EOF behind the last list.
	Next(l *List) error
}

// Spill writes the lists of c to the end of t.
func Spill(t *Temp, c Cursor) (Run, error) {
	r := Run{offset: t.size}
	var l List
	var b []byte
	for {
		if err := c.Next(&l); err == io.EOF {
			r.length = t.size - r.offset
			return r, nil
		} else if err != nil {
			return Run{}, err
		}
		r.Longest = max(r.Longest, l.Docs)
		b = AppendBytes(b[:0], l.Term)
		b = binary.AppendUvarint(b, uint64(l.Docs))
		b = binary.AppendUvarint(b, uint64(len(l.data)))
		if err := t.Append(b); err != nil {
			return Run{}, err
		}
		if err := t.Append(l.data); err != nil {
			return Run{}, err
		}
	}
}

// memoryCursor walks postings in memory.
type memoryCursor struct {
	p     *Postings
	order []uint32
}

func (c *memoryCursor) Next(l *List) error {
	if len(c.order) == 0 {
		return io.EOF
	}
	e := c.p.at(c.order[0])
	c.order = c.order[1:]
	l.Term = c.p.appendTerm(l.Term[:0], e)
	l.Docs = e.value.Docs
	l.data = c.p.arena.read(l.data[:0], &e.value.stream)
	return nil
}

// fileCursor walks a run of the temporary file.
type fileCursor struct {
	r *bufio.Reader
}

func NewCursor(t *Temp, r Run, buffer int) *fileCursor {
	return &fileCursor{bufio.NewReaderSize(io.NewSectionReader(t, r.offset, r.length), buffer)}
}

func (c *fileCursor) Next(l *List) error {
	n, err := binary.ReadUvarint(c.r)
	if err != nil {
		return err // io.EOF between two lists
	}
	if l.Term, err = c.bytes(l.Term, n); err != nil {
		return err
	}
	docs, err := binary.ReadUvarint(c.r)
	if err != nil {
		return Damaged(err)
	}
	l.Docs = uint32(docs)
	if n, err = binary.ReadUvarint(c.r); err != nil {
		return Damaged(err)
	}
	l.data, err = c.bytes(l.data, n)
	return err
}

// bytes reads n bytes into the memory of dst.
func (c *fileCursor) bytes(dst []byte, n uint64) ([]byte, error) {
	if uint64(cap(dst)) < n {
		dst = make([]byte, n)
	}
	dst = dst[:n]
	if _, err := io.ReadFull(c.r, dst); err != nil {
		return dst, Damaged(err)
	}
	return dst, nil
}

// Damaged keeps an early end from being taken for the end of a run.
func Damaged(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("temporary file: %w", err)
}

// decode appends the postings of l, with positions also their values (see Tally).
func (l *List) decode(b *batch, positions bool) {
	docs, freqs := b.docs, b.freqs
	next := uint32(0) // docID that a gap of 0 means
	at := 0
	number := func() (v uint64) {
		if at < len(l.data) && l.data[at] < 0x80 { // most numbers
			v = uint64(l.data[at])
			at++
			return v
		}
		v, n := binary.Uvarint(l.data[min(at, len(l.data)):])
		at += max(n, 1)
		return v
	}
	for at < len(l.data) {
		code := number()
		doc := next + uint32(code>>1)
		next = doc + 1
		freq := uint32(1)
		if code&1 == 0 {
			freq = uint32(number() + 2)
		}
		docs = append(docs, doc)
		freqs = append(freqs, freq)
		if positions {
			for range freq {
				b.positions = append(b.positions, uint32(number()))
			}
		}
	}
	b.docs, b.freqs = docs, freqs
}
