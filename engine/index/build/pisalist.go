package build

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"heddle/engine/file/input"
	"heddle/engine/index/hdl"
)

const (
	// pisaBlock is the number of postings that are read at a time.
	pisaBlock = 1024
	// maxOpen bounds the collections whose files stay open until the merge, for their buffers take memory.
	maxOpen = 4
)

// termsAscend reports whether the collection has a file of terms, which ascend strictly.
func (p *pisa) termsAscend(files *opener) (ascend bool, err error) {
	if p.terms == nil {
		return false, nil
	}
	again := opener{input.Opener{Ctx: files.Ctx}, files.maxDocument} // whose bytes do not count
	s, err := again.open(p.terms.path)
	if err != nil {
		return false, err
	}
	defer s.close()
	var term, last []byte
	for first := true; ; first = false {
		term, _, err = s.line(term[:0])
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		case !first && bytes.Compare(term, last) <= 0:
			return false, nil
		}
		term, last = last, term
	}
}

// readLists adds all lists to the builder.
func (p *pisa) readLists() error {
	for {
		if err := p.begin(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := p.b.startList(p.term); err != nil {
			return err
		}
		for p.left > 0 {
			docs, freqs, err := p.nextBlock()
			if err != nil {
				return err
			}
			if err = p.b.addPostings(docs, freqs); err == errNotAscending {
				err = p.docs.wordErrorf(-len(docs), "list %d: its term has another list", p.lists-1)
			}
			if err != nil {
				return err
			}
		}
	}
}

// next is the method of cursor.
func (p *pisa) next(l *list) error {
	if err := p.begin(); err != nil {
		return err
	}
	l.term, l.docs, l.read = append(l.term[:0], p.term...), p.left, p.appendList
	return nil
}

// appendList appends the postings of the current list.
func (p *pisa) appendList(docs, freqs []uint32) ([]uint32, []uint32, error) {
	for p.left > 0 {
		d, f, err := p.nextBlock()
		if err != nil {
			return docs, freqs, err
		}
		for i := range d {
			d[i] += p.base
		}
		docs, freqs = append(docs, d...), append(freqs, f...)
	}
	return docs, freqs, nil
}

// begin reads the length and the term of the next list; io.EOF behind the last.
func (p *pisa) begin() error {
	start := p.docs.at
	n, err := readWord(p.docs)
	if err == io.EOF {
		if err := errors.Join(atEnd(p.freqs), atEnd(p.terms)); err != nil {
			return err
		}
		return io.EOF
	}
	if err != nil {
		return whole(p.docs, err, "the length of a list")
	}
	i := p.lists
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
	if p.term, err = lineOf(p.terms, p.term, i, "list"); err != nil {
		return err
	}
	if len(p.term) == 0 || len(p.term) > hdl.MaxTermLen {
		return p.terms.errorf("a term of %d bytes; 1 to %d are possible", len(p.term), hdl.MaxTermLen)
	}
	p.lists, p.left, p.last = i+1, n, -1
	return nil
}

// nextBlock reads and checks the next postings of the current list, of which there is at least one. The
// slices are valid until the next call.
func (p *pisa) nextBlock() (docs, freqs []uint32, err error) {
	k := int(min(p.left, pisaBlock))
	docWords, err := p.docs.peek(4 * k)
	if err != nil {
		return nil, nil, whole(p.docs, err, fmt.Sprintf("list %d", p.lists-1))
	}
	freqWords, err := p.freqs.peek(4 * k)
	if err != nil {
		return nil, nil, whole(p.freqs, err, fmt.Sprintf("list %d", p.lists-1))
	}
	docs, freqs = p.block.docs[:k], p.block.freqs[:k]
	for j := range k {
		doc, freq := binary.LittleEndian.Uint32(docWords[4*j:]), binary.LittleEndian.Uint32(freqWords[4*j:])
		switch {
		case int64(doc) <= p.last:
			return nil, nil, p.docs.wordErrorf(j, "list %d: docID %d comes behind %d", p.lists-1, doc, p.last)
		case doc >= p.documents:
			return nil, nil, p.docs.wordErrorf(j, "list %d: docID %d; there are %d documents", p.lists-1, doc, p.documents)
		case freq == 0:
			return nil, nil, p.freqs.wordErrorf(j, "list %d: docID %d has frequency 0", p.lists-1, doc)
		}
		docs[j], freqs[j], p.last = doc, freq, int64(doc)
	}
	p.docs.skip(4 * k)
	p.freqs.skip(4 * k)
	p.left -= uint32(k)
	return docs, freqs, nil
}
