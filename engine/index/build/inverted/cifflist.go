package inverted

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/engine/file/input"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// list reads a PostingsList.
func (c *ciff) list() error {
	const what = "postings list"
	size, err := c.uvarint(math.MaxInt64, what)
	if err != nil {
		return err
	}
	if size > uint64(math.MaxInt64-c.s.At.Offset) {
		return c.s.Errorf("a %s of %d bytes", what, size)
	}
	end := c.s.At.Offset + int64(size)
	l := ciffList{last: -1}
	for c.s.At.Offset < end {
		key, err := c.uvarint(end, what)
		if err != nil {
			return err
		}
		n := uint64(0) // bytes of the value
		switch protowire.Type(key & 7) {
		case protowire.VarintType:
			if l.value, err = c.uvarint(end, what); err != nil {
				return err
			}
		case protowire.Fixed64Type:
			n = 8
		case protowire.Fixed32Type:
			n = 4
		case protowire.BytesType:
			if n, err = c.uvarint(end, what); err != nil {
				return err
			}
		default:
			return c.s.Errorf("%v", errMalformed(what))
		}
		if n > uint64(end-c.s.At.Offset) {
			return c.s.Errorf("%v", errMalformed(what))
		}
		if err := c.listField(&l, key, n); err != nil {
			return err
		}
	}
	switch {
	case !l.started:
		return c.s.Errorf("a postings list without a term")
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
		term     = 1<<3 | uint64(protowire.BytesType)
		df       = 2<<3 | uint64(protowire.VarintType)
		cf       = 3<<3 | uint64(protowire.VarintType)
		postings = 4<<3 | uint64(protowire.BytesType)
	)
	switch key {
	case df:
		l.df = l.value
	case cf:
		l.cf = l.value
	case term:
		if n == 0 || n > hdl.MaxTermLen || l.started {
			return c.s.Errorf("a second term, or one of %d bytes; 1 to %d are possible", n, hdl.MaxTermLen)
		}
		b, err := c.peek(int(n), "term")
		if err != nil {
			return err
		}
		l.started, c.term = true, append(c.term[:0], b...)
		if err := c.to.StartList(c.term); err != nil {
			return err
		}
		c.s.Skip(int(n))
	case postings:
		return c.posting(l, n)
	default:
		if key>>3 <= 4 {
			return c.s.Errorf("%v", errMalformed("postings list"))
		}
		return c.skip(n)
	}
	return nil
}

// skip takes n bytes of any number.
func (c *ciff) skip(n uint64) error {
	for n > 0 {
		k := int(min(n, source.Buffer))
		if _, err := c.peek(k, "field"); err != nil {
			return err
		}
		c.s.Skip(k)
		n -= uint64(k)
	}
	return nil
}

// posting reads a Posting of n bytes.
func (c *ciff) posting(l *ciffList, n uint64) error {
	if n > maxMessage {
		return c.s.Errorf("a posting of %d bytes", n)
	}
	b, err := c.peek(int(n), "posting")
	if err != nil {
		return err
	}
	gap, tf, ok := parsePosting(b)
	doc := max(l.last, 0) + int64(gap)
	switch {
	case !ok:
		return c.s.Errorf("%v", errMalformed("posting"))
	case !l.started:
		return c.s.Errorf("a posting before the term of its list")
	case gap == 0 && l.last >= 0:
		return c.s.Errorf("docID %d comes twice in a list", doc)
	case doc >= int64(c.header.docs):
		return c.s.Errorf("docID %d; the file has %s", doc, input.Plural(c.header.docs, "document"))
	case tf == 0:
		return c.s.Errorf("docID %d has frequency 0", doc)
	}
	l.last = doc
	l.docs++
	l.tf += uint64(tf)
	if err := c.to.AddPosting(c.first+uint32(doc), tf); err != nil {
		if err == ErrOrder {
			err = c.s.Errorf("a second list of the term %.60q", c.term)
		}
		return err
	}
	c.s.Skip(int(n))
	return nil
}

// parsePosting reads a Posting.
func parsePosting(b []byte) (gap, tf uint32, ok bool) {
	w := wire{b}
	for f := (field{}); w.next(&f); {
		if f.number > 2 {
			continue
		}
		if f.kind != protowire.VarintType || f.value > math.MaxInt32 {
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
