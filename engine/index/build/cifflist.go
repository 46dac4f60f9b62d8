package build

import (
	"math"

	"heddle/engine/index/hdl"
)

// list reads a PostingsList.
func (c *ciff) list() error {
	const what = "postings list"
	size, err := c.uvarint(math.MaxInt64, what)
	if err != nil {
		return err
	}
	if size > uint64(math.MaxInt64-c.s.at.offset) {
		return c.s.errorf("a %s of %d bytes", what, size)
	}
	end := c.s.at.offset + int64(size)
	l := ciffList{last: -1}
	for c.s.at.offset < end {
		key, err := c.uvarint(end, what)
		if err != nil {
			return err
		}
		n := uint64(0) // bytes of the value
		switch key & 7 {
		case wireVarint:
			if l.value, err = c.uvarint(end, what); err != nil {
				return err
			}
		case wireFixed64:
			n = 8
		case wireFixed32:
			n = 4
		case wireBytes:
			if n, err = c.uvarint(end, what); err != nil {
				return err
			}
		default:
			return c.s.errorf("%v", errMalformed(what))
		}
		if n > uint64(end-c.s.at.offset) {
			return c.s.errorf("%v", errMalformed(what))
		}
		if err := c.listField(&l, key, n); err != nil {
			return err
		}
	}
	switch {
	case !l.started:
		return c.s.errorf("a postings list without a term")
	case l.df != l.docs || l.cf != l.tf:
		c.off++
	}
	c.occurrences += l.tf
	return nil
}

// ciffList is the state of a list while it is read.
type ciffList struct {
	value    uint64 // value of the current varint field
	started  bool   // the term is known
	df, cf   uint64 // document and collection frequency that the list states
	docs, tf uint64 // number of documents and sum of frequencies that the postings have
	last     int64  // docID
}

// listField treats a field of a list: a varint that has been read, or n bytes
// that come next.
func (c *ciff) listField(l *ciffList, key, n uint64) error {
	const (
		term     = 1<<3 | wireBytes
		df       = 2<<3 | wireVarint
		cf       = 3<<3 | wireVarint
		postings = 4<<3 | wireBytes
	)
	switch key {
	case df:
		l.df = l.value
	case cf:
		l.cf = l.value
	case term:
		if n == 0 || n > hdl.MaxTermLen || l.started {
			return c.s.errorf("a second term, or one of %d bytes; 1 to %d are possible", n, hdl.MaxTermLen)
		}
		b, err := c.peek(int(n), "term")
		if err != nil {
			return err
		}
		l.started = true
		if err := c.b.startList(b); err != nil {
			return err
		}
		c.s.skip(int(n))
	case postings:
		return c.posting(l, n)
	default:
		if key>>3 <= 4 {
			return c.s.errorf("%v", errMalformed("postings list"))
		}
		return c.skip(n)
	}
	return nil
}

// skip takes n bytes of any number.
func (c *ciff) skip(n uint64) error {
	for n > 0 {
		k := int(min(n, sourceBuffer))
		if _, err := c.peek(k, "field"); err != nil {
			return err
		}
		c.s.skip(k)
		n -= uint64(k)
	}
	return nil
}

// posting reads a Posting of n bytes.
func (c *ciff) posting(l *ciffList, n uint64) error {
	if n > maxMessage {
		return c.s.errorf("a posting of %d bytes", n)
	}
	b, err := c.peek(int(n), "posting")
	if err != nil {
		return err
	}
	gap, tf, ok := parsePosting(b)
	doc := max(l.last, 0) + int64(gap)
	switch {
	case !ok:
		return c.s.errorf("%v", errMalformed("posting"))
	case !l.started:
		return c.s.errorf("a posting before the term of its list")
	case gap == 0 && l.last >= 0:
		return c.s.errorf("docID %d comes twice in a list", doc)
	case doc >= int64(c.header.docs):
		return c.s.errorf("docID %d; the file has %s", doc, plural(c.header.docs, "document"))
	case tf == 0:
		return c.s.errorf("docID %d has frequency 0", doc)
	}
	l.last = doc
	l.docs++
	l.tf += uint64(tf)
	if err := c.b.addPosting(uint32(doc), tf); err != nil {
		if err == errNotAscending {
			err = c.s.errorf("a second list of the term %.60q", c.b.term)
		}
		return err
	}
	c.s.skip(int(n))
	return nil
}

// parsePosting reads a Posting.
func parsePosting(b []byte) (gap, tf uint32, ok bool) {
	w := wire{b}
	for f := (field{}); w.next(&f); {
		if f.number > 2 {
			continue
		}
		if f.kind != wireVarint || f.value > math.MaxInt32 {
			return 0, 0, false
		}
		if f.number == 1 {
			gap = uint32(f.value)
		} else {
			tf = uint32(f.value)
		}
	}
	return gap, tf, len(w.rest) == 0
}
