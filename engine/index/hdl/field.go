package hdl

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// fieldSize is the size of an entry of section fields, in bytes.
const fieldSize = 64

// oneField is the number of fields of an index, and of its entries in section fields.
const oneField = 1

// Field is a range of handles with statistics of its own.
type Field struct {
	Name  string
	First uint32 // handle of its first term
	Terms uint32 // handles
	// Docs is the number of documents with at least one term in the field: N of BM25, and the divisor
	// of the mean length, as docCount in Lucene. Documents of length 0 count if a list has them.
	Docs      uint32
	Length    uint64 // sum of the exact document lengths; see LengthsLucene
	Postings  uint64
	Tokens    uint64 // sum of frequencies, or of impacts
	Positions uint64 // equal to Tokens, or 0 without positions
}

// append appends the entry of a field that begins the index.
func (f *Field) append(dst []byte) []byte {
	le := binary.LittleEndian
	for _, n := range []uint32{f.First, f.Terms, 0, f.Docs} { // 0: the first block of terms
		dst = le.AppendUint32(dst, n)
	}
	for _, n := range []uint64{f.Length, f.Postings, f.Tokens, 0, f.Positions, 0} { // 0: words of lengths, reserved
		dst = le.AppendUint64(dst, n)
	}
	return dst
}

// openFields reads the only field, whose totals are the totals of the header.
func (f *File) openFields() error {
	b, h, le := f.bytes(secFields), &f.header, binary.LittleEndian
	one := Field{Terms: h.terms, Docs: le.Uint32(b[12:]), Length: h.length, Postings: h.postings, Tokens: h.tokens}
	if le.Uint64(b[48:]) != 0 {
		one.Positions = h.tokens
	}
	for i, want := range one.append(nil) {
		if b[i] != want {
			return f.corrupt(secFields, uint64(i), "byte %d of the entry of the only field is %d, the header makes it %d", i, b[i], want)
		}
	}
	if one.Docs > h.docs {
		return f.corrupt(secFields, 12, "%d of %d documents have terms", one.Docs, h.docs)
	}
	f.field = one
	return nil
}

// Fields returns the fields: one, without a name. The slice is the caller's.
func (f *File) Fields() []Field { return []Field{f.field} }

// docSet is a set of documents, a bit each.
type docSet []uint32

func newDocSet(docs uint32) docSet { return make(docSet, docs/32+1) }

func (s docSet) mark(doc uint32) { s[doc/32] |= 1 << (doc % 32) }

// markShared is mark for several goroutines.
func (s docSet) markShared(doc uint32) { atomic.OrUint32(&s[doc/32], 1<<(doc%32)) }

func (s docSet) count() (n uint32) {
	for _, w := range s {
		n += uint32(bits.OnesCount32(w))
	}
	return n
}
