package inverted

import (
	"encoding/binary"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/engine/file/input"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// The Common Index File Format: a Header, its num_postings_lists PostingsLists and its
// num_docs DocRecords, each a protobuf message behind its length. The four messages are
// flat, so they are decoded by hand. The postings of a list, possibly hundreds of
// megabytes, are decoded one by one as they are read. The numbers below are field numbers.
//
//	Header        1 version, 2 num_postings_lists, 3 num_docs, 4 total_postings_lists,
//	              5 total_docs, 6 total_terms_in_collection, 7 average_doclength, 8 description
//	PostingsList  1 term, 2 df, 3 cf, 4 postings
//	Posting       1 docid (a gap; the first is counted from 0), 2 tf
//	DocRecord     1 docid, 2 collection_docid, 3 doclength
//
// Fields with the value 0 are absent. Unknown fields are skipped.

// maxMessage bounds the messages that are looked at as a whole: all but lists.
const maxMessage = source.Buffer

type ciffHeader struct {
	version               uint64
	lists, docs           uint64
	totalLists, totalDocs uint64
	totalTerms            uint64
	unknown               bool // the header has further fields
	impacts               bool // frequencies are impacts
}

// CIFFImpacts is the description of a CIFF file whose frequencies are impacts. Its total of terms is
// the sum of the impacts, which document lengths do not add up to.
const CIFFImpacts = "index of heddle with impacts"

// errMalformed is a message that breaks off or has fields of impossible types.
type errMalformed string

func (e errMalformed) Error() string { return "malformed " + string(e) }

func parseHeader(message []byte) (h ciffHeader, err error) {
	w := wire{message}
	for f := (field{}); w.next(&f); {
		var to *uint64
		kind := protowire.VarintType
		switch f.number {
		case 1:
			to = &h.version
		case 2:
			to = &h.lists
		case 3:
			to = &h.docs
		case 4:
			to = &h.totalLists
		case 5:
			to = &h.totalDocs
		case 6:
			to = &h.totalTerms
		case 7:
			kind = protowire.Fixed64Type
		case 8:
			kind = protowire.BytesType
			h.impacts = string(f.bytes) == CIFFImpacts
		default:
			h.unknown = true
			continue
		}
		if f.kind != kind {
			return h, errMalformed("header")
		}
		if to != nil {
			*to = f.value
		}
	}
	if len(w.rest) > 0 || max(h.lists, h.docs) > math.MaxInt32 {
		return h, errMalformed("header")
	}
	return h, nil
}

// ciff reads a file.
type ciff struct {
	to     Sink
	s      *source.Reader
	first  uint32 // docID of the first document
	header ciffHeader
	term   []byte // the term of the current list

	occurrences uint64 // sum of all tf
	length      uint64 // sum of all doclength
	off         uint64 // lists with a df or cf that differs from the postings
}

// CIFF adds the index of s.
func CIFF(to Sink, s *source.Reader) error {
	first, err := to.Start(s.Path)
	if err != nil {
		return err
	}
	c := ciff{to: to, s: s, first: first}
	message, err := c.message("header")
	if err != nil {
		return err
	}
	if c.header, err = parseHeader(message); err != nil {
		return s.Errorf("%v", err)
	}
	if c.header.version != 1 {
		return s.Errorf("CIFF version %d; only 1 is known", c.header.version)
	}
	s.Skip(len(message))
	if err := to.CheckRoom(c.header.docs); err != nil {
		return err
	}
	for range c.header.lists {
		if err := c.list(); err != nil {
			return err
		}
	}
	for i := range c.header.docs {
		if err := c.document(uint32(i)); err != nil {
			return err
		}
	}
	if err := atEnd(s); err != nil {
		return err
	}
	c.check()
	return nil
}

// check warns about totals that do not agree. Exports of a part of an index and
// document lengths out of Lucene, which are rounded, make that so by design.
func (c *ciff) check() {
	h, warn := &c.header, func(format string, args ...any) { c.to.Warn(c.s.Path, format, args...) }
	if h.lists != h.totalLists {
		warn("the header counts %s in all; the file has %d", input.Plural(h.totalLists, "list"), h.lists)
	}
	if h.docs != h.totalDocs {
		warn("the header counts %s in all; the file has %d", input.Plural(h.totalDocs, "document"), h.docs)
	}
	if c.length != h.totalTerms && !h.impacts {
		warn("the header counts %s in all; the document lengths add up to %d", input.Plural(h.totalTerms, "term"), c.length)
	}
	if c.occurrences != h.totalTerms {
		warn("the header counts %s in all; the frequencies add up to %d", input.Plural(h.totalTerms, "term"), c.occurrences)
	}
	if c.off > 0 {
		warn("df or cf of %s is not what the postings add up to", input.Plural(c.off, "list"))
	}
}

// uvarint reads a varint that ends by end.
func (c *ciff) uvarint(end int64, what string) (uint64, error) {
	b, err := c.s.Reader.Peek(binary.MaxVarintLen64)
	v, n := binary.Uvarint(b)
	switch {
	case n == 0 && err == io.EOF:
		return 0, c.truncated(what)
	case n == 0 && err != nil:
		return 0, c.s.Fail(err)
	case n <= 0 || int64(n) > end-c.s.At.Offset:
		return 0, c.s.Errorf("%v", errMalformed(what))
	}
	c.s.Skip(n)
	return v, nil
}

func (c *ciff) truncated(what string) error {
	return c.s.Errorf("the file is truncated: it ends within a %s", what)
}

// message shows the next message, whose length is taken.
func (c *ciff) message(what string) ([]byte, error) {
	n, err := c.uvarint(math.MaxInt64, what)
	if err != nil {
		return nil, err
	}
	if n > maxMessage {
		return nil, c.s.Errorf("a %s of %d bytes", what, n)
	}
	return c.peek(int(n), what)
}

func (c *ciff) peek(n int, what string) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := c.s.Peek(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = c.truncated(what)
	}
	return b, err
}

