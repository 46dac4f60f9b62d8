package inverted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/index/build/gather"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

const (
	// pisaBlock is the number of postings that are read at a time.
	pisaBlock = 1024
	// maxOpen bounds the collections whose files stay open until the merge, for their buffers take memory.
	maxOpen = 4
)

// termsAscend reports whether the collection has a file of terms, which ascend strictly.
func (p *pisa) termsAscend(files *source.Opener) (ascend bool, err error) {
	if p.terms == nil {
		return false, nil
	}
	again := source.Opener{Opener: input.Opener{Ctx: files.Ctx}, MaxDocument: files.MaxDocument} // bytes that it reads do not count
	s, err := again.Open(p.terms.Path)
	if err != nil {
		return false, err
	}
	defer s.Close()
	var term, last []byte
	for first := true; ; first = false {
		term, _, err = s.Line(term[:0])
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

// readLists adds all lists to the sink.
func (p *pisa) readLists() error {
	for {
		if err := p.begin(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := p.to.StartList(p.term); err != nil {
			return err
		}
		for p.left > 0 {
			k := min(p.left, pisaBlock)
			docs, freqs := p.block.docs[:k], p.block.freqs[:k]
			if err := p.nextBlock(docs, freqs); err != nil {
				return err
			}
			err := p.to.AddPostings(docs, freqs)
			if err == ErrOrder {
				err = wordErrorf(p.docs, -len(docs), "list %d: its term has another list", p.lists-1)
			}
			if err != nil {
				return err
			}
		}
	}
}

// next is the method of cursor.
func (p *pisa) Next(l *gather.List) error {
	if err := p.begin(); err != nil {
		return err
	}
	l.Term, l.Docs, l.Read = append(l.Term[:0], p.term...), p.left, p.appendList
	return nil
}

// appendList appends the postings of the current list.
func (p *pisa) appendList(docs, freqs []uint32) ([]uint32, []uint32, error) {
	for p.left > 0 {
		n, k := len(docs), int(min(p.left, pisaBlock))
		docs, freqs = slices.Grow(docs, k)[:n+k], slices.Grow(freqs, k)[:n+k]
		if err := p.nextBlock(docs[n:], freqs[n:]); err != nil {
			return docs, freqs, err
		}
	}
	return docs, freqs, nil
}

// begin reads the length and the term of the next list; io.EOF behind the last.
func (p *pisa) begin() error {
	start := p.docs.At
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
		return start.Errorf(p.docs.Path, "list %d has %d docIDs, and %d frequencies in %s", i, n, m, p.freqs.Path)
	}
	if n > p.documents {
		return start.Errorf(p.docs.Path, "list %d has %d docIDs; there are %d documents", i, n, p.documents)
	}
	if p.term, err = lineOf(p.terms, p.term, i, "list"); err != nil {
		return err
	}
	if len(p.term) == 0 || len(p.term) > hdl.MaxTermLen {
		return p.terms.Errorf("a term of %d bytes; 1 to %d are possible", len(p.term), hdl.MaxTermLen)
	}
	p.lists, p.left, p.least = i+1, n, 0
	return nil
}

// nextBlock reads and checks the next postings of the current list, of which at least len(docs) are left;
// len(freqs) is the same number, at most pisaBlock.
func (p *pisa) nextBlock(docs, freqs []uint32) error {
	docWords, err := p.docs.Peek(4 * len(docs))
	if err != nil {
		return whole(p.docs, err, fmt.Sprintf("list %d", p.lists-1))
	}
	freqWords, err := p.freqs.Peek(4 * len(docs))
	if err != nil {
		return whole(p.freqs, err, fmt.Sprintf("list %d", p.lists-1))
	}
	least := p.least
	list := container.View[uint32](docWords)
	for j, doc := range list {
		switch {
		case doc < least:
			return wordErrorf(p.docs, j, "list %d: docID %d comes behind %d", p.lists-1, doc, least-1)
		case doc >= p.documents:
			return wordErrorf(p.docs, j, "list %d: docID %d; there are %d documents", p.lists-1, doc, p.documents)
		}
		docs[j], least = p.first+doc, doc+1
	}
	p.least = least
	copy(freqs, container.View[uint32](freqWords))
	if j := slices.Index(freqs, 0); j >= 0 {
		return wordErrorf(p.freqs, j, "list %d: docID %d has frequency 0", p.lists-1, list[j])
	}
	p.docs.Skip(4 * len(docs))
	p.freqs.Skip(4 * len(docs))
	p.left -= uint32(len(docs))
	return nil
}