// document reads DocRecord i.
func (c *ciff) document(i uint32) error {
	const what = "document record"
	message, err := c.message(what)
	if err != nil {
		return err
	}
	var numbers [4]uint64 // by field number
	var name []byte
	w := wire{message}
	for f := (field{}); w.next(&f); {
		switch f.number {
		case 1, 3:
			if f.kind != protowire.VarintType || f.value > math.MaxInt32 {
				return c.s.Errorf("%v", errMalformed(what))
			}
			numbers[f.number] = f.value
		case 2:
			if f.kind != protowire.BytesType {
				return c.s.Errorf("%v", errMalformed(what))
			}
			name = f.bytes
		}
	}
	switch {
	case len(w.rest) > 0:
		return c.s.Errorf("%v", errMalformed(what))
	case numbers[1] != uint64(i):
		return c.s.Errorf("document record %d is of docID %d; they must come in order", i, numbers[1])
	case len(name) > hdl.MaxNameLen:
		return c.s.Errorf("a document name of %d bytes; at most %d are possible", len(name), hdl.MaxNameLen)
	}
	if err := c.to.AddDocument(name, uint32(numbers[3])); err != nil {
		return err
	}
	c.length += numbers[3]
	c.s.Skip(len(message))
	return nil
}

// LooksLikeCIFF reports whether head starts with a CIFF header and fits no other format:
// the length, then only fields of the header, version 1.
func LooksLikeCIFF(head []byte) bool {
	message, n := protowire.ConsumeBytes(head)
	h, err := parseHeader(message)
	return n >= 0 && err == nil && h.version == 1 && !h.unknown
}

// wire reads the fields of a protobuf message that lies in memory.
type wire struct {
	rest []byte
}

// field is one field of a message: a number (varint or fixed) or bytes.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64
	bytes  []byte // a view
}

// next reads the next field; false if there is none or the message is malformed
// (then rest is not empty).
func (w *wire) next(f *field) bool {
	var n int
	f.number, f.kind, n = protowire.ConsumeTag(w.rest)
	if n < 0 {
		return false
	}
	b := w.rest[n:]
	switch f.kind {
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		f.value, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = protowire.ConsumeFieldValue(f.number, f.kind, b)
	}
	if n < 0 {
		return false
	}
	w.rest = b[n:]
	return true
}
